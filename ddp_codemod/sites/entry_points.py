"""The commands that a project installs: ``my-train = "package.cli:main"`` of pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source

DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
_ENTRY = re.compile(
    r"(?m)(?<![\w.-])(?P<name>[\w.-]+)[\"']?[ \t]*=[ \t]*[\"']?(?P<module>[A-Za-z_][\w.]*)[ \t]*:[ \t]*[A-Za-z_][\w.]*"
)


def find_entry_points(root: Path, file_of: Callable[[str, str], str | None], names: Iterable[str]) -> dict[str, list[str]]:
    """The files that the commands run, by the command's name.

    ``names`` are the files of the project; ``file_of`` says which one a dotted name means in a folder.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        source = read_text(root / name, root) if last in DECLARING else None
        if isinstance(source, Source):
            for entry in _ENTRY.finditer(source.text):
                file = file_of(entry["module"], folder or ".")
                if file is not None and file not in found.setdefault(entry["name"], []):
                    found[entry["name"]].append(file)
    return found
