"""An expression parsed on its own, rewritten by a LibCST transformer and written back as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import libcst as cst

from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.parse.python import parse_expression

# LibCST's parser recurses in native code: about 1,200 nested brackets overflow an 8 MiB stack and end the process,
# and the main thread of a Windows process has 1 MiB.
MAX_BRACKETS = 100
# So do 3,500 lambdas and 7,000 operators; its visitors give up at some 330 levels, and its time grows faster than the text.
MAX_LEVELS = 300
MAX_TEXT = 50_000
_NEWLINE = re.compile(r"\r\n|\r|\n")


class OutermostCall(cst.CSTTransformer):
    """Rewrites the one call of an expression that lies in no other call."""

    def __init__(self, change: Callable[[cst.Call], cst.Call]) -> None:
        super().__init__()
        self.change = change
        self.calls = 0

    def visit_Call(self, node: cst.Call) -> bool:
        """Calls inside the outermost one are not looked at."""
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Rewrite it; the caller checks that there was one only."""
        self.calls += 1
        return self.change(updated_node)


def rewrite_call(text: str, change: Callable[[cst.Call], cst.Call]) -> str:
    """Rewrite the outermost call of ``text``; everything else in it stays, character for character.

    Raises RecipeError where there is no such call, more than one, or the text cannot be read or rewritten.
    """
    tree = _parse_expression(text)
    transformer = OutermostCall(change)
    try:
        changed = tree.visit(transformer)
        if transformer.calls != 1:
            raise RecipeError("recipe-no-single-call", count=transformer.calls)
        assert isinstance(changed, cst.CSTNode)
        new = _render_code(changed, text)[1:-1]
    except (RecursionError, cst.CSTValidationError, LookupError, TypeError) as why:
        raise RecipeError("recipe-rewriter-failed", why=_format_error(why)) from None
    _check_syntax(new)
    return new


def parse_argument(text: str) -> cst.BaseExpression:
    """The expression that rule data gives; it has to be of one line and to be as an argument without parentheses."""
    if _NEWLINE.search(text) or "#" in text or not text.strip():
        raise RecipeError("recipe-bad-value", value=text)
    try:
        _check_syntax(f"_(_={text})")
        return cst.parse_expression(text.strip())
    except (RecipeError, cst.ParserSyntaxError, RecursionError):
        raise RecipeError("recipe-bad-value", value=text) from None


def code_of(node: cst.CSTNode) -> str:
    """Source text of a node."""
    return cst.Module([]).code_for_node(node)


def guard_depth(text: str) -> None:
    """Raise RecipeError for a text whose nesting or length could end the process; brackets in strings are counted too."""
    if len(text) > MAX_TEXT:
        raise RecipeError("recipe-too-long", limit=MAX_TEXT)
    depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            if depth > MAX_BRACKETS:
                raise RecipeError("recipe-too-deep", limit=MAX_BRACKETS)
        elif character in ")]}":
            depth -= 1


def _guard_levels(tree: ast.AST) -> None:
    """The same for what needs no brackets. ``a or b or c`` is one node here and two inside each other there."""
    todo: list[tuple[ast.AST, int]] = [(tree, 0)]
    while todo:
        node, level = todo.pop()
        level += len(node.values) if isinstance(node, ast.BoolOp) else 1
        if level > MAX_LEVELS:
            raise RecipeError("recipe-too-deep", limit=MAX_LEVELS)
        todo.extend((child, level) for child in ast.iter_child_nodes(node))


def _parse_expression(text: str) -> cst.BaseExpression:
    guard_depth(text)
    _guard_levels(_check_syntax(text))  # the standard parser has limits of its own and raises where a native one would crash
    try:
        tree = cst.parse_expression(f"({text})")
        same = _render_code(tree, text) == f"({text})"
    except (cst.ParserSyntaxError, RecursionError, LookupError, ValueError, TypeError) as why:
        raise RecipeError("recipe-rewriter-failed", why=_format_error(why)) from None
    if not same or not tree.lpar:
        raise RecipeError("recipe-rewriter-failed", why="round trip")
    return tree


def _check_syntax(text: str) -> ast.Expression:
    try:
        return parse_expression(f"({text})")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
        raise RecipeError("recipe-not-an-expression", why=_format_error(why)) from None


def _render_code(tree: cst.CSTNode, text: str) -> str:
    newline = _NEWLINE.search(text)
    return cst.Module([], default_newline=newline.group() if newline else "\n").code_for_node(tree)


def _format_error(why: BaseException) -> str:
    return getattr(why, "msg", None) or str(why).partition("\n")[0] or type(why).__name__
