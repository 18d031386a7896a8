"""The texts of an answer that was kept, read again: the same file gives the same source."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ddp_codemod.discover.files import read, read_loosely, read_text
from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.model import Source

Kind = Literal["python", "text", "loose"]
_READERS = {"python": read, "text": read_text, "loose": read_loosely}


def kind_of(source: Source, root: Path) -> Kind | None:
    """How a source is read; None where no reader gives the very same."""
    kinds: tuple[Kind, ...] = ("python", "text", "loose")
    return next((kind for kind in kinds if rebuilt(root, source.name, kind) == source), None)


def rebuilt(root: Path, name: str, kind: Kind) -> Source | None:
    """The source of a file; None where it cannot be read."""
    made = _READERS[kind](root / name, root)
    if isinstance(made, Source) and name.endswith(NOTEBOOK) and kind == "python":
        from ddp_codemod.parse.notebook import read_notebook

        made = read_notebook(made)
    return made if isinstance(made, Source) else None
