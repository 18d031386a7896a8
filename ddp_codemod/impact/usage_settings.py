"""Finds in files of settings, launch files and READMEs what an advice is about: a key with one of some values, an option, a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.discover.files import read_text
from ddp_codemod.discover.kinds import GUIDES
from ddp_codemod.model import Source
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.guide import extract_shell_text
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.versions import find_stating_files

LONGEST = 8000  # bytes of a command that goes on over several lines
_README = re.compile(r"(?i)readme[\w.-]*\.(?:md|rst|txt)")
# how a line of a README begins that is typed: as it is, or behind a prompt, settings of the environment, an interpreter; a program or an
# option follows, which tells it from a sentence
_TYPED = (
    r"(?m)^[ \t]*(?:[$>%#][ \t]+)?(?:[A-Z_]+=\S+[ \t]+)*(?:python[\d.]*[ \t]+-m[ \t]+)?(?:COMMANDS)"
    r"(?=[ \t](?:[^\n]*(?:\.py\b|[ \t]--?\w)|[^\n]*\\\r?$|--?\w))"
)


def find_in_settings(context: Context, pattern: Pattern) -> Iterator[tuple[str, int]]:
    """The files and lines, where the project imports one of the packages."""
    return ((one.name, one.source.position(entry.start)[0]) for one, entry in list_settings(context, pattern))


def list_settings(context: Context, pattern: Pattern) -> Iterator[tuple[Document, Entry]]:
    """The files and entries that a pattern is about, where the project imports one of the packages."""
    project = context.tracer.resolver.project
    if not any(project.mentioning(package) for package in pattern.names):
        return
    beside_it = "|".join(map(re.escape, pattern.holders)).encode() or None  # data of other kinds has keys of the same names
    for keyword in pattern.keywords:
        *above, key = keyword.split(".")  # "fp16.enabled": the key of a part that is called so
        for document in project.documents(key, "|".join(map(re.escape, above)).encode() or beside_it):
            for entry in document.ending(key):
                if [*entry.path[:-1]][len(entry.path) - 1 - len(above) :] != above:
                    continue
                depth = len(entry.path) - 1
                held = (one for one in document.entries if one.document == entry.document and one.path[:depth] == entry.path[:-1])
                beside = {one.path[depth] for one in held}
                said = entry.value.lower() in pattern.texts and beside.isdisjoint(pattern.without)
                if said and not (pattern.holders and beside.isdisjoint(pattern.holders)):
                    yield document, entry


def find_in_commands(context: Context, pattern: Pattern, trains: Callable[[str], bool]) -> Iterator[tuple[str, int]]:
    """The launch files and lines where a command that starts a program has one of the options, with such a value.

    ``trains``: whether a program trains; what others do with a device is no matter.
    """
    project = context.tracer.resolver.project
    written = {f"--{option}" for option in pattern.keywords}
    keys = {option for option in pattern.keywords if "." in option}  # a key of settings may be passed without dashes
    told = [*(re.escape(option) for option in sorted(written)), *(rf"\+{{0,2}}{re.escape(key)}(?==)" for key in sorted(keys))]
    given = re.compile(rf"(?<!\S)(?:{'|'.join(told)})(?:[ =]+[\"']?(\w+))?")
    # few launch files that hold an option hold such a value behind it, and only those are worth a parser's time
    behind = re.compile(rb"[\s=\\]+[\"']?" + re.escape(pattern.device.encode())) if pattern.device else None
    for script in project.scripts(*sorted(written | keys), behind=behind):
        for launch in script.launches:
            command = script.source.text[launch.start : _locate_command_end(script.source.text, launch.start)]
            found = [one for one in given.finditer(command) if _is_option_match(pattern, (one[1] or "true").lower())]
            if not found or any(f"--{other}" in command for other in pattern.without):
                continue
            programs = [file for file in project.started(launch.program) if not pattern.device or trains(file)]
            if any(name.encode() in project.data(file) for file in programs for name in pattern.names):
                yield from ((script.name, script.source.position(launch.start + one.start())[0]) for one in found)


def _is_option_match(pattern: Pattern, value: str) -> bool:
    """Whether an option with this value is what the pattern is about: a device, a text, or anything that does not switch it off."""
    if pattern.texts:
        return value in pattern.texts
    return value.startswith(pattern.device) if pattern.device else value != "false"


def find_in_requirements(context: Context, pattern: Pattern, files: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The lines of requirements files, in the folders of some files and above them, that ask for one of the packages."""
    from ddp_codemod.parse.requirements import find_requirements

    root = context.tracer.resolver.project.root
    folders = sorted({folder.as_posix() for name in files for folder in PurePosixPath(name).parents})
    for path in find_stating_files(part for folder in folders for part in (root / folder, root / folder / "requirements")):
        result = read_text(path, root)
        if isinstance(result, Source):
            asked = (
                one
                for one in find_requirements(result)
                if one.kind != "lock" and context.versions.is_for_target(result, one) and context.versions.is_marker_met(one)
            )
            named = (one for one in asked if any(fnmatchcase(one.package, name) for name in pattern.names))
            yield from ((result.name, result.position(one.start)[0]) for one in named)


