"""What changes when this program, or what it reads files with, does: an answer of another release is no answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from ddp_codemod import __version__

# the libraries that a survey reads files with; the folder of each is written anew when it is installed
_READERS = (
    "tree_sitter",
    "tree_sitter_bash",
    "tree_sitter_json",
    "tree_sitter_toml",
    "tree_sitter_yaml",
    "packaging",
    "pathspec",
)


@cache
def version_stamp() -> bytes:
    """The release, its files, the libraries that read, and Python; worked out once a process."""
    return "\n".join(_find_parts()).encode("utf-8", "surrogateescape")


def _find_parts() -> Iterator[str]:
    yield f"{__version__} {sys.version} {sys.getrecursionlimit()}"
    home = Path(__file__).parents[1]
    for at, inside, names in os.walk(home):
        inside[:] = sorted(name for name in inside if name != "__pycache__")
        for name in sorted(names):
            about = os.stat(f"{at}{os.sep}{name}")  # noqa: PTH116 - some five hundred files at each start
            yield f"{at} {name} {about.st_mtime_ns} {about.st_size}"
    for name in _READERS:
        spec = PathFinder.find_spec(name)
        if spec is not None and spec.origin is not None:
            folder = os.path.dirname(spec.origin)  # noqa: PTH120
            yield f"{folder} {os.stat(folder).st_mtime_ns}"  # noqa: PTH116
