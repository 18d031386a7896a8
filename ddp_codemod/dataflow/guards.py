"""What the code around a place rules out: None behind ``if x is None: x = ...``, and in ``if x is not None: start(x)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.dataflow.branches import find_branch
from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult, Known, fold, truth
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.scopes import FUNCTIONS, Binding, assignment_pairs


def make_exclusion_test(
    module: Module, node: ast.Name, held: Sequence[Binding], definitions: Callable[[ast.Name], Sequence[Binding]]
) -> Callable[[Known], bool]:
    """Tells whether a value does not get where a name is read, since conditions there ask what the same bindings hold.

    ``definitions`` gives the bindings that a name of the module can hold.
    """
    tests = [
        (test, wanted)
        for test, wanted in _list_conditions_around(module, node)
        if (asked := [part for part in ast.walk(test) if isinstance(part, ast.Name) and part.id == node.id])
        and all([*definitions(part)] == [*held] for part in asked)  # a name that is set in between is another one
    ]

    def is_kept_out(value: Known) -> bool:
        def look(part: ast.expr) -> FoldResult:
            return value if isinstance(part, ast.Name) and part.id == node.id else UNKNOWN

        return any(truth(fold(test, look)) is (not wanted) for test, wanted in tests)

    return is_kept_out


def _list_conditions_around(module: Module, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions that a place is under in its function, and what they come to there."""
    below = node
    for around in module.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and (branch := find_branch(around, below)) is not None:
            yield around.test, branch
        for block in (getattr(around, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and (traces := _list_early_exits(module, block)) and below in block:
                at = block.index(below)
                yield from ((test, False) for before, test in traces if before < at)
        if isinstance(around, FUNCTIONS):
            return
        below = around


def _list_early_exits(module: Module, block: list[ast.stmt]) -> list[tuple[int, ast.expr]]:
    """The conditions under which a block is left half-way, and where they are asked: ``if x is None: return``."""
    key = ("ways-out", id(block))
    if key not in module.cache:
        conditions = ((at, one) for at, one in enumerate(block) if isinstance(one, ast.If) and not one.orelse)
        left = (ast.Raise, ast.Return, ast.Continue, ast.Break)
        module.cache[key] = [(at, one.test) for at, one in conditions if isinstance(one.body[-1], left)]
    return module.cache[key]  # type: ignore[return-value]


def find_none_guard(module: Module, binding: Binding) -> ast.If | None:
    """The ``if`` that asks a name, or an attribute, for None and gives it a value whatever happens, which an assignment is in."""
    below: ast.AST = binding.node
    for around in module.ancestors(binding.node) if binding.kind == "value" else ():
        if isinstance(around, FUNCTIONS):
            return None
        if isinstance(around, ast.If) and below in around.body and _is_none_test(around.test, binding.name):
            return around if _is_always_set(around.body, binding.name) else None
        below = around
    return None


def _is_always_set(block: list[ast.stmt], name: str) -> bool:
    """Whether a name has a value, and not None, behind a block, or the block is left."""
    for statement in block:
        for target, value in assignment_pairs(statement):
            if ast.unparse(target) == name:
                return not (isinstance(value, ast.Constant) and value.value is None)
        if isinstance(statement, (ast.Raise, ast.Return, ast.Continue, ast.Break)):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if _is_always_set(statement.body, name) and _is_always_set(statement.orelse, name):
                return True
    return False


def _is_none_test(test: ast.expr, name: str) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.unparse(test.operand) == name
    if not isinstance(test, ast.Compare) or ast.unparse(test.left) != name:
        return False
    right = test.comparators[0]
    return isinstance(test.ops[0], (ast.Is, ast.Eq)) and isinstance(right, ast.Constant) and right.value is None