def find_in_launch_files(context: Context, pattern: Pattern) -> Iterator[tuple[str, int]]:
    """The lines of launch files that start one of the programs."""
    project = context.tracer.resolver.project
    wanted = re.compile("|".join(rf"(?<![\w-]){re.escape(command)}(?![\w-])" for command in pattern.commands).encode())
    for name in (name for name in project.launchers if not name.endswith(GUIDES)):  # those are in_readmes' to read
        data = project.data(name)
        at = 0
        for number, line in enumerate(data.splitlines(keepends=True) if wanted.search(data) else (), 1):
            if wanted.search(line) and not line.lstrip().startswith(b"#"):
                if not _is_excepted(pattern, data[at : at + LONGEST].decode("utf-8", "replace"), 0):
                    yield name, number
            at += len(line)


def find_in_readmes(context: Context, pattern: Pattern, files: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The lines that say to type one of the commands, in the READMEs of the folders of some files and above them."""
    root = context.tracer.resolver.project.root
    typed = re.compile(_TYPED.replace("COMMANDS", "|".join(map(re.escape, pattern.commands))))
    folders = sorted({folder.as_posix() for name in files for folder in PurePosixPath(name).parents})
    for folder in folders:
        there = (
            sorted((root / folder).iterdir()) if (root / folder).is_dir() else []
        )  # an editor's new file may have no folder yet
        for path in there:
            result = read_text(path, root) if _README.fullmatch(path.name) and path.is_file() else None
            if isinstance(result, Source):
                texts = (result.text, extract_shell_text(result.text)) if path.suffix in GUIDES else (result.text,)
                ends = sorted(
                    {
                        found.end()
                        for text in texts
                        for found in typed.finditer(text)
                        if not _is_excepted(pattern, text, found.start())
                    }
                )
                yield from ((result.name, result.position(end)[0]) for end in ends)


def _is_excepted(pattern: Pattern, text: str, start: int) -> bool:
    """Whether a command has options of ``without``, however they are written."""
    if not pattern.without:
        return False
    words = text[start : _locate_command_end(text, start)].replace("\\", " ").replace("=", " ").split()
    command = f" {' '.join(words)} "
    return any(f" {option} " in command for option in pattern.without)


def _locate_command_end(text: str, start: int) -> int:
    """The end of a command that goes on behind a backslash."""
    at = start
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if not text[at:end].rstrip("\r").endswith("\\"):
            return end
        at = end + 1


def find_outside_lines(
    context: Context, pattern: Pattern, groups: Callable[[], Set[str]], is_ported: Callable[[str], bool]
) -> Iterator[tuple[str, int]]:
    """The lines of files that are no programs which a pattern is about: of settings, requirements, commands, and builds of torch."""
    if pattern.use == "built":
        from ddp_codemod.impact.torch_builds import find_torch_builds

        return find_torch_builds(context, pattern, sorted(groups()))
    if pattern.use == "stated":
        return find_in_requirements(context, pattern, sorted(groups()))
    if pattern.use == "configured":
        return find_in_settings(context, pattern)
    return find_in_commands(context, pattern, is_ported)
