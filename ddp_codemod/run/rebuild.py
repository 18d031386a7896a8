"""The sources of an answer that was kept, made again of the bytes that were found to be the same."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.model import Source


def rebuild_source(path: Path, name: str, data: bytes, encoding: str) -> Source | None:
    """The source of a file that was read in an encoding before; None where its bytes give none."""
    source = Source(path, name, data, data.decode(encoding, "replace"), encoding)
    if not name.endswith(NOTEBOOK):
        return source
    from ddp_codemod.parse.notebook import read_notebook

    result = read_notebook(source)
    return result if isinstance(result, Source) else None
