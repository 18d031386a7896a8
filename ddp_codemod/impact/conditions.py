"""What depends on a condition: which branch a value takes, and what a reader has to know where another value takes another branch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ddp_codemod.dataflow.blocks import list_following
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context

_LOOPBACK = ("localhost", "127.0.0.1", "::1")  # addresses of the machine itself, under which no other one finds it
Outcome = Callable[[ast.expr, str], "bool | None"]  # of a condition, for a value; None where that is open


class Consequence(Struct, frozen=True):
    """What a reader has to know, and what becomes of the program there."""

    reason: Reason
    breaks: bool = False  # it ends
    moves: bool = False  # it takes another device
    unsets: bool = False  # it chooses no device, or an address that other machines do not find


class Swap(Struct, frozen=True):
    """A backend's name before and after the edits."""

    old: str
    new: str
    group: bool = False  # the name is asked of a group that exists, not of the value that it was made with


def assess_choice(context: Context, module: Module, node: ast.IfExp, swap: Swap, outcome: Outcome) -> Consequence | None:
    """A ternary that picks a device by the name of the backend."""
    before, after = outcome(node.test, swap.old), outcome(node.test, swap.new)
    if before is None or after is None or before is after:
        return None
    old, new = (node.body, node.orelse) if before else (node.orelse, node.body)
    return _assess_devices(context, module, old, new, swap)


def assess_branches(context: Context, module: Module, node: ast.If, swap: Swap, outcome: Outcome) -> Consequence | None:
    """An ``if`` with its ``elif``s, of which the old and the new name take different ones."""
    tests, blocks = split_chain(node)
    before, after = (find_taken_branch(tests, value, outcome) for value in (swap.old, swap.new))
    if before == after:
        return None
    old, new = (blocks[index] if index < len(blocks) else [] for index in (before, after))
    if new and isinstance(new[-1], ast.Raise) and not (old and isinstance(old[-1], ast.Raise)):
        return Consequence(Reason.of("tied-raise", old=swap.old, new=swap.new), breaks=True)
    dropped = [call for call in _list_device_calls(context, module, old) if call not in _list_device_calls(context, module, new)]
    if dropped and not swap.group:
        return Consequence(Reason.of("tied-call", call=dropped[0], old=swap.old, new=swap.new), unsets=True)
    for name, value in iterate_assignments(old):
        for other, instead in iterate_assignments(new):
            if name != other:
                continue
            if (reason := _assess_devices(context, module, value, instead, swap)) is not None:
                return reason
            if _is_loopback(instead) and not _is_loopback(value):
                address = module.text(instead)
                return Consequence(
                    Reason.of("tied-address", name=name, address=address, old=swap.old, new=swap.new), unsets=not swap.group
                )
    if context.rules.backends[swap.new].specific and (beside := find_named_group(context, module, old)) not in (None, swap.new):
        if find_named_group(context, module, new or list_following(module, node)) is None:
            return Consequence(Reason.of("tied-group", backend=beside, old=swap.old, new=swap.new))
    nothing = not new and after == len(tests) and len(tests) > 1
    if nothing and context.rules.backends[swap.new].specific:
        return Consequence(Reason.of("tied-chain", new=swap.new))
    return None


def find_named_group(context: Context, module: Module, block: Sequence[ast.AST]) -> str | None:
    """The backend that a block names for a group of its own, ``dist.new_group(backend="gloo")``."""
    taking = {
        name
        for surface in context.rules.surfaces.values()
        if any(one.role == "backend" for one in surface.parameters)
        for name in surface.names
    }
    for call in (node for statement in block for node in ast.walk(statement) if isinstance(node, ast.Call)):
        given = [part.value for part in call.keywords if isinstance(part.value, ast.Constant)]
        named = [str(part.value) for part in given if part.value in context.rules.backends]
        if named and taking & set(context.tracer.resolver.names(module, call.func)):
            return named[0]
    return None


