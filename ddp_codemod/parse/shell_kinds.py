"""Files that hold shell commands between other things, as text of the same length in which only the commands are left."""

from __future__ import annotations

import re
from pathlib import PurePath

from ddp_codemod.discover.kinds import GUIDES, SHELL
from ddp_codemod.model import Source
from ddp_codemod.parse.blanks import blank_out
from ddp_codemod.parse.shell import GUIDE

_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
# with the lines that continue it, and comments between these
_LINE = re.compile(r"[^\r\n]*(?:(?<=\\)(?:\r\n|\r|\n)(?:[ \t]*#[^\r\n]*(?:\r\n|\r|\n))*[^\r\n]*)*(?:\r\n|\r|\n|\Z)")
_INSTRUCTION = re.compile(r"[ \t]*(?P<word>[A-Za-z]+)[ \t]+(?P<rest>(?:--[\w-]+=\S+[ \t]+)*)")
_OLD_ENV = re.compile(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?=[^\s=]+[ \t]*(?:[\r\n]|\Z))")
_EXEC = re.compile(r'\s*\[(?:[\s,\\]|"(?:\\.|[^"\\])*")*\]\s*\Z')  # CMD ["python", "train.py"]
_RECIPE = re.compile(r"\t(?P<prefix>[@+-]*)")
_MAKE_VARIABLE = re.compile(r"(?:(?:export|override)[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*(?P<sign>[:?]{0,2}=)[ \t]*")


def kind(source: Source) -> str | None:
    """The kind of a file by its name or first line ("shell", "docker", "make" or "guide"); None for any other file."""
    name = PurePath(source.name).name.lower()
    if is_dockerfile(name):
        return "docker"
    if name in ("makefile", "gnumakefile") or name.endswith(".mk"):
        return "make"
    if name.endswith(GUIDES):
        return GUIDE
    return "shell" if name.endswith(SHELL) or _SHEBANG.match(source.text) else None


def is_dockerfile(name: str) -> bool:
    """Whether a file is a Dockerfile, by its name."""
    name = PurePath(name).name.lower()
    return name.startswith(("dockerfile", "containerfile")) or name.endswith(".dockerfile")


def extract_shell_text(text: str, kind: str) -> str:
    """The commands of a file of a kind, everything else blank."""
    if kind == "docker":
        return "".join(_convert_docker_line(line[0]) for line in _LINE.finditer(text))
    if kind == "make":
        return "".join(_convert_make_line(line[0]) for line in _LINE.finditer(text))
    if kind == GUIDE:
        from ddp_codemod.parse import guide

        return guide.extract_shell_text(text)
    return text


def _convert_docker_line(line: str) -> str:
    found = _INSTRUCTION.match(line)
    word = found["word"].upper() if found else ""
    if found is None or word not in ("RUN", "CMD", "ENTRYPOINT", "ENV", "ARG"):
        return blank_out(line)
    rest = line[found.end() :]
    # comment lines inside a continued instruction are no part of it
    rest = re.sub(r"(?m)^[ \t]*#[^\r\n]*", lambda comment: " " * (len(comment[0]) - 1) + "\\", rest)
    if word in ("ENV", "ARG"):
        if old := _OLD_ENV.match(rest):  # "ENV NAME value"
            gap = old.end() - old.end("name") - 1
            rest = " " * gap + old["name"] + "=" + rest[old.end() :]
    elif _EXEC.match(rest):
        rest = re.sub(r'"(?:\\.|[^"\\])*"|[\[\],]', lambda part: part[0] if part[0][0] == '"' else " ", rest)
    # a command of its own in front keeps the instructions apart
    return " " * found.start("word") + ":;" + " " * (found.end() - found.start("word") - 2) + rest


def _convert_make_line(line: str) -> str:
    if found := _RECIPE.match(line):
        return " " * found.end() + line[found.end() :]
    if (found := _MAKE_VARIABLE.match(line)) and "$(shell" not in line:
        return _convert_assignment(line, found)
    return blank_out(line)


def _convert_assignment(line: str, found: re.Match[str]) -> str:
    value = re.sub(r"[ \t]+#.*", lambda comment: " " * len(comment[0]), line[found.end() :])
    body = value.rstrip()
    start = found.end() - found.start("name")
    if not re.fullmatch(r"[\w./:,+-]+", body) or "\n" in body:
        return blank_out(line)
    name = found["name"]
    gap = start - len(name) - 1
    prefix = "export" if line.startswith("export") else ""
    return prefix + " " * (found.start("name") + gap - len(prefix)) + name + "=" + value
