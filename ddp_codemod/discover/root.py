"""Finds the root of a project: tracing reads files under it and nothing outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MARKERS = (".git", "pyproject.toml")


def find_root(paths: Sequence[Path]) -> Path:
    """The nearest ancestor of the first path with .git or pyproject.toml, else the folder itself.

    Raises ValueError when a path lies outside the root that the first one gives.
    """
    folders = [path if path.is_dir() else path.parent for path in (Path(path).absolute() for path in paths)]
    first = Path(_normal(folders[0]))
    root = next((at for at in (first, *first.parents) if any((at / marker).exists() for marker in MARKERS)), first)
    for folder in folders[1:]:
        if not Path(_normal(folder)).is_relative_to(root):
            if root == first and first.is_relative_to(_normal(folder)):
                root = Path(_normal(folder))
            else:
                raise ValueError(f"{folder} is not under {root}: run ddp-codemod once for each project")
    return root


def _normal(path: Path) -> str:
    # resolve() would follow links, and names in reports would no longer be those that the user typed
    import os.path

    return os.path.normpath(path)
