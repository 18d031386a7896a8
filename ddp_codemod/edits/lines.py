"""The whole lines that an edit touches, before and after, for reports."""

from __future__ import annotations

from msgspec import Struct

from ddp_codemod.model import Edit, Source


class Preview(Struct, frozen=True):
    """Lines ``line`` to ``end_line`` of the old file (from 1), without the ending of the last one, and what replaces them.

    ``after`` is None for a recipe that has not run, and "" also where the lines go away. Of a notebook, the line numbers are
    the file's and the text is the Python that those lines hold.
    """

    line: int
    end_line: int
    before: str
    after: str | None


def preview_lines(source: Source, edit: Edit) -> Preview:
    """What one edit alone does to its lines; an insertion of whole lines is shown with the line that follows it."""
    start, end = edit.start, edit.end
    if edit.after is None and edit.recipe is not None:
        at = start if edit.anchor is None else edit.anchor
        return _preview(source, at, at, None)  # the line to look at: what changes around it is not known yet
    if not edit.after:
        start, end = emptied(source, start, end)
    return _preview(source, start, end, edit.after or "")


def emptied(source: Source, start: int, end: int) -> tuple[int, int]:
    """What goes when nothing stays between two offsets: the whole line, the comment behind it, or the semicolon as well."""
    text = source.text
    first, last = source.line_span(start)[0], source.line_span(end)[1]
    if end == source.line_span(end)[0]:
        last = end  # whole lines, up to the start of the next
    head, tail = text[first:start], text[end:last]
    rest = tail.strip().removeprefix(";").strip()
    if start == end:
        return start, end
    if not head.strip() and (not rest or rest.startswith("#")):
        return first + head.rfind("\f") + 1, last  # a form feed stays: it parts pages, not statements
    if tail.lstrip().startswith(";") and rest:
        return start, last - len(tail.lstrip()[1:].lstrip(" \t"))
    if head.rstrip().endswith(";"):
        return first + head.rstrip().rindex(";"), end
    return start, end


def _preview(source: Source, start: int, end: int, after: str | None) -> Preview:
    text = source.text
    first = source.line_span(start)[0]
    # the end of a span that ends with a line is not the line after it
    last = source.line_span(max(start, end - 1))[1] if end > start else source.line_span(start)[1]
    before = text[first:last]
    new = None if after is None else _chomp(text[first:start] + after + text[end:last])
    line, end_line = source.position(first)[0], source.position(max(first, last - 1))[0]
    return Preview(line, end_line, _chomp(before), new)


def _chomp(lines: str) -> str:
    for ending in ("\r\n", "\n", "\r"):
        if lines.endswith(ending):
            return lines[: -len(ending)]
    return lines
