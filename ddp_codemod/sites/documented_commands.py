"""The command lines by which READMEs and scripts start a program: as they are, or with placeholders for the user's own values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.discover.kinds import NOTEBOOK, is_in_test_folder
from ddp_codemod.parse.shell import GUIDE, Launch, Script
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.task_names import is_other_task

_STAND_IN = re.compile(
    r"[$<>{}\[\]*`|;&…~]|\.\.\.|(?i:path[_/-]?to(?![a-z])|/path\b|\byour|\bxx)"
)  # what only a reader can put in
# ... and of these what a guide writes in place of the user's own values
_PLACEHOLDER = re.compile(
    r"<[\w./-](?:[\w ./:,-]*[\w./-])?>|\$\{?\w+\}?|\{\w+\}|(?<![\w./-])[\w./-]*(?i:path[_/-]?to(?![a-z])|/path\b|\byour)[\w./-]*"
)
_PYTHON = re.compile(r"python[\d.]*")
_SET = re.compile(r"[A-Za-z_]\w*=")
_TORCHRUN, _RUNNERS = "torchrun", ("torch.distributed.launch", "torch.distributed.run")
_PROCESSES = re.compile(r"--nproc[_-]per[_-]node(?:=(.*))?")
_ELSEWHERE = re.compile(r"--(?:nnodes|node[_-]rank|master[_-]addr|rdzv[_-](?!id\b)\w+)(?:=(.*))?")
_SEVERAL = re.compile(r"--(?:num[_-]machines|num[_-]nodes|nn?odes)[= ]+[2-9]|(?<![\d.])(?!127\.0\.0\.1)\d+\.\d+\.\d+\.\d+")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.(?=\w*[a-z])[a-z0-9]{2,5}|(?:[\w.-]+/)+")
_OF_PROJECT = re.compile(
    r"/$|\.(?:cfg|gin|ini|json|py|sh|toml|ya?ml)$"
)  # what comes with a project, and is no data of the user's
_HERE = re.compile(r"1|0|1:1|c10d|static|(?:localhost|127\.0\.0\.1)(?::\d+)?")
_LIST = re.compile(r"""(?<==)(?P<quote>["']?)\[[\w./,: -]*\](?P=quote)(?=\s|$)""")  # a list that is the value of an option
_TYPED = ("shell", "make", "docker", GUIDE)  # kinds of files whose commands a user types, or has typed


class Wanted(Struct, frozen=True):
    """What a command is looked for."""

    processes: int  # that it is to start
    posix: bool  # for a shell that sets variables before a command
    launchers: Mapping[str, str] = {}  # commands beside torchrun that start processes, and the option for how many


class DocumentedCommand(Struct, frozen=True):
    """A command line of a README or script, and the folder that it is typed in, from the root."""

    name: str  # of the file that has it ...
    line: int  # ... and where
    command: str = ""  # "" where nobody can type it as it is
    folder: str = ""
    launched: bool = False  # a launcher starts the processes, which says how many there are
    placeholders: tuple[str, ...] = ()  # what a reader has to replace in it
    count: tuple[str, str] = ("", "")  # the option that says how many processes it starts, and its value, where these are several
    adapted: str = ""  # the same with the processes that were asked for; "" where only its own launcher knows how


def find_documented_commands(
    project: Project, name: str, wanted: Wanted, *, elsewhere: bool = False
) -> Iterator[DocumentedCommand]:
    """The commands that start a file, those of READMEs first; ``elsewhere``: of guides in other folders, too.

    ``adapted`` starts the processes that are wanted: for one a launcher is not needed.
    """
    found = [
        (rank_guide(script.name, script.kind), launch.start, script, launch)
        for script in project.scripts(PurePosixPath(name).stem)
        if script.kind in _TYPED and not (script.name.endswith(NOTEBOOK) or is_in_test_folder(script.name))
        if script.kind != GUIDE or elsewhere or is_above(script.name, name)
        for launch in script.launches
        if _find_program(project, script, launch) == name and not is_other_task(_join_lines(script, launch).split())
    ]
    for *_, script, launch in sorted(found, key=lambda one: one[:2]):
        yield _read_command(project, name, script, launch, wanted)


def rank_guide(name: str, kind: str = GUIDE) -> tuple[bool, int, bool, str]:
    """Which files are read first for a command: READMEs, then other guides, then what nobody types."""
    return kind != GUIDE, name.count("/"), not PurePosixPath(name).name.lower().startswith("readme"), name


def is_above(guide: str, name: str) -> bool:
    """Whether a guide lies beside a file or above it: those elsewhere are about something more."""
    return PurePosixPath(guide).parent in PurePosixPath(name).parents


def _find_program(project: Project, script: Script, launch: Launch) -> str | None:
    """The file that a command starts: beside its own file, else the only one, else that of the root."""
    found = project.started(launch.program)
    folder = script.name.rpartition("/")[0]
    path = _make_path(launch)
    near = [one for one in (str(PurePosixPath(folder, path)), path) if one in found]
    return found[0] if len(found) == 1 else next(iter(near), None)


def _make_path(launch: Launch) -> str:
    path = launch.program if launch.program.endswith(".py") else f"{launch.program.replace('.', '/')}.py"
    return path.removeprefix("./")


def _read_command(project: Project, name: str, script: Script, launch: Launch, wanted: Wanted) -> DocumentedCommand:
    nothing = DocumentedCommand(script.name, launch.line)
    folder = _find_folder(name, script, launch)
    command = _join_lines(script, launch)
    own = _STAND_IN.search(command) is not None
    if folder is None or not _can_be_typed(command) or (own and script.kind != GUIDE):
        return nothing
    words = _adapt_command(command, wanted, own)
    missing = _list_missing_files(project, folder, words or ())
    if words is None or (missing and (script.kind != GUIDE or any(map(_OF_PROJECT.search, missing)))):
        return nothing
    started = {*wanted.launchers}.intersection(words)
    return DocumentedCommand(
        script.name,
        launch.line,
        command,
        folder,
        bool(started) or _is_launched(words) or _is_launched(command.split()),
        tuple(dict.fromkeys([*(_PLACEHOLDER.findall(command) if own else ()), *missing])),
        _find_count(command, [wanted.launchers[one] for one in started]),
        "" if started else " ".join(words) if own else shlex.join(words),
    )


def _find_count(command: str, options: Iterable[str]) -> tuple[str, str]:
    """The option that says how many processes a command starts, and its value; nothing of one process."""
    for option in (r"--nproc[_-]per[_-]node", *map(re.escape, options)):
        if found := re.search(rf"(?<!\S)({option})(?:=|\s+)(?!1\s)([\w$][^\s-]*)", command):
            return found[1], found[2]
    return "", ""


def _is_launched(words: Sequence[str]) -> bool:
    return not {_TORCHRUN, *_RUNNERS}.isdisjoint(words)


def _list_missing_files(project: Project, folder: str, words: Sequence[str]) -> list[str]:
    """The files that a command names and that are not there: data of the user's own, for one."""
    named = (word.rpartition("=")[2] for before, word in pairwise(["", *words]) if before != "-m")
    return [word for word in named if _FILE.fullmatch(word) and not (project.root / folder / word).exists()]


def _find_folder(name: str, script: Script, launch: Launch) -> str | None:
    """The folder from which the command finds the file: the root, that of the command, else what its path leaves over."""
    path = _make_path(launch)
    own = script.name.rpartition("/")[0]
    for folder in dict.fromkeys(("", own)):
        if str(PurePosixPath(folder, path)) == name:
            return folder
    return name.removesuffix(f"/{path}") if name.endswith(f"/{path}") else None


def _join_lines(script: Script, launch: Launch) -> str:
    """The text of a command on one line."""
    text = re.sub(r"\\[ \t]*\r?\n", " ", script.source.text[launch.start : launch.end])
    return " ".join(text.split())


def _can_be_typed(command: str) -> bool:
    """Whether a command has no signs of the shell, and is for one machine."""
    rest = _PLACEHOLDER.sub("x", _LIST.sub("x", command))
    return not (_STAND_IN.search(rest) or _SEVERAL.search(command)) and command.isprintable()


def _adapt_command(command: str, wanted: Wanted, quoted: bool) -> list[str] | None:
    """The words of a command with the number of processes that is wanted; None where it is for several machines, or another shell.

    ``quoted``: with the quotes that they have.
    """
    try:
        words = shlex.split(command, posix=not quoted)
    except ValueError:
        return None
    before = next((at for at, word in enumerate(words) if not _SET.match(word)), len(words))
    if before and not wanted.posix:
        return None
    settings, words = words[:before], words[before:]
    python = words and _PYTHON.fullmatch(words[0].rpartition("/")[2])
    if python and words[1:2] == ["-m"] and words[2:3] and words[2] in _RUNNERS:
        own, rest = words[:3], words[3:]
    elif words[:1] == [_TORCHRUN]:
        own, rest = words[:1], words[1:]
    elif words and words[0] in wanted.launchers:
        return [*settings, *words]
    else:
        return [*settings, *words] if python else None
    return _adapt_launcher(settings, own, rest, wanted.processes)


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
