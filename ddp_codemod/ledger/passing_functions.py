"""The functions of a project through which the backend of a group passes: a text may call them by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.model import Decision, Edit, Place
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def list_passing_functions(context: Context, decisions: Iterable[Decision], edits: Iterable[Edit]) -> set[str]:
    """The names of functions and classes around calls that make groups, and of those that hand such a call its backend.

    A call that takes no wrong name any more, because it is changed itself, does not count.
    """
    changed: dict[str, list[tuple[int, int]]] = {}
    for edit in edits:
        changed.setdefault(edit.name, []).append((edit.start, edit.end))
    found: set[str] = set()
    for one in decisions:
        surface = context.rules.surfaces.get(one.surface)
        roles = {part.role for part in surface.parameters if part.name == one.parameter} if surface is not None else set()
        there = changed.get(one.place.name, ())
        if roles != {"backend"} or any(start <= one.place.end and one.place.start <= end for start, end in there):
            continue
        steps = (step.place for origin in one.origins for step in origin.steps)
        for place in {one.place, *(origin.place for origin in one.origins), *(step.place for step in one.steps), *steps}:
            found.update(_name_functions_around(context, place))
    return found


def _name_functions_around(context: Context, place: Place) -> Iterator[str]:
    """The names of the functions that hold a place; of a class for what makes its objects."""
    project = context.tracer.resolver.project
    module = project.module(place.name) if place.name in project.names else None
    if not isinstance(module, Module):
        return
    for kind in _FUNCTIONS:
        for node in module.nodes.get(kind, ()):
            around = module.place(node)
            if around.start <= place.start and place.end <= around.end and isinstance(node, _FUNCTIONS):
                home = module.parents.get(node)
                yield home.name if node.name == "__init__" and isinstance(home, ast.ClassDef) else node.name
