"""Brings a page up to date: its commands are run and what they print is written under them; generated parts are made again.

In a page, comments that a reader does not see say what to do:

- ``<!-- project: fixtures/tts-spawn/project TTS -->`` starts a fresh folder with a copy of that project under this name; without a name
  the commands stand in it, without a project in an empty folder.
- A fenced block ``console`` is run: a line with ``$ `` is a command, what follows is what it prints. Before the block,
  ``<!-- show 12 -->`` or ``<!-- show 12 4 -->`` keeps only the first (and last) lines, ``<!-- show none -->`` prints nothing, for what is
  different on each machine; ``<!-- exit 2 -->`` says that the commands end so (without it 0 or 1; of a program of the page 0).
- A fenced block with ``file=NAME`` behind its language is written to that file.
- ``<!-- begin KIND ARGUMENT -->`` up to ``<!-- end -->`` is generated (see ``generated.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from session import Session, session

Make = Callable[[str, str, str], list[str]]  # kind, argument, language -> lines
_PROJECT = re.compile(r"<!-- project:\s*(\S+)?\s*(\S+)? -->")
_SHOW = re.compile(r"<!-- show (none|\d+)(?: (\d+))? -->")
_EXIT = re.compile(r"<!-- exit (\d+) -->")
_BEGIN = re.compile(r"<!-- begin (\S+)(?: (.*?))? -->")
_FENCE = re.compile(r"(`{3,})(\w+)?(?: file=(\S+))?$")
END = "<!-- end -->"


class PageError(Exception):
    """A page that cannot be brought up to date: says where and why."""


@dataclass
class _Page:
    path: Path
    lang: str
    make: Make
    started: Session
    commands: list[str] = field(default_factory=list)
    show: tuple[int | None, int] = (None, 0)
    none: bool = False
    exit: int | None = None


def language(path: Path) -> str:
    """The language of a page, which its name tells."""
    return "zh" if path.name.endswith(".zh-CN.md") else "en"


def brought(path: Path, make: Make) -> tuple[str, list[str]]:
    """The page as it has to be, and the commands in it."""
    lines = path.read_text("utf-8").split("\n")
    with session(language(path)) as started:
        page = _Page(path, language(path), make, started)
        text = "\n".join(_walk(page, lines))
    return text, page.commands


def _walk(page: _Page, lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        yield line
        if found := _PROJECT.fullmatch(line):
            _start(page, found.group(1), found.group(2))
        elif found := _SHOW.fullmatch(line):
            page.none = found.group(1) == "none"
            page.show = (None if page.none else int(found.group(1)), int(found.group(2) or 0))
        elif found := _EXIT.fullmatch(line):
            page.exit = int(found.group(1))
        elif found := _BEGIN.fullmatch(line):
            yield from page.make(found.group(1), found.group(2) or "", page.lang)
            at = _find(page, lines, at, END)
        elif found := _FENCE.fullmatch(line):
            end = _find(page, lines, at, found.group(1))
            body = lines[at:end]
            if found.group(3):
                page.started.write(found.group(3), "\n".join(body) + "\n")
            yield from _typed(page, body) if found.group(2) == "console" else body
            yield found.group(1)
            at = end + 1


def _find(page: _Page, lines: list[str], at: int, wanted: str) -> int:
    if wanted not in lines[at:]:
        raise PageError(f"{page.path}:{at}: no {wanted} follows")
    return lines.index(wanted, at)


def _start(page: _Page, fixture: str | None, name: str | None) -> None:
    number = len(list(page.started.root.parent.glob("work*")))
    page.started.root = page.started.root.parent / f"work{number}"
    page.started.root.mkdir()
    if fixture:
        page.started.bring(fixture, name or ".")


def _typed(page: _Page, body: list[str]) -> Iterator[str]:
    for line in body:
        if line.startswith("$ "):
            page.commands.append(line[2:])
            yield line
            code, said = page.started.run(line[2:])
            usual = (0,) if line.startswith("$ python ") else (0, 1)
            if code not in (usual if page.exit is None else (page.exit,)):
                raise PageError(f"{page.path}: {line[2:]} ends with {code}:\n{said}")
            yield from _shown(page, said)
    page.show, page.none, page.exit = (None, 0), False, None


def _shown(page: _Page, said: str) -> Iterator[str]:
    lines = [line.rstrip() for line in said.rstrip("\n").split("\n")] if said.strip() else []
    first, last = page.show
    if page.none:
        return
    if first is None or len(lines) <= first + last + 1:
        yield from lines
        return
    yield from (*lines[:first], "...", *(lines[-last:] if last else ()))