def assess_assertion(node: ast.Assert, swap: Swap, outcome: Outcome) -> Consequence | None:
    """An assertion that held for the old name and fails for the new one."""
    if outcome(node.test, swap.old) is not False and outcome(node.test, swap.new) is False:
        return Consequence(Reason.of("tied-assert", old=swap.old, new=swap.new), breaks=True)
    return None


def assess_answer(context: Context, module: Module, node: ast.Return, swap: Swap, outcome: Outcome) -> Consequence | None:
    """A function of the project that answers whether a group is of the old name, where the new one is an accelerator's own too."""
    function = next((at for at in module.ancestors(node) if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if function is None or node.value is None or not context.rules.backends[swap.new].specific:
        return None
    if outcome(node.value, swap.old) is False or outcome(node.value, swap.new) is not False:
        return None
    called = any(index_calls(other).get(function.name) for other in _find_calling_modules(context, function.name))
    return Consequence(Reason.of("tied-answer", name=function.name, old=swap.old, new=swap.new)) if called else None


def _find_calling_modules(context: Context, word: str) -> Iterator[Module]:
    project = context.tracer.resolver.project
    return (module for name in project.calling(word) if (module := project.module(name)) is not None)


def assess_table(node: ast.Dict, swap: Swap) -> Consequence | None:
    """A look-up in a table of backends that knows the old name and lacks the new one."""
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if len(keys) == len(node.keys) and swap.old in keys and swap.new not in keys:
        return Consequence(Reason.of("tied-table", new=swap.new), breaks=True)
    return None


def _assess_devices(context: Context, module: Module, old: ast.expr, new: ast.expr, swap: Swap) -> Consequence | None:
    before, after = device_of(context, module, old), device_of(context, module, new)
    if before is None or after is None or before == after:
        return None
    if swap.group and after in context.rules.backends[swap.new].devices:
        return None  # tensors for one collective, on a device that the new backend takes
    return Consequence(Reason.of("tied-device", old=swap.old, new=swap.new, before=before, after=after), moves=not swap.group)


def _is_loopback(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in _LOOPBACK


def device_of(context: Context, module: Module, node: ast.expr) -> str | None:
    """The device type that an expression stands for: ``"cuda"``, ``f"cuda:{rank}"``, ``torch.device("cpu")``."""
    if isinstance(node, ast.Call):
        names = context.tracer.resolver.names(module, node.func)
        for idioms in context.rules.idioms:
            for name in names:
                if name in idioms.device_functions:
                    return idioms.device_functions[name] or (device_of(context, module, node.args[0]) if node.args else None)
        return None
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        device = node.value.partition(":")[0]
        return device if device in context.tracer.device_types else None
    return None


def split_chain(node: ast.If) -> tuple[list[ast.expr], list[Sequence[ast.stmt]]]:
    """The tests of an ``if`` with its ``elif``s, and the blocks; the last block is that of ``else``."""
    tests, blocks = [node.test], [node.body]
    at = node
    while len(at.orelse) == 1 and isinstance(at.orelse[0], ast.If):
        at = at.orelse[0]
        tests.append(at.test)
        blocks.append(at.body)
    return tests, [*blocks, at.orelse]


def find_taken_branch(tests: Sequence[ast.expr], value: str, outcome: Outcome) -> int:
    """The first branch that a value may take."""
    return next((index for index, test in enumerate(tests) if outcome(test, value) is not False), len(tests))


def _list_device_calls(context: Context, module: Module, block: Sequence[ast.stmt]) -> list[str]:
    found: list[str] = []
    wanted = {name for idioms in context.rules.idioms for name in idioms.device_setters}
    last = {name.rsplit(".", 1)[-1] for name in wanted}
    for statement in block:
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and last_name(call.func) in last:
                if wanted & set(context.tracer.resolver.names(module, call.func)):
                    found.append(module.text(call.func))
    return found


def iterate_assignments(block: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in block:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            yield ast.unparse(statement.targets[0]), statement.value
