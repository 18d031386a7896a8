"""Finds the root of a project: tracing reads files under it and nothing outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MARKERS = (".git", "pyproject.toml")
_UNPACKED = (
    "README.md",
    "README.rst",
    "README.txt",
    "README",
    "LICENSE",
    "requirements.txt",
    "setup.py",
)  # of a project without git


def find_root(paths: Sequence[Path], base: Path | None = None) -> Path:
    """The nearest ancestor of the first path with .git or pyproject.toml, else the folder itself.

    For a file without such an ancestor it is the topmost folder from ``base``, the current folder, down to the file that looks like
    the top of a project: what is reported of one line is reported of the project that it belongs to.

    Raises ValueError when a path lies outside the root that the first one gives.
    """
    folders = [path if path.is_dir() else path.parent for path in (Path(path).absolute() for path in paths)]
    first = Path(_normalize_path(folders[0]))
    root = next((at for at in (first, *first.parents) if any((at / marker).exists() for marker in MARKERS)), None)
    if root is None:
        top = Path(_normalize_path(base or Path.cwd()))
        around = [at for at in (first, *first.parents) if at.is_relative_to(top)] if not Path(paths[0]).is_dir() else []
        root = next((at for at in reversed(around) if any((at / name).is_file() for name in _UNPACKED)), first)
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
