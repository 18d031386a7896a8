"""``add-keyword`` {name, value}: gives a call one more keyword argument, in the style of the call."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ddp_codemod.edits.recipes.commas import Gaps, slot_at_end, slot_when_empty, split_before
from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.edits.recipes.expression import parse_argument, rewrite_call


def rewrite(text: str, args: Mapping[str, str]) -> str:
    """``f(a)`` becomes ``f(a, name=value)``; before a ``**`` argument, so that positions read as before.

    Raises RecipeError where the keyword is there already or the argument is a bare generator.
    """
    value = parse_argument(args["value"])
    return rewrite_call(text, lambda call: add_keyword(call, args["name"], value))


def add_keyword(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """The call with ``name=value``."""
    items = list(call.args)
    if any(item.keyword is not None and item.keyword.value == name for item in items):
        raise RecipeError("recipe-keyword-exists", name=name)
    if any(isinstance(item.value, cst.GeneratorExp) and not item.value.lpar for item in items):
        raise RecipeError("recipe-bare-generator")
    new = cst.Arg(value, cst.Name(name), equal=_copy_equal_sign(items))
    first_mapping = next((index for index, item in enumerate(items) if item.star == "**"), None)
    if first_mapping is not None:
        return _insert_keyword(call, items, first_mapping, new)
    if not items:
        slot = slot_when_empty(call.whitespace_before_args)
        return call.with_changes(args=[_end_item(new, slot.after, slot.comma)], whitespace_before_args=slot.before)
    last = items[-1]
    comma = last.comma if isinstance(last.comma, cst.Comma) else None
    between = [item.comma.whitespace_after for item in items[:-1] if isinstance(item.comma, cst.Comma)]
    closing = comma.whitespace_after if comma else last.whitespace_after_arg
    slot = slot_at_end(Gaps(call.whitespace_before_args, between, closing, comma is not None))
    if comma:
        items[-1] = last.with_changes(comma=comma.with_changes(whitespace_after=slot.before))
    else:
        items[-1] = last.with_changes(
            comma=cst.Comma(whitespace_after=slot.before), whitespace_after_arg=cst.SimpleWhitespace("")
        )
    return call.with_changes(args=[*items, _end_item(new, slot.after, slot.comma)])


def _insert_keyword(call: cst.Call, items: list[cst.Arg], index: int, new: cst.Arg) -> cst.Call:
    between = [item.comma.whitespace_after for item in items[:index] if isinstance(item.comma, cst.Comma)]
    before, after = split_before(between[-1] if index else call.whitespace_before_args, between)
    new = new.with_changes(comma=cst.Comma(whitespace_after=after))
    if index:
        previous = items[index - 1]
        assert isinstance(previous.comma, cst.Comma)
        items[index - 1] = previous.with_changes(comma=previous.comma.with_changes(whitespace_after=before))
        return call.with_changes(args=[*items[:index], new, *items[index:]])
    return call.with_changes(args=[new, *items], whitespace_before_args=before)


def _end_item(item: cst.Arg, after: cst.BaseParenthesizableWhitespace, comma: bool) -> cst.Arg:
    if comma:
        return item.with_changes(comma=cst.Comma(whitespace_after=after))
    return item.with_changes(whitespace_after_arg=after)


def _copy_equal_sign(items: list[cst.Arg]) -> cst.AssignEqual:
    """``=`` or `` = ``, as the last keyword argument has it."""
    equals = [item.equal for item in items if isinstance(item.equal, cst.AssignEqual)]
    space = (
        " "
        if equals and isinstance(equals[-1].whitespace_after, cst.SimpleWhitespace) and equals[-1].whitespace_after.value
        else ""
    )
    return cst.AssignEqual(cst.SimpleWhitespace(space), cst.SimpleWhitespace(space))
