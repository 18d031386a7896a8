"""What a condition on the name of a group's backend decides, once the group has another name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from ddp_codemod.dataflow.branches import list_pattern_constants
from ddp_codemod.dataflow.def_use import find_reads
from ddp_codemod.dataflow.values import Value
from ddp_codemod.impact import conditions
from ddp_codemod.impact.backend_names import read_backend_name
from ddp_codemod.impact.conditions import Consequence, Outcome, Swap
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context

_STEPS = 3  # calls that pass a device on, ``torch.zeros(1, device=torch.device(name))``


class Asked(Struct, frozen=True, eq=False):
    """A condition, and what it gives for the old and the new name."""

    module: Module
    test: ast.expr
    swap: Swap
    outcome: Outcome
    strict: bool  # code that was written for the new name too: only devices say that it is meant for another one
    handed: bool  # code that was written for groups of any name
    direct: bool  # the name itself is asked, not an answer that was kept
    say: Callable[[], Consequence]


def is_test(around: ast.AST | None, node: ast.expr) -> bool:
    """Whether an expression is what a statement, or a conditional expression, decides by."""
    if isinstance(around, (ast.If, ast.IfExp, ast.Assert, ast.While)):
        return around.test is node
    if isinstance(around, ast.Match):
        return around.subject is node
    return isinstance(around, ast.comprehension) and node in around.ifs


def assess_test(context: Context, asked: Asked, around: ast.AST) -> Consequence | None:
    """What becomes of a statement, or a conditional expression, that decides by the name."""
    if isinstance(around, ast.Assert):
        return conditions.assess_assertion(around, asked.swap, asked.outcome)
    if isinstance(around, ast.Match):
        return _assess_match(context, asked, around)
    if isinstance(around, ast.If):
        return _assess_branches(context, asked, _find_first_of_chain(asked.module, around))
    answers = [asked.outcome(asked.test, value) for value in (asked.swap.old, asked.swap.new)]
    if answers[1] is None or answers[0] is answers[1]:
        return None
    if isinstance(around, ast.IfExp):
        return _assess_choice(context, asked, around, answers[1])
    return None if asked.strict or asked.handed else asked.say()


def _assess_choice(context: Context, asked: Asked, node: ast.IfExp, after: bool) -> Consequence | None:
    module = asked.module
    old, new = (node.orelse, node.body) if after else (node.body, node.orelse)
    if asked.outcome(node.test, asked.swap.old) is None:
        return None  # the device may not be there, and then the other one was taken before too
    if any(is_group_call(context, module, part) for part in (module.parents.get(node), old)):
        return None
    around = module.parents.get(node)
    if isinstance(around, ast.keyword) and is_group_call(context, module, module.parents.get(around)):
        return None
    found = conditions.assess_choice(context, module, node, asked.swap, asked.outcome)
    if found is not None:
        return found
    devices = [conditions.device_of(context, module, part) for part in (old, new)]
    if devices[0] is not None and devices[0] != devices[1]:
        quiet = asked.strict or asked.handed
        return None if quiet and is_for_collectives(context, module, node, any if asked.handed else all) else asked.say()
    if asked.handed or (asked.strict and not _is_plain_choice(old, new)):
        return None
    return None if ast.dump(old) == ast.dump(new) else asked.say()


def _assess_branches(context: Context, asked: Asked, node: ast.If) -> Consequence | None:
    module, swap = asked.module, asked.swap
    found = conditions.assess_branches(context, module, node, swap, asked.outcome) if asked.direct else None
    if found is not None:
        return found
    tests, blocks = conditions.split_chain(node)
    before, after = (conditions.find_taken_branch(tests, value, asked.outcome) for value in (swap.old, swap.new))
    if before == after:
        return None
    old, new = (blocks[index] if index < len(blocks) else [] for index in (before, after))
    return _assess_blocks(context, asked, old, new)


def _assess_match(context: Context, asked: Asked, node: ast.Match) -> Consequence | None:
    blocks = [_find_case(context, asked, node, value) for value in (asked.swap.old, asked.swap.new)]
    if blocks[0] is None or blocks[1] is None or blocks[0] is blocks[1]:
        return None
    return _assess_blocks(context, asked, blocks[0], blocks[1])


def _find_case(context: Context, asked: Asked, node: ast.Match, value: str) -> Sequence[ast.stmt] | None:
    """The statements that run for a value; None where that is open."""
    for case in node.cases:
        constants = list_pattern_constants(case.pattern)
        if constants is None or case.guard is not None:
            return None
        texts = [read_backend_name(context, asked.module, one) or getattr(one, "value", None) for one in constants]
        if not constants or asked.outcome(asked.test, value) in texts or value in texts:
            return case.body
    return []


def _assess_blocks(context: Context, asked: Asked, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> Consequence | None:
    if all(_is_idle(context, asked.module, part) for part in (*old, *new)):
        return None
    if conditions.find_named_group(context, asked.module, old) == asked.swap.new:
        return None  # a group of the new name beside the default one
    quiet = asked.handed or (asked.strict and not _drops_device(context, asked.module, old, new))
    return None if quiet else asked.say()


def _drops_device(context: Context, module: Module, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> bool:
    """Whether statements that do not run any more were about a device, beside what they prepare for collectives."""
    kept = {ast.dump(one) for one in new}
    for statement in (one for part in old for one in _flatten(part)):
        parts = [part for part in walk(statement) if isinstance(part, ast.expr)]
        if ast.dump(statement) in kept or not any(_is_device(context, part) for part in parts):
            continue
        if any(is_group_call(context, module, part) for part in parts):
            continue
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.Return)) and isinstance(value, ast.expr):
            if is_for_collectives(context, module, value):
                continue
        return True
    return False


def _flatten(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of an ``if``, at any depth; another statement itself."""
    if isinstance(statement, ast.If):
        yield from (one for part in (*statement.body, *statement.orelse) for one in _flatten(part))
    else:
        yield statement


