"""``drop-argument`` {value}: takes the argument that is written so out of a call."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ddp_codemod.edits.recipes.commas import Space
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
        result = call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    elif index == len(items):  # it was the last: what was behind it is behind the one before
        items[-1] = items[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
        result = call.with_changes(args=items)
    else:
        result = call.with_changes(args=items)
    if len(_collect_comments(result)) == len(_collect_comments(call)):
        return result
    return _keep_comments(result, index, [] if not index else _collect_comments(call.args[index - 1].comma), gone, call)


def _keep_comments(made: cst.Call, index: int, before: list[cst.Comment], gone: cst.Arg, call: cst.Call) -> cst.Call:
    """The call with every comment that was in what is gone, or around it, in the gap where it was: a user may drop them."""
    items = list(made.args)
    if not index:
        kept = [*_collect_comments(call.whitespace_before_args), *_collect_comments(gone)]
        return made.with_changes(whitespace_before_args=_make_gap(kept, call.whitespace_before_args, _get_space_after(gone)))
    kept = [*before, *_collect_comments(gone)]
    last = items[index - 1]
    if isinstance(last.comma, cst.Comma):
        gap = _make_gap(kept, last.comma.whitespace_after, _get_space_after(gone))
        items[index - 1] = last.with_changes(comma=last.comma.with_changes(whitespace_after=gap))
    else:
        items[index - 1] = last.with_changes(
            whitespace_after_arg=_make_gap(kept, last.whitespace_after_arg, _get_space_after(gone))
        )
    return made.with_changes(args=items)


def _get_space_after(item: cst.Arg) -> Space:
    return item.comma.whitespace_after if isinstance(item.comma, cst.Comma) else item.whitespace_after_arg


def _make_gap(comments: list[cst.Comment], like: Space, other: Space) -> Space:
    """Whitespace with these comments, that ends as one which is there."""
    last = next(
        (one.last_line for one in (like, other) if isinstance(one, cst.ParenthesizedWhitespace)), cst.SimpleWhitespace("")
    )
    return cst.ParenthesizedWhitespace(
        first_line=cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  "), comment=comments[0]),
        empty_lines=[cst.EmptyLine(indent=False, whitespace=last, comment=comment) for comment in comments[1:]],
        indent=True,
        last_line=last,
    )


def _collect_comments(node: cst.CSTNode | cst.MaybeSentinel) -> list[cst.Comment]:
    """Every comment in a node, in order."""
    found: list[cst.Comment] = []

    class Collector(cst.CSTVisitor):
        def visit_Comment(self, node: cst.Comment) -> None:
            found.append(node)

    if isinstance(node, cst.CSTNode):
        node.visit(Collector())
    return found
