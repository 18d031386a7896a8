"""The code cells of a Jupyter notebook, and where each character of them is in its file.

The standard ``json`` says what a notebook holds but not where; a scan of its strings and brackets finds the places.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]')
_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_PYTHON = frozenset({"python", "python2", "python3", "ipython"})

Path = tuple[str | int, ...]


class NotANotebook(ValueError):
    """The text is not JSON, or no notebook; the message says why."""


class Element(Struct, frozen=True, dict=True):
    """One JSON string of a cell's source: a line of it as a rule, or the whole."""

    at: int  # offset of its first character in the cell
    text: str
    start: int  # offset in the file, behind the opening quote
    raw: str  # what is between the quotes

    @cached_property
    def _offsets(self) -> Sequence[int]:
        if len(self.raw) == len(self.text):
            return range(len(self.text) + 1)
        return [*(match.start() for match in _CHARACTER.finditer(self.raw)), len(self.raw)]

    @property
    def end(self) -> int:
        """Offset of the first character behind it, in the cell."""
        return self.at + len(self.text)

    def in_file(self, offset: int) -> int:
        """Offset in the file of an offset in the cell."""
        return self.start + self._offsets[offset - self.at]


class Cell(Struct, frozen=True, dict=True):
    """The source of one code cell. ``listed`` tells whether it is a list of strings."""

    elements: tuple[Element, ...]
    listed: bool

    @cached_property
    def text(self) -> str:
        """The cell as its author sees it."""
        return "".join(element.text for element in self.elements)

    @cached_property
    def by_lines(self) -> bool:
        """Whether each line is a string of its own."""
        texts = [element.text for element in self.elements]
        return self.listed and all(text and "\n" not in text[:-1] for text in texts) and all(map(_has_line_end, texts[:-1]))

    def index(self, offset: int) -> int:
        """The number of the element that holds the character at an offset; the last one for the end of the cell."""
        return bisect_right(self._starts, offset) - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [element.at for element in self.elements]


def _has_line_end(line: str) -> bool:
    return line.endswith("\n")


def find_python_cells(text: str) -> tuple[Cell, ...]:
    """The code cells of a notebook that are written in Python, in order. Raises NotANotebook."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as why:
        raise NotANotebook(str(why)) from None
    described = dict(_find_code_cells(document))
    found: dict[Path, list[Element]] = {path: [] for path in described}
    for path, start, end in _scan_strings(text):
        at = path if path in found else path[:-1]
        if at in found:
            elements = found[at]
            raw = text[start:end]
            value = json.loads(f'"{raw}"') if "\\" in raw else raw
            elements.append(Element(elements[-1].end if elements else 0, value, start, raw))
    cells = {path: Cell(tuple(elements), isinstance(described[path], list)) for path, elements in found.items()}
    for path, cell in cells.items():  # a key that occurs twice, a list that holds more than strings
        if ([e.text for e in cell.elements] if cell.listed else cell.text) != described[path]:
            raise NotANotebook("source")
    return tuple(cells.values())


def _find_code_cells(document: Any) -> Iterator[tuple[Path, object]]:
    """The path and the content of the source of each Python code cell."""
    if not isinstance(document, dict) or not isinstance(document.get("cells", document.get("worksheets")), list):
        raise NotANotebook("cells")
    language = _find_language(document.get("metadata")) or "python"
    if "cells" in document:
        sheets: list[tuple[Path, Any, str]] = [(("cells",), document["cells"], "source")]
    else:  # nbformat 3 and older
        of_sheet = [sheet.get("cells", []) if isinstance(sheet, dict) else [] for sheet in document["worksheets"]]
        sheets = [(("worksheets", number, "cells"), cells, "input") for number, cells in enumerate(of_sheet)]
    for path, cells, key in sheets:
        for number, cell in enumerate(cells if isinstance(cells, list) else []):
            if isinstance(cell, dict) and cell.get("cell_type") == "code" and isinstance(cell.get(key), (str, list)):
                if (_find_cell_language(cell) or language).lower() in _PYTHON:
                    yield (*path, number, key), cell[key]


def _find_language(metadata: Any) -> str | None:
    """The language that a notebook's metadata name."""
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and isinstance(about.get(key), str):
            return str(about[key])
    return None


def _find_cell_language(cell: Mapping[str, Any]) -> str | None:
    """The language that a cell is marked with: by nbformat 3, or by an editor of notebooks in several languages."""
    metadata = cell.get("metadata")
    vscode = metadata.get("vscode") if isinstance(metadata, dict) else None
    named = vscode.get("languageId") if isinstance(vscode, dict) else cell.get("language")
    return named if isinstance(named, str) else None


def _scan_strings(text: str) -> Iterator[tuple[Path, int, int]]:
    """Each string of a valid JSON text that is a value: its path, and its offsets between the quotes."""
    path: list[str | int] = []
    at_key = False
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first == '"':
            if at_key:
                path[-1], at_key = json.loads(token.group()), False
            elif len(path) < 7:  # no cell lies deeper
                yield tuple(path), token.start() + 1, token.end() - 1
        elif first in "{[":
            at_key = first == "{"
            path.append("" if at_key else 0)
        elif first in "}]":
            path.pop()
            at_key = False
        else:
            last = path[-1]
            at_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
