"""F-strings and t-strings as trees, of whatever the newest Python lets one write in their braces."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ddp_codemod.parse.newer_nodes import PlacedField, PlacedString
from ddp_codemod.parse.python_tokens import Field, Part, String, UnknownSyntax

Locate = Callable[[int], "tuple[int, int]"]
ParseStretch = Callable[[int, int], ast.expr]


class StringBuilder:
    """Makes the trees of one text's strings, with the places that they have in it."""

    def __init__(self, text: str, locate: Locate, parse_stretch: ParseStretch) -> None:
        self.text = text
        self.locate = locate
        self.parse_stretch = parse_stretch

    def place(self, node: Any, start: int, end: int) -> Any:
        """The node, at this stretch."""
        node.lineno, node.col_offset = self.locate(start)
        node.end_lineno, node.end_col_offset = self.locate(end)
        return node

    def build(self, strings: Sequence[String]) -> PlacedString:
        """One f-string of strings that follow each other. Raises UnknownSyntax where they cannot."""
        values = _join_texts(value for one in strings for value in self._list_values(one))
        node: PlacedString = self.place(PlacedString(values=values), strings[0].start, strings[-1].end)
        return node

    def _list_values(self, one: String) -> Iterator[ast.expr]:
        if one.parts is not None:
            yield from self._list_parts(one.parts, one)
            return
        value = ast.literal_eval(self.text[one.start : one.end])
        if not isinstance(value, str):
            raise UnknownSyntax(one.start)
        yield self.place(ast.Constant(value=value, kind=None), one.start, one.end)

    def _list_parts(self, parts: Iterable[Part], one: String, spec: bool = False) -> Iterator[ast.expr]:
        for part in parts:
            if not isinstance(part, Field):
                value = self._read_text(part.start, part.end, one, spec)
                yield self.place(ast.Constant(value=value, kind=None), part.start, part.end)
                continue
            if part.debug:
                written = self.text[part.first : part.debug]
                yield self.place(ast.Constant(value=written, kind=None), part.first, part.debug)
            shown = part.conversion or ("r" if part.debug and part.spec is None else "")
            inner = None
            if part.spec is not None:
                found = _join_texts(self._list_parts(part.spec, one, True))
                inner = self.place(PlacedString(values=found), part.spec_start, part.end - 1)
            made = PlacedField(
                value=self.parse_stretch(part.first, part.last), conversion=ord(shown) if shown else -1, format_spec=inner
            )
            yield self.place(made, part.start, part.end)

    def _read_text(self, start: int, end: int, one: String, spec: bool) -> str:
        """The text that a stretch between the braces stands for."""
        written = self.text[start:end].replace("\r\n", "\n").replace("\r", "\n")
        if not spec:
            written = written.replace("{{", "{").replace("}}", "}")
        if "r" in one.prefix or "\\" not in written:
            return written
        # behind a blank: neither a backslash in front of a brace nor a quote may touch the closing quotes
        value = ast.literal_eval(f"{one.quote}{written} {one.quote}")[:-1]
        assert isinstance(value, str)
        return value


def _join_texts(values: Iterable[ast.expr]) -> list[ast.expr]:
    """The values with texts that follow each other as one, and without empty ones."""
    found: list[ast.expr] = []
    for value in values:
        last = found[-1] if found else None
        if not isinstance(value, ast.Constant):
            found.append(value)
        elif isinstance(last, ast.Constant) and value.value:
            last.value = str(last.value) + str(value.value)
            last.end_lineno, last.end_col_offset = value.end_lineno, value.end_col_offset
        elif value.value:
            found.append(value)
    return found
