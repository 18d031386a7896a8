"""``remove-import-name`` {name}: takes a name out of one import statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.edits.recipes.expression import MAX_LEVELS, code_of, guard_depth

Space = cst.BaseParenthesizableWhitespace


def rewrite(text: str, args: Mapping[str, str]) -> str:
    """``import a, b`` becomes ``import a``; the text is one whole statement, and what is left is "" when no name is.

    Raises RecipeError where the text is no import or binds no such name.
    """
    guard_depth(text)
    if text.count(".") > MAX_LEVELS:  # a dotted name is nested, too
        raise RecipeError("recipe-too-deep", limit=MAX_LEVELS)
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError) as why:
        raise RecipeError("recipe-rewriter-failed", why=getattr(why, "message", "") or type(why).__name__) from None
    statement = _get_only_import(module)
    if (isinstance(statement, cst.ImportFrom) and isinstance(statement.names, cst.ImportStar)) or module.code != text:
        raise RecipeError("recipe-name-not-imported", name=args["name"])
    remover = RemoveImportName(args["name"])
    changed = module.visit(remover)
    if not remover.removed:
        raise RecipeError("recipe-name-not-imported", name=args["name"])
    return changed.code if remover.left else ""


class RemoveImportName(cst.CSTTransformer):
    """Removes every alias that binds a name, with the comment behind it where it has a line of its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.removed = 0
        self.left = 0

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        """``import a, b as c``"""
        names, _, _ = self._remove_aliases(updated_node.names, None, None)
        return updated_node.with_changes(names=names) if names else updated_node

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        """``from m import a, b as c``"""
        if isinstance(updated_node.names, cst.ImportStar):
            return updated_node
        left, right = updated_node.lpar, updated_node.rpar
        opening, closing = left.whitespace_after if left else None, right.whitespace_before if right else None
        names, opening, closing = self._remove_aliases(updated_node.names, opening, closing)
        if not names:
            return updated_node
        changed = updated_node.with_changes(names=names)
        if left and right:
            changed = changed.with_changes(
                lpar=left.with_changes(whitespace_after=opening), rpar=right.with_changes(whitespace_before=closing)
            )
        return changed

    def _remove_aliases(
        self, aliases: Sequence[cst.ImportAlias], opening: Space | None, closing: Space | None
    ) -> tuple[list[cst.ImportAlias], Space | None, Space | None]:
        """The aliases that stay, and the whitespace before the first and after the last."""
        kept: list[cst.ImportAlias] = []
        for alias in aliases:
            if _get_bound_name(alias) != self.name:
                kept.append(alias)
                continue
            self.removed += 1
            previous = kept[-1].comma if kept else None
            gap = previous.whitespace_after if isinstance(previous, cst.Comma) else opening
            if isinstance(alias.comma, cst.Comma):
                gap = _join_spaces(gap, alias.comma.whitespace_after, not kept, False)
            elif closing is not None:  # the last name, in parentheses without a trailing comma
                closing, gap = _join_spaces(gap, closing, not kept, True), None
            if kept:
                comma = (
                    previous.with_changes(whitespace_after=gap) if isinstance(previous, cst.Comma) and gap is not None else None
                )
                kept[-1] = kept[-1].with_changes(comma=comma or cst.MaybeSentinel.DEFAULT)
            elif gap is not None and opening is not None:
                opening = gap
        if kept and closing is None and isinstance(kept[-1].comma, cst.Comma):
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)  # nothing may follow it without parentheses
        self.left += len(kept)
        return kept, opening, closing


def _join_spaces(before: Space | None, after: Space | None, first: bool, last: bool) -> Space | None:
    """What stays of the whitespace around a name that goes: comments behind other names and on lines of their own."""
    if isinstance(before, cst.ParenthesizedWhitespace):
        if isinstance(after, cst.ParenthesizedWhitespace):
            return before.with_changes(empty_lines=[*before.empty_lines, *after.empty_lines], last_line=after.last_line)
        return after if last and "#" not in code_of(before) else before
    if first and not (isinstance(after, cst.ParenthesizedWhitespace) and after.empty_lines):
        return before
    return after


def _get_bound_name(alias: cst.ImportAlias) -> str:
    if alias.asname is not None:
        assert isinstance(alias.asname.name, cst.Name)
        return alias.asname.name.value
    name = alias.name
    while isinstance(name, cst.Attribute):
        assert isinstance(name.value, (cst.Attribute, cst.Name))
        name = name.value
    return name.value


def _get_only_import(module: cst.Module) -> cst.Import | cst.ImportFrom:
    line = module.body[0] if len(module.body) == 1 else None
    statement = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if not isinstance(statement, (cst.Import, cst.ImportFrom)):
        raise RecipeError("recipe-not-an-import")
    return statement
