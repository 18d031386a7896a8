"""Puts edits into one text: recipes around what lies inside them, equal edits once, overlaps refused."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from ddp_codemod.edits.lines import expand_deletion
from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.model import Edit, Reason, Recipe, Replacement, Source, replace_stretches

# Recipes that work on statements: of one span, they go around those that work on its expression.
_OF_STATEMENTS = frozenset({"guard-statements"})


class SpliceError(Exception):
    """Edits that cannot all be made; ``reason`` says why, for the reader."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class _Node(Struct):
    start: int
    end: int
    after: str | None
    recipe: Recipe | None
    inner: list[_Node] = field(default_factory=list)

    def holds(self, other: _Node) -> bool:
        """Whether another span lies inside; an insertion at either end is outside."""
        if other.start == other.end:
            return self.start < other.start < self.end
        return self.start <= other.start and other.end <= self.end


def splice(source: Source, edits: Sequence[Edit]) -> str:
    """The text with all edits made. Raises SpliceError as ``compute_replacements`` does."""
    return replace_stretches(source.text, compute_replacements(source, edits))


def compute_replacements(source: Source, edits: Sequence[Edit]) -> list[Replacement]:
    """What all edits together replace in the text, in order.

    Edits of one place that say the same count once. A recipe works on a text in which the edits inside its span, and earlier
    recipes of the same span, are made already. Raises SpliceError where spans overlap otherwise, or a recipe refuses.
    """
    roots: list[_Node] = []
    stack: list[_Node] = []
    for node in _sort_nodes(source, edits):
        while stack and stack[-1].end <= node.start:
            stack.pop()
        if stack and not (stack[-1].recipe is not None and stack[-1].holds(node)):
            raise SpliceError(Reason.of("edit-overlaps", line=source.position(node.start)[0]))
        (stack[-1].inner if stack else roots).append(node)
        stack.append(node)
    return _fill_span(source, 0, len(source.text), roots)


def render_edit(source: Source, edit: Edit) -> str:
    """The text that one edit alone puts in its place. Raises RecipeError where its recipe refuses."""
    if edit.after is not None or edit.recipe is None:
        return edit.after or ""
    return rewrite(edit.recipe, source.text[edit.start : edit.end])


def _sort_nodes(source: Source, edits: Sequence[Edit]) -> list[_Node]:
    """Each distinct edit once, outer before inner, and recipes of one span so that the first is the innermost."""
    nodes: dict[tuple[int, int, str | None, Recipe | None], _Node] = {}
    for edit in edits:
        if not 0 <= edit.start <= edit.end <= len(source.text):
            raise SpliceError(Reason.of("edit-outside", line=len(source.line_starts)))
        recipe = edit.recipe if edit.after is None else None
        nodes.setdefault((edit.start, edit.end, edit.after, recipe), _Node(edit.start, edit.end, edit.after, recipe))

    def rank(item: tuple[int, _Node]) -> tuple[int, bool, int, bool, bool, bool, int]:
        order, node = item
        insertion = node.start == node.end
        # imports first: a statement that is put in at the same place needs them
        later = insertion and not (node.after or "").lstrip().startswith(("import ", "from ", "try:"))
        inner = node.recipe is None or node.recipe.name not in _OF_STATEMENTS
        return node.start, not insertion, -node.end, node.recipe is None, inner, later, order if node.recipe is None else -order

    return [node for _, node in sorted(enumerate(nodes.values()), key=rank)]


def _fill_span(source: Source, start: int, end: int, nodes: Sequence[_Node]) -> list[Replacement]:
    """What making the nodes, which lie between start and end in order, replaces."""
    replacements: list[Replacement] = []
    at = start
    for node in nodes:
        new = _render_node(source, node)
        first, last = (node.start, node.end) if new else expand_deletion(source, node.start, node.end)
        if first < at or last > end:
            raise SpliceError(Reason.of("edit-overlaps", line=source.position(node.start)[0]))
        replacements.append((first, last, new))
        at = last
    return replacements


def _render_node(source: Source, node: _Node) -> str:
    if node.recipe is None:
        return node.after or ""
    replacements = _fill_span(source, node.start, node.end, node.inner)
    inner = replace_stretches(source.text[: node.end], replacements)[node.start :]
    try:
        return rewrite(node.recipe, inner)
    except RecipeError as why:
        raise SpliceError(why.reason) from None
