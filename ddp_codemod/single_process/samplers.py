"""Samplers that ask the group for what they are not told: they are told."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.processes import Argument
from ddp_codemod.dataflow.calls import Given, given_argument
from ddp_codemod.model import Reason, Recipe
from ddp_codemod.single_process.api import given
from ddp_codemod.single_process.condition import Condition
from ddp_codemod.single_process.model import Piece, Seen
from ddp_codemod.single_process.work import Work
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, owner, scope_of


def sampler(work: Work, seen: Seen) -> None:
    """``DistributedSampler(data)`` gets the number of processes and the rank that it would ask the group for."""
    own = _own_init(work, seen)
    if own is not None and not {argument.name for argument in _asked(seen)} <= set(_parameters(own)):
        return  # what it hands to the sampler stands in its own ``__init__``
    if any(keyword.arg is None for keyword in seen.node.keywords):
        work.problem(seen, "single-refused", text="**")
        return
    for argument, value in zip(_asked(seen), ("1", "0"), strict=True):
        if _given(seen, argument, own) is None:
            text = _asked_value(work, seen, value)
            if not text:
                return
            place = seen.module.place(seen.node)
            recipe = Recipe("add-keyword", (("name", argument.name), ("value", text)))
            reason = Reason.of("single-sampler", name=argument.name)
            work.found.pieces.append(Piece(seen.module, place.start, place.end, None, reason, recipe))


def _asked(seen: Seen) -> list[Argument]:
    """The parameters that a sampler asks the group for where they are left out: the number of processes, and the rank."""
    return [argument for argument in (seen.call.world_size, seen.call.rank) if argument is not None]


def _own_init(work: Work, seen: Seen) -> ast.FunctionDef | None:
    """The ``__init__`` of the class that is called, if it is one of the project's."""
    entity = work.api.derived(seen.module, seen.node)
    makers = work.api.resolver.member(entity, "__init__") if entity is not None else []
    found = (maker.node for maker in makers if isinstance(maker, Definition))
    return next((node for node in found if isinstance(node, ast.FunctionDef)), None)


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _given(seen: Seen, argument: Argument, own: ast.FunctionDef | None) -> ast.expr | None:
    if own is None:
        return given(seen.node, argument)
    handed = Given(seen.module, seen.node, tuple(seen.node.args), tuple(seen.node.keywords))
    return given_argument(handed, own, argument.name, True)


def _asked_value(work: Work, seen: Seen, value: str) -> str:
    """The number of processes, or the rank, as an expression that needs no group."""
    module, node = seen.module, seen.node
    test = work.conditions.at(module, node)
    if value == "1" and isinstance(test, Condition) and test.text.endswith(" > 1") and not test.pieces:
        name = test.text.removesuffix(" > 1")
        if name.replace(".", "_").isidentifier():
            return name
    if value == "0" and (rank := _rank(work, seen) or work.conditions.counted(module, node, value)):
        return rank
    asked = work.conditions.asked(module, node)
    text = work.text(seen, asked)
    if not text:
        return ""
    question = next(
        name for table in work.api.tables for call in table.call if call.value == value for name in call.names[:1]
    ).rsplit(".", 1)[-1]
    found = work.conditions.package(module, node)
    head = found.text if isinstance(found, Condition) else ""
    if not head:
        package = work.api.table.asked.rpartition(".")[0]
        needed = work.text(seen, work.conditions.imported(module, package, node, question))
        return f"{needed}() if {text} else {value}" if needed else ""
    return f"{head}{question}() if {text} else {value}"


def _rank(work: Work, seen: Seen) -> str:
    """The rank's own name, where the call stands in the function that starts the group with it."""
    start = work.conditions.start
    rank = given(start.node, start.call.rank) if start is not None else None
    if start is None or not isinstance(rank, ast.Name) or seen.module is not start.module:
        return ""
    scope = scope_of(seen.module, seen.node)
    if scope is not scope_of(start.module, start.node):
        return ""
    home = owner(seen.module, scope, rank.id)
    return rank.id if home is not None and len(bindings(seen.module, home).get(rank.id, ())) == 1 else ""
