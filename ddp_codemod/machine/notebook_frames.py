"""Finds the cells of notebooks that a run executed: a kernel knows their text, and not the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ddp_codemod.discover.files import read, walk_files
from ddp_codemod.discover.kinds import NOTEBOOK
from ddp_codemod.model import Skipped
from ddp_codemod.parse.notebook import NotebookSource, read_notebook

_MAGIC = ("%", "!", "get_ipython()")  # what IPython writes anew before it runs a cell


def locate_notebook_frames(entries: Iterable[dict[str, Any]], root: Path) -> Iterator[dict[str, Any]]:
    """The entries, their frames in cells as lines of the notebook that alone has such a cell; without those of which no one has."""
    notebooks: list[NotebookSource] | None = None
    for entry in entries:
        cells = entry.get("cells")
        if not cells:
            yield entry
            continue
        notebooks = [*_read_notebooks(root)] if notebooks is None else notebooks
        known = {name: _find_cell(text, notebooks) for name, text in cells.items()}
        frames, span = [], entry["span"]
        for number, (name, line) in enumerate(entry["frames"]):
            if name not in known:
                frames.append((name, line))
                continue
            span = None if number == 0 else span  # it counts in the cell
            place = known[name]
            if place is not None:
                notebook, cell = place
                frames.append((notebook.name, _find_line(notebook, cell, line)))
        yield {**entry, "frames": frames, "span": span}


def _read_notebooks(root: Path) -> Iterator[NotebookSource]:
    for path in walk_files(root, [root], (NOTEBOOK,)):
        source = read(path, root)
        result = read_notebook(source) if not isinstance(source, Skipped) else source
        if isinstance(result, NotebookSource):
            yield result


def _find_cell(text: str, notebooks: Iterable[NotebookSource]) -> tuple[NotebookSource, int] | None:
    """The one cell that is a text, but for its magics."""
    found = [(one, at) for one in notebooks for at, cell in enumerate(one.cells) if _is_same(cell.text, text)]
    return found[0] if len(found) == 1 else None


def _is_same(written: str, ran: str) -> bool:
    lines, others = written.rstrip().splitlines(), ran.rstrip().splitlines()
    pairs = zip(lines, others, strict=False)
    return len(lines) == len(others) and all(one == other or one.lstrip().startswith(_MAGIC) for one, other in pairs)


def _find_line(notebook: NotebookSource, number: int, line: int) -> int:
    """The line of the file for a line of a cell."""
    cell = notebook.cells[number]
    offset = sum(map(len, cell.text.splitlines(keepends=True)[: line - 1]))
    element = cell.elements[cell.index(offset)]
    return notebook.json.position(element.in_file(offset))[0]
