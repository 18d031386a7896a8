"""``drop-argument`` {value}: takes the argument that is written so out of a call."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.edits.recipes.expression import code_of, rewrite_call


def rewrite(text: str, args: Mapping[str, str]) -> str:
    """``f(a, b=c)`` becomes ``f(a)`` for the value ``c``; a comma at the end, and lines of their own, stay with those that stay.

    Raises RecipeError where no argument, or more than one, is written so, or positional ones follow it.
    """
    return rewrite_call(text, lambda call: drop_argument(call, args["value"]))


def drop_argument(call: cst.Call, value: str) -> cst.Call:
    """The call without the argument."""
    items = list(call.args)
    found = [index for index, item in enumerate(items) if not item.star and code_of(item.value) == value]
    if len(found) != 1:
        raise RecipeError("recipe-no-single-argument", value=value, count=len(found))
    index = found[0]
    if items[index].keyword is None and any(item.keyword is None for item in items[index + 1 :]):
        raise RecipeError("recipe-argument-between", value=value)
    gone = items.pop(index)
    if not items:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    if index == len(items):  # it was the last: what stood behind it stands behind the one before
        items[-1] = items[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    return call.with_changes(args=items)
