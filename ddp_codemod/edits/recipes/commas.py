"""Where one more item goes between brackets: on a line of its own, or behind a comma, as its neighbours have it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

Space = cst.BaseParenthesizableWhitespace


class Gaps(Struct, frozen=True):
    """Whitespace between brackets, comments included: before the first item, after each comma, before the closing bracket."""

    opening: Space
    between: Sequence[Space]
    closing: Space
    trailing_comma: bool


class Slot(Struct, frozen=True):
    """The whitespace around a new last item: ``before`` it, ``after`` it up to the bracket, and whether a comma follows it."""

    before: Space
    after: Space
    comma: bool


def slot_at_end(gaps: Gaps) -> Slot:
    """Whitespace for an item behind the last one; comments stay with the items that they follow."""
    last = gaps.between[-1] if gaps.between else gaps.opening
    every = gaps.between or [gaps.opening]
    if all(isinstance(gap, cst.ParenthesizedWhitespace) for gap in every):
        assert isinstance(last, cst.ParenthesizedWhitespace)
        if isinstance(gaps.closing, cst.ParenthesizedWhitespace):
            before = gaps.closing.with_changes(last_line=last.last_line)
            return Slot(before, new_line(gaps.closing.last_line), gaps.trailing_comma)
        return Slot(new_line(last.last_line), gaps.closing, gaps.trailing_comma)
    return Slot(same_line(gaps.between), gaps.closing, gaps.trailing_comma)


def slot_when_empty(opening: Space) -> Slot:
    """Whitespace for the first item; lines and comments between the brackets stay above it."""
    if not isinstance(opening, cst.ParenthesizedWhitespace):
        return Slot(opening, cst.SimpleWhitespace(""), False)
    margin = opening.last_line.value
    commented = [line.whitespace.value for line in opening.empty_lines if line.comment is not None]
    indent = commented[-1] if commented else margin + ("\t" if "\t" in margin else "    ")
    return Slot(opening.with_changes(last_line=cst.SimpleWhitespace(indent)), new_line(opening.last_line), True)


def split_before(gap: Space, between: Sequence[Space]) -> tuple[Space, Space]:
    """Whitespace before and after an item that goes between ``gap`` and what follows; comment lines stay with what follows."""
    if isinstance(gap, cst.ParenthesizedWhitespace):
        return gap.with_changes(empty_lines=[]), new_line(gap.last_line).with_changes(empty_lines=gap.empty_lines)
    return gap, same_line(between)


def new_line(indent: cst.SimpleWhitespace) -> cst.ParenthesizedWhitespace:
    """A line break and the indentation after it."""
    return cst.ParenthesizedWhitespace(indent=True, last_line=indent)


def same_line(between: Sequence[Space]) -> cst.SimpleWhitespace:
    """The space that follows a comma here: none only where the last comma has none."""
    tight = bool(between) and isinstance(between[-1], cst.SimpleWhitespace) and not between[-1].value
    return cst.SimpleWhitespace("" if tight else " ")
