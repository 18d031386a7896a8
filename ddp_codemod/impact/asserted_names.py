"""Assertions of a project's tests that fail for the new name: ``assertEqual(pick(), "nccl")``, ``init.assert_called_with("nccl")``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.impact.backend_names import read_backend_name
from ddp_codemod.impact.conditions import Consequence, Swap
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context

_ASSERTS = "assert"  # what the names of the methods begin with
_EQUAL = frozenset({"assertEqual", "assertEquals", "assert_equal"})
_CALLS = frozenset({"assert_any_call", "assert_called_once_with", "assert_called_with"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_failing_tests(
    context: Context, module: Module, swaps: Iterable[Swap], of: Callable[[Module, ast.expr], Swap | None]
) -> Iterator[tuple[ast.AST, Consequence]]:
    """The assertions of a file of tests that ask for an old name where the new one is now; ``of`` says what becomes of a value."""
    if not is_test(module.name):
        return
    table = index_calls(module)
    for call in (call for word in sorted(table) if word.startswith(_ASSERTS) for call in table[word]):
        passed = [*call.args, *(part.value for part in call.keywords)]
        swap = next((swap for one in passed if (swap := _find_swap(context, module, swaps, one)) is not None), None)
        if swap is None:
            continue
        known = last_name(call.func) in _EQUAL and any(of(module, one) == swap for one in call.args[:2])
        if known or (last_name(call.func) in (*_EQUAL, *_CALLS) and _is_about_call(context, module, call, swap)):
            yield call, _make_consequence(swap)
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        if isinstance(module.parents.get(compare), ast.Assert) and isinstance(compare.ops[0], ast.Eq):
            for one in (compare.left, compare.comparators[0]):
                swap = _find_swap(context, module, swaps, one)
                if swap is not None and _is_about_call(context, module, compare, swap):
                    yield compare, _make_consequence(swap)


def _find_swap(context: Context, module: Module, swaps: Iterable[Swap], node: ast.expr) -> Swap | None:
    """What becomes of the name that an assertion asks for."""
    name = read_backend_name(context, module, node)
    return next((swap for swap in swaps if swap.old == name), None)


def _is_about_call(context: Context, module: Module, node: ast.AST, swap: Swap) -> bool:
    """Whether an assertion is in a test that puts something in the place of what makes a group, and passes no name itself."""
    test = next((at for at in [*module.ancestors(node)][::-1] if isinstance(at, (*_FUNCTIONS, ast.ClassDef))), None)
    function = next((at for at in module.ancestors(node) if isinstance(at, _FUNCTIONS)), None)
    if test is None or function is None:
        return False
    makers = {name.rpartition(".")[2] for surface in context.rules.surfaces.values() for name in surface.names}
    texts = (part.value for part in walk(test) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    if not any(text.rpartition(".")[2] in makers for text in texts):
        return False
    named = [part for part in walk(function) if isinstance(part, ast.expr) and _find_swap(context, module, [swap], part)]
    return all(_is_asserted(module, part) for part in named)


def _is_asserted(module: Module, node: ast.AST) -> bool:
    return any(
        isinstance(at, ast.Assert) or (isinstance(at, ast.Call) and last_name(at.func).startswith(_ASSERTS))
        for at in module.ancestors(node)
    )


def _make_consequence(swap: Swap) -> Consequence:
    return Consequence(Reason.of("tied-assert", old=swap.old, new=swap.new), breaks=True)
