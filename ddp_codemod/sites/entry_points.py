"""The commands that a project installs: ``my-train = "package.cli:main"`` of pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source

DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
_ENTRY = re.compile(
    r"(?m)(?<![\w.-])(?P<name>[\w.-]+)[\"']?[ \t]*=[ \t]*[\"']?(?P<module>[A-Za-z_][\w.]*)[ \t]*:[ \t]*(?P<function>[A-Za-z_][\w.]*)"
)


def find_entry_points(root: Path, file_of: Callable[[str, str], str | None], names: Iterable[str]) -> dict[str, list[str]]:
    """The files that the commands run, by the command's name.

    ``names`` are the files of the project; ``file_of`` says which one a dotted name means in a folder.
    """
    found: dict[str, list[str]] = {}
    for folder, entry in _find_declared(root, names):
        file = file_of(entry["module"], folder)
        if file is not None and file not in found.setdefault(entry["name"], []):
            found[entry["name"]].append(file)
    return found


def find_entry_functions(root: Path, names: Iterable[str]) -> set[str]:
    """The functions that the commands call, by the last part of their names."""
    return {entry["function"].rpartition(".")[2] for _, entry in _find_declared(root, names)}


def _find_declared(root: Path, names: Iterable[str]) -> Iterator[tuple[str, re.Match[str]]]:
    """What declares a command, with the folder of its file."""
    for name in names:
        folder, _, last = name.rpartition("/")
        source = read_text(root / name, root) if last in DECLARING else None
        if isinstance(source, Source):
            yield from ((folder or ".", entry) for entry in _ENTRY.finditer(source.text))
