"""The commands that a project installs: ``my-train = "package.cli:main"`` of pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source

if TYPE_CHECKING:
    from ddp_codemod.sites.project import Project

DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
_ENTRY = re.compile(r"(?m)(?P<name>[\w.-]+)[\"']?[ \t]*=[ \t]*[\"']?(?P<module>[A-Za-z_][\w.]*)[ \t]*:[ \t]*[A-Za-z_][\w.]*")


def entry_points(project: Project, names: Iterable[str]) -> dict[str, list[str]]:
    """The files that the commands run, by the command's name; ``names`` are the files of the project."""
    found: dict[str, list[str]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        source = read_text(project.root / name, project.root) if last in DECLARING else None
        if isinstance(source, Source):
            for entry in _ENTRY.finditer(source.text):
                file = project.file(entry["module"], folder or ".")
                if file is not None and file not in found.setdefault(entry["name"], []):
                    found[entry["name"]].append(file)
    return found