def _is_device(context: Context, node: ast.expr) -> bool:
    types = {device for one in context.rules.backends.values() if one.specific or one.usual for device in one.devices}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.partition(":")[0] in types
    return isinstance(node, ast.Attribute) and node.attr in types


def _is_plain_choice(old: ast.expr, new: ast.expr) -> bool:
    return isinstance(old, ast.Constant) and isinstance(new, ast.Constant)


def _is_idle(context: Context, module: Module, statement: ast.stmt) -> bool:
    """Whether a statement only shows something, or is a collective that has no result."""
    shows = {name for idioms in context.rules.idioms for name in idioms.shows}
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(call, ast.Constant))
    return last_name(call.func) in shows or is_group_call(context, module, call)


def is_group_call(context: Context, module: Module, node: ast.AST | None) -> bool:
    """Whether a call is of the package that makes groups: of a collective, or of one that makes a group."""
    if not isinstance(node, ast.Call):
        return False
    packages = {name.rpartition(".")[0] for idioms in context.rules.idioms for name in idioms.backend_enums}
    return any(name.rpartition(".")[0] in packages for name in context.tracer.resolver.names(module, node.func))


def is_for_collectives(context: Context, module: Module, node: ast.expr, which: Callable[[Iterable[bool]], bool] = all) -> bool:
    """Whether a device is that of tensors which collectives take, in all calls that take it or in any, or of none."""
    taking = [*_list_taking_calls(context, module, node)]
    return not taking or which(_reaches_collective(context, home, call, _STEPS) for home, call in taking)


def _reaches_collective(context: Context, module: Module, call: ast.Call, steps: int) -> bool:
    if is_group_call(context, module, call):
        return True
    taking = [*_list_taking_calls(context, module, call)] if steps else []
    return any(_reaches_collective(context, home, one, steps - 1) for home, one in taking)


def _list_taking_calls(context: Context, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that are passed what an expression gives."""
    for read in find_reads(context.tracer, Value(module, node, OriginKind.OBJECT)):
        around = read.module.parents.get(read.node)
        if isinstance(around, (ast.keyword, ast.Starred)):
            around = read.module.parents.get(around)
        if isinstance(around, ast.Call) and around.func is not read.node:
            yield read.module, around


def _find_first_of_chain(module: Module, node: ast.If) -> ast.If:
    above = module.parents.get(node)
    while isinstance(above, ast.If) and above.orelse == [node]:
        node, above = above, module.parents.get(above)
    return node
