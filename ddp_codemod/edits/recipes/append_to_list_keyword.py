"""``append-to-list-keyword`` {name, element}: puts one more element into the list that a call takes as a keyword."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ddp_codemod.edits.recipes.add_keyword import add_keyword
from ddp_codemod.edits.recipes.commas import Gaps, slot_at_end, slot_when_empty
from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.edits.recipes.expression import code_of, parse_argument, rewrite_call


def rewrite(text: str, args: Mapping[str, str]) -> str:
    """``f(name=[a])`` becomes ``f(name=[a, element])``.

    ``f()`` and ``f(name=None)`` become ``f(name=[element])``, ``f(name=b)`` becomes ``f(name=[*b, element])``.
    Raises RecipeError where the keyword's value is another expression, or the element is in the list already.
    """
    element = parse_argument(args["element"])
    return rewrite_call(text, lambda call: _append_element(call, args["name"], element))


def _append_element(call: cst.Call, name: str, element: cst.BaseExpression) -> cst.Call:
    for index, item in enumerate(call.args):
        if item.keyword is not None and item.keyword.value == name:
            changed = item.with_changes(value=_extend_value(item.value, name, element))
            return call.with_changes(args=[*call.args[:index], changed, *call.args[index + 1 :]])
    return add_keyword(call, name, cst.List([cst.Element(element)]))


def _extend_value(value: cst.BaseExpression, name: str, element: cst.BaseExpression) -> cst.List:
    if isinstance(value, cst.List):
        return _append_to_list(value, element)
    if isinstance(value, cst.Name) and value.value == "None":
        return cst.List([cst.Element(element)])
    constant = isinstance(value, cst.Name) and value.value in ("True", "False")
    if isinstance(value, (cst.Name, cst.Attribute)) and not constant:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return cst.List([cst.StarredElement(value, comma=comma), cst.Element(element)])
    raise RecipeError("recipe-not-a-list", name=name)


def _append_to_list(display: cst.List, element: cst.BaseExpression) -> cst.List:
    items = list(display.elements)
    written = code_of(element)
    if any(code_of(item.value) == written for item in items):
        raise RecipeError("recipe-element-exists", element=written)
    if not items:
        slot = slot_when_empty(display.lbracket.whitespace_after)
        left, new = display.lbracket.with_changes(whitespace_after=slot.before), cst.Element(element)
    else:
        last = items[-1]
        comma = last.comma if isinstance(last.comma, cst.Comma) else None
        between = [item.comma.whitespace_after for item in items[:-1] if isinstance(item.comma, cst.Comma)]
        slot = slot_at_end(
            Gaps(display.lbracket.whitespace_after, between, display.rbracket.whitespace_before, comma is not None)
        )
        items[-1] = last.with_changes(comma=(comma or cst.Comma()).with_changes(whitespace_after=slot.before))
        left, new = display.lbracket, cst.Element(element)
    if slot.comma:
        new = new.with_changes(comma=cst.Comma())
    right = display.rbracket.with_changes(whitespace_before=slot.after)
    return display.with_changes(elements=[*items, new], lbracket=left, rbracket=right)
