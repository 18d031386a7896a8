"""The types of this stage: what was seen in an entry, what becomes of it, and the edits of its spans."""

from __future__ import annotations

import ast

from msgspec import Struct, field

from ddp_codemod.catalog.processes import GroupCall
from ddp_codemod.model import Reason, Recipe
from ddp_codemod.parse.python import Module


class ApiCall(Struct, frozen=True, eq=False):
    """One call of the distributed API."""

    module: Module
    node: ast.Call
    call: GroupCall
    name: str  # qualified


class Problem(Struct, frozen=True, eq=False):
    """A line that the rewrite does not understand, and why."""

    module: Module
    node: ast.AST
    reason: Reason


class SpanEdit(Struct, frozen=True, eq=False):
    """One edit of an entry: new text for a span, or a recipe that makes it."""

    module: Module
    start: int
    end: int
    after: str | None
    reason: Reason
    recipe: Recipe | None = None
    anchor: int | None = None


class EntryRewrite(Struct, eq=False):
    """What an entry comes to: edits of spans, what stops it, and what could not be seen."""

    span_edits: list[SpanEdit] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unseen: list[Problem] = field(default_factory=list)
