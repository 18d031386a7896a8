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
    first = Path(_normalize_path(folders[0]))
    root = next((at for at in (first, *first.parents) if any((at / marker).exists() for marker in MARKERS)), first)
    for folder in folders[1:]:
        if not Path(_normalize_path(folder)).is_relative_to(root):
            if root == first and first.is_relative_to(_normalize_path(folder)):
                root = Path(_normalize_path(folder))
            else:
                raise ValueError(f"{folder} is not under {root}: run ddp-codemod once for each project")
    return root


def _normalize_path(path: Path) -> str:
    # resolve() would follow links, and names in reports would no longer be those that the user typed
    import os.path

    return os.path.normpath(path)
