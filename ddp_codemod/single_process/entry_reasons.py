"""What is reported of an entry: why it stays, or which lines a user has to look at."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.existing_guards import Where
from ddp_codemod.single_process.model import ApiCall, Problem
from ddp_codemod.single_process.reachability import DEFS


def explain_existing_condition(found: Where) -> Reason:
    """That the group is made under a condition already."""
    module, test, holds = found
    key = "single-condition" if holds else "single-condition-false"
    return Reason.of(key, Meaning.CONDITION, test=" ".join(module.text(test).split()), at=place_of(module, test))


def explain_required_group(bound: ApiCall) -> Reason:
    """That a program requires a group."""
    why = {"why": bound.call.why, "why_zh": bound.call.why_zh}
    return Reason.of("single-bound", name=bound.name, at=place_of(bound.module, bound.node), **why)


def cannot(bound: ApiCall) -> Reason:
    """That a program requires a group, which torch may be unable to make."""
    why = {"why": bound.call.why, "why_zh": bound.call.why_zh}
    return Reason.of("single-bare-bound", name=bound.name, at=place_of(bound.module, bound.node), **why)


def explain_required_in(bound: ApiCall, chosen: tuple[Module, ast.expr]) -> Reason:
    """That a program requires a group in one of its ways only."""
    module, test = chosen
    at, place = place_of(bound.module, bound.node), place_of(module, test)
    return Reason.of("single-bound-branch", name=bound.name, at=at, test=module.short_text(test), place=place)


def explain_unreached(start: ApiCall, tests: list[str]) -> Reason:
    """That no program was found, and what was looked for."""
    around = (at.name for at in start.module.ancestors(start.node) if isinstance(at, DEFS))
    name = next(iter([*around][::-1]), start.module.name)
    if tests:
        return Reason.of("single-test", name=name, tests=", ".join(tests[:3]))
    return Reason.of("single-library", name=name)


def explain_problems(problems: Iterable[Problem]) -> Reason:
    """All lines that a user has to touch, in order."""
    lines = sorted({(one.module.name, line_of(one.module, one.node)): one for one in problems}.items())
    return Reason.of("single-review", lines=", ".join(f"{name}:{line}" for (name, line), _ in lines))


def line_of(module: Module, node: ast.AST) -> int:
    """The line of a node, from 1."""
    return module.source.position(module.place(node).start)[0] if hasattr(node, "lineno") else 1


def place_of(module: Module, node: ast.AST) -> str:
    """``FILE:LINE`` of a node."""
    return f"{module.name}:{line_of(module, node)}"
