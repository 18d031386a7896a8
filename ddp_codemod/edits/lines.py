"""The whole lines that an edit touches, before and after, for reports; of lines that are too long, what is around it."""

from __future__ import annotations

from msgspec import Struct

from ddp_codemod.model import Edit, Source

# A line of generated or minified code may hold thousands of edits: each with the whole of it would be work that grows with the square.
LONGEST = 4_000  # characters of the lines beside an edit that are shown whole
AROUND = 500  # characters to each side of an edit that are shown of longer ones
MARK = "…"


class Preview(Struct, frozen=True):
    """Lines ``line`` to ``end_line`` of the old file (from 1), without the ending of the last one, and what replaces them.

    ``after`` is None for a recipe that has not run, and "" also where the lines go away. Of a notebook, the line numbers are
    the file's and the text is the Python that those lines hold. Where they are ``cut``, the texts start and end near the edit, with
    MARK in the place of what is omitted; the replacement itself is whole.
    """

    line: int
    end_line: int
    before: str
    after: str | None
    cut: bool = False


def preview_lines(source: Source, edit: Edit) -> Preview:
    """What one edit alone does to its lines; an insertion of whole lines is shown with the line that follows it."""
    start, end = edit.start, edit.end
    if edit.after is None and edit.recipe is not None:
        at = start if edit.anchor is None else edit.anchor
        return _build_preview(source, at, at, None)  # the line to look at: what changes around it is not known yet
    if not edit.after:
        start, end = expand_deletion(source, start, end)
    return _build_preview(source, start, end, edit.after or "")


def expand_deletion(source: Source, start: int, end: int) -> tuple[int, int]:
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


def _build_preview(source: Source, start: int, end: int, after: str | None) -> Preview:
    first = source.line_span(start)[0]
    # the end of a span that ends with a line is not the line after it
    last = source.line_span(max(start, end - 1))[1] if end > start else source.line_span(start)[1]
    line, end_line = source.position(first)[0], source.position(max(first, last - 1))[0]
    cut = (start - first) + (last - end) > LONGEST
    head, tail = (
        _cut_long_lines(source.text, first, start, end, last) if cut else (source.text[first:start], source.text[end:last])
    )
    before = head + source.text[start:end] + tail
    return Preview(line, end_line, _strip_line_end(before), None if after is None else _strip_line_end(head + after + tail), cut)


def _cut_long_lines(text: str, first: int, start: int, end: int, last: int) -> tuple[str, str]:
    """What is before and behind an edit in lines that are too long."""
    left, right = max(first, start - AROUND), min(last, end + AROUND)
    return (MARK if left > first else "") + text[left:start], text[end:right] + (MARK if right < last else "")


def _strip_line_end(lines: str) -> str:
    for ending in ("\r\n", "\n", "\r"):
        if lines.endswith(ending):
            return lines[: -len(ending)]
    return lines
