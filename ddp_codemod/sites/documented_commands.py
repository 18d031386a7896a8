"""The command lines by which READMEs and scripts start a program: as they are, or with placeholders for the user's own values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.parse.shell import GUIDE, Launch, Script
from ddp_codemod.sites.project import Project

_STAND_IN = re.compile(
    r"[$<>{}\[\]*`|;&…~]|\.\.\.|(?i:path[_/-]?to(?![a-z])|/path\b|\byour|\bxx)"
)  # what only a reader can put in
# ... and of these what a guide writes in place of the user's own values
_PLACEHOLDER = re.compile(
    r"<[\w./-](?:[\w ./:,-]*[\w./-])?>|\$\{?\w+\}?|\{\w+\}|(?<![\w./-])[\w./-]*(?i:path[_/-]?to(?![a-z])|/path\b|\byour)[\w./-]*"
)
OTHER_TASK = re.compile(
    r"(?i)(?<![a-z])(?:demo|eval\w*|export\w*|help|infer\w*|predict\w*|resume\w*|sampl\w*|test\w*|valid\w*)(?![a-z])"
)
_PYTHON = re.compile(r"python[\d.]*")
_SET = re.compile(r"[A-Za-z_]\w*=")
_TORCHRUN, _RUNNERS = "torchrun", ("torch.distributed.launch", "torch.distributed.run")
_PROCESSES = re.compile(r"--nproc[_-]per[_-]node(?:=(.*))?")
_ELSEWHERE = re.compile(r"--(?:nnodes|node[_-]rank|master[_-]addr|rdzv[_-](?!id\b)\w+)(?:=(.*))?")
_SEVERAL = re.compile(r"--(?:num[_-]machines|num[_-]nodes|nn?odes)[= ]+[2-9]|(?<![\d.])(?!127\.0\.0\.1)\d+\.\d+\.\d+\.\d+")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.(?=\w*[a-z])[a-z0-9]{2,5}|(?:[\w.-]+/)+")
_HERE = re.compile(r"1|0|1:1|c10d|static|(?:localhost|127\.0\.0\.1)(?::\d+)?")
_LIST = re.compile(r"""(?<==)(?P<quote>["']?)\[[\w./,: -]*\](?P=quote)(?=\s|$)""")  # a list that is the value of an option


class DocumentedCommand(Struct, frozen=True):
    """A command line, and the folder that it is typed in, from the root."""

    command: str
    folder: str
    launched: bool  # a launcher starts the processes, which says how many there are
    placeholders: tuple[str, ...] = ()  # what a reader has to replace in it


def find_documented_commands(project: Project, name: str, processes: int, posix: bool) -> Iterator[DocumentedCommand | None]:
    """The commands that start a file alone, READMEs first; None for one that nobody can type.

    A launcher starts so many ``processes``; of one process it is not needed.
    """
    stem = PurePosixPath(name).stem
    found = [
        (script.kind != GUIDE, script.name.count("/"), script.name, launch.start, script, launch)
        for script in project.scripts(stem)
        if script.kind == "shell" or (script.kind == GUIDE and _is_above(script.name, name))
        for launch in script.launches
        if project.started(launch.program) == [name]
    ]
    for *_, script, launch in sorted(found, key=lambda one: one[:4]):
        folder = _find_folder(name, script, launch)
        command = _join_command(script, launch) if folder is not None else None
        own = command is not None and _STAND_IN.search(command) is not None
        words = _adapt_command(command, processes, posix, own) if command and not (own and script.kind != GUIDE) else None
        if (
            folder is None
            or not words
            or not command
            or not command.isprintable()
            or not _has_named_files(project, folder, words)
        ):
            yield None
            continue
        text = " ".join(words) if own else shlex.join(words)
        placeholders = tuple(dict.fromkeys(_PLACEHOLDER.findall(text))) if own else ()
        yield DocumentedCommand(text, folder, _is_launched(words), placeholders)


def _is_launched(words: Sequence[str]) -> bool:
    return not {_TORCHRUN, *_RUNNERS}.isdisjoint(words)


def _is_above(guide: str, name: str) -> bool:
    """Whether a guide lies beside a file or above it: those elsewhere are about something more."""
    return PurePosixPath(guide).parent in PurePosixPath(name).parents


def _has_named_files(project: Project, folder: str, words: list[str]) -> bool:
    """Whether the files that a command names are there; what it names beside them is for it to make."""
    named = (word.rpartition("=")[2] for before, word in pairwise(["", *words]) if before != "-m")
    return all((project.root / folder / word).exists() for word in named if _FILE.fullmatch(word))


def _find_folder(name: str, script: Script, launch: Launch) -> str | None:
    """The folder from which the command finds the file; None where that is neither the root nor its own."""
    path = launch.program if launch.program.endswith(".py") else f"{launch.program.replace('.', '/')}.py"
    own = script.name.rpartition("/")[0]
    for folder in dict.fromkeys(("", own)):
        if str(PurePosixPath(folder, path)) == name:
            return folder
    return None


def _join_command(script: Script, launch: Launch) -> str | None:
    """The text of a command on one line; None where it has signs of the shell, or does not train."""
    text = re.sub(r"\\\r?\n", " ", script.source.text[launch.start : launch.end])
    text = " ".join(text.split())
    rest = _PLACEHOLDER.sub("x", _LIST.sub("x", text))
    return None if _STAND_IN.search(rest) or any(bar.search(text) for bar in (OTHER_TASK, _SEVERAL)) else text


def _adapt_command(command: str, processes: int, posix: bool, quoted: bool) -> list[str] | None:
    """The words of a command with the number of processes of this machine; None where it is for several machines, or another shell.

    ``quoted``: with the quotes that they have.
    """
    try:
        words = shlex.split(command, posix=not quoted)
    except ValueError:
        return None
    before = next((at for at, word in enumerate(words) if not _SET.match(word)), len(words))
    if before and not posix:
        return None
    settings, words = words[:before], words[before:]
    python = words and _PYTHON.fullmatch(words[0].rpartition("/")[2])
    if python and words[1:2] == ["-m"] and words[2:3] and words[2] in _RUNNERS:
        own, rest = words[:3], words[3:]
    elif words[:1] == [_TORCHRUN]:
        own, rest = words[:1], words[1:]
    else:
        return [*settings, *words] if python else None
    return _adapt_launcher(settings, own, rest, processes)


def _adapt_launcher(settings: list[str], own: list[str], rest: list[str], processes: int) -> list[str] | None:
    kept: list[str] = []
    while rest and rest[0].startswith("-"):
        word, *rest = rest
        if word in ("-m", "--module"):
            rest = [word, *rest]
            break
        value = word.partition("=")[2]
        if "=" not in word and rest and not rest[0].startswith("-") and not rest[0].endswith(".py"):
            value, *rest = rest
        if _PROCESSES.match(word):
            word, value = word.partition("=")[0], str(processes)
        elif _ELSEWHERE.match(word) and not _HERE.fullmatch(value):
            return None
        kept.append(f"{word.partition('=')[0]}={value}" if value else word)
    if not rest:
        return None
    if processes == 1:
        return [*settings, "python", *rest]
    return [*settings, *own, *kept, *rest]
