"""Attributes that only a launcher's branch sets: ``args.rank`` is missing where a program is started without one, and is read all the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.enclosing_tests import LEAVES
from ddp_codemod.single_process.existing_guards import ExistingGuards
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall, Problem, SpanEdit
from ddp_codemod.single_process.object_exposure import always_runs, is_exposed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKES = frozenset({"Namespace", "SimpleNamespace", "dict", "set_defaults", "update"})  # calls whose keywords become attributes
_Parts = Iterable[tuple[Module, ast.AST]]


def default_launcher_attributes(
    api: Api, guards: Guards, history: ExistingGuards, start: ApiCall, parts: _Parts
) -> list[SpanEdit | Problem]:
    """``args.rank = 0`` in the last branch of the function that makes the group, where its other branches read it from the environment.

    Only what nothing else of the program declares, sets or asks for by name, and what code outside that runs without a group reads.
    Where what runs today would show one attribute more, a line for review.
    """
    module = start.module
    function = next((at for at in module.ancestors(start.node) if isinstance(at, _FUNCTIONS)), None)
    found: list[SpanEdit | Problem] = []
    for node in function.body if function is not None else ():
        if isinstance(node, ast.If):
            branches, last = _split_branches(node)
            given = _find_launcher_attributes(api, module, branches)
            missing = {name: value for name, value in given.items() if last and not _stores_attribute(last, *name)}
            for (holder, name), value in missing.items():
                assert function is not None
                every = list(parts)
                read = _find_reads(guards, history, module, function, node, (holder, name), last, every)
                reason = Reason.of("single-attribute", name=f"{holder}.{name}", value=value)
                if read and is_exposed(api, holder, every) and not any(always_runs(*one, function.name) for one in read):
                    found.append(Problem(*read[0], reason))
                elif read:
                    at = module.place(last[-1]).start
                    written = f'{holder}.{name} = getattr({holder}, "{name}", {value})'
                    found.append(SpanEdit(module, at, at, f"{written}\n{' ' * last[-1].col_offset}", reason))
    return found


def _split_branches(node: ast.If) -> tuple[list[list[ast.stmt]], list[ast.stmt]]:
    """The branches of an ``if`` that have a test, and the last one, which has none; [] where it is not there."""
    tested = [node.body]
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
        tested.append(node.body)
    one_line = bool(node.orelse) and node.orelse[-1].lineno == node.orelse[0].lineno and len(node.orelse) > 1
    return tested, [] if one_line else node.orelse


def _find_launcher_attributes(api: Api, module: Module, branches: Iterable[list[ast.stmt]]) -> dict[tuple[str, str], str]:
    """The attributes that a branch takes from what a launcher sets, and what they are in one process."""
    found: dict[tuple[str, str], str] = {}
    for branch in branches:
        for node in branch:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Attribute):
                value = _default_of_one_process(api, module, node.value)
                if isinstance(target.value, ast.Name) and value is not None:
                    found.setdefault((target.value.id, target.attr), value)
    return found


def _default_of_one_process(api: Api, module: Module, node: ast.expr) -> str | None:
    """``int(os.environ["RANK"])``: 0."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1):
        return None
    asked = node.args[0]
    key: ast.expr | None = None
    if isinstance(asked, ast.Subscript) and "os.environ" in api.resolver.names(module, asked.value):
        key = asked.slice
    elif (
        isinstance(asked, ast.Call)
        and asked.args
        and {"os.environ.get", "os.getenv"} & set(api.resolver.names(module, asked.func))
    ):
        key = asked.args[0]
    return api.environment.get(key.value) if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def _stores_attribute(branch: Iterable[ast.stmt], holder: str, name: str) -> bool:
    attributes = (node for part in branch for node in walk(part) if isinstance(node, ast.Attribute))
    return any(node.attr == name and isinstance(node.ctx, ast.Store) for node in attributes if _object_name(node) == holder)


def _object_name(node: ast.Attribute) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _find_reads(
    guards: Guards,
    history: ExistingGuards,
    module: Module,
    function: ast.AST,
    chain: ast.If,
    wanted: tuple[str, str],
    last: list[ast.stmt],
    parts: list[tuple[Module, ast.AST]],
) -> list[tuple[Module, ast.Attribute]]:
    """What reads it where no group was made; [] where something else gives or probes it."""
    holder, name = wanted
    inside = set(walk(function if isinstance(last[-1], LEAVES) else chain))
    read: list[tuple[Module, ast.Attribute]] = []
    for other, part in parts:
        for node in walk(part):
            if other is module and node in inside:
                continue
            if any(_is_spelling_of(text, name) for text in _find_attribute_names(other, node)):
                return []
            if isinstance(node, ast.Attribute) and node.attr == name and _object_name(node):
                if not isinstance(node.ctx, ast.Load):
                    return []
                if _object_name(node) == holder and history.condition(other, node) is None and not guards.guarded(other, node):
                    read.append((other, node))
    return read


def _find_attribute_names(module: Module, node: ast.AST) -> Iterator[str]:
    """The names by which a node can declare an attribute or ask for it: texts, keywords that become attributes, fields of classes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Call) and last_name(node.func) in _MAKES:
        yield from (keyword.arg for keyword in node.keywords if keyword.arg)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        statement = module.parents.get(node)
        if statement is not None and isinstance(module.parents.get(statement), ast.ClassDef):
            yield node.id


def _is_spelling_of(text: str, name: str) -> bool:
    return text.lstrip("-").replace("-", "_") == name
