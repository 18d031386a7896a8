"""Samplers that ask the group for what they are not told: they are told."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.processes import Argument
from ddp_codemod.dataflow.calls import CallArguments, find_passed_argument
from ddp_codemod.model import Reason, Recipe
from ddp_codemod.single_process.api import passed_argument
from ddp_codemod.single_process.condition import Condition
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.model import ApiCall, SpanEdit
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


def rewrite_sampler(work: EntryRewriter, seen: ApiCall) -> None:
    """``DistributedSampler(data)`` gets the number of processes and the rank that it would ask the group for."""
    own = _find_own_initializer(work, seen)
    if own is not None and not {argument.name for argument in _find_asked_parameters(seen)} <= set(_parameter_names(own)):
        return  # what it hands to the sampler is in its own ``__init__``
    if any(keyword.arg is None for keyword in seen.node.keywords):
        work.problem(seen, "single-refused", text="**")
        return
    for argument, value in zip(_find_asked_parameters(seen), ("1", "0"), strict=True):
        if _find_argument(seen, argument, own) is None:
            text = _write_value(work, seen, value)
            if not text:
                return
            place = seen.module.place(seen.node)
            recipe = Recipe("add-keyword", (("name", argument.name), ("value", text)))
            reason = Reason.of("single-sampler", name=argument.name)
            work.found.span_edits.append(SpanEdit(seen.module, place.start, place.end, None, reason, recipe))


def _find_asked_parameters(seen: ApiCall) -> list[Argument]:
    """The parameters that a sampler asks the group for where they are omitted: the number of processes, and the rank."""
    return [argument for argument in (seen.call.world_size, seen.call.rank) if argument is not None]


def _find_own_initializer(work: EntryRewriter, seen: ApiCall) -> ast.FunctionDef | None:
    """The ``__init__`` of the class that is called, if it is one of the project's."""
    entity = work.api.derived(seen.module, seen.node)
    makers = work.api.resolver.member(entity, "__init__") if entity is not None else []
    found = (maker.node for maker in makers if isinstance(maker, Definition))
    return next((node for node in found if isinstance(node, ast.FunctionDef)), None)


def _parameter_names(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [part.arg for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _find_argument(seen: ApiCall, argument: Argument, own: ast.FunctionDef | None) -> ast.expr | None:
    if own is None:
        return passed_argument(seen.node, argument)
    handed = CallArguments(seen.module, seen.node, tuple(seen.node.args), tuple(seen.node.keywords))
    return find_passed_argument(handed, own, argument.name, True)


def _write_value(work: EntryRewriter, seen: ApiCall, value: str) -> str:
    """The number of processes, or the rank, as an expression that needs no group."""
    module, node = seen.module, seen.node
    test = work.conditions.at(module, node)
    if value == "1" and isinstance(test, Condition) and test.text.endswith(" > 1") and not test.span_edits:
        name = test.text.removesuffix(" > 1")
        if name.replace(".", "_").isidentifier():
            return name
    if value == "0" and (rank := _find_rank_name(work, seen) or work.conditions.counted(module, node, value)):
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


def _find_rank_name(work: EntryRewriter, seen: ApiCall) -> str:
    """The rank's own name, where the call is in the function that starts the group with it."""
    start = work.conditions.start
    rank = passed_argument(start.node, start.call.rank) if start is not None else None
    if start is None or not isinstance(rank, ast.Name) or seen.module is not start.module:
        return ""
    scope = scope_of(seen.module, seen.node)
    if scope is not scope_of(start.module, start.node):
        return ""
    home = owner_scope(seen.module, scope, rank.id)
    return rank.id if home is not None and len(bindings(seen.module, home).get(rank.id, ())) == 1 else ""
