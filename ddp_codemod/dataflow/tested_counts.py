"""How a program tests a number that a call gives: for none at all, or for more than one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import takewhile

from msgspec import Struct

from ddp_codemod.dataflow.demands import sources
from ddp_codemod.dataflow.fold import COMPARISONS
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.scopes import owner_scope, scope_of

_SHOWS = frozenset({"print", "debug", "info", "warning", "warn", "error", "format"})


class Counts(Struct, frozen=True):
    """The calls that count devices, where an edit makes the launcher's number of processes out of none."""

    names: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()  # what the number goes to then
    takers: frozenset[str] = frozenset()  # or what is called with it, or once for each
    tested: frozenset[str] = frozenset()  # how it is tested then

    def open(self, module: Module, call: ast.Call) -> bool:
        """Whether a call of one of the names is edited so: then it decides no condition."""
        return goes_to(module, call, self.within, self.takers) and (tested(module, call) or "no") in self.tested


NO_COUNTS = Counts()


def goes_to(module: Module, call: ast.Call, names: Iterable[str], takers: Iterable[str] = ()) -> bool:
    """Whether a result becomes a variable, a key or a parameter of one of the names, or what one of ``takers`` is called with.

    Also after some arithmetic, and by way of one more variable.
    """
    wanted, calls = frozenset(names), frozenset(name.rpartition(".")[2] for name in takers)
    return _is_taken(module, call, wanted, calls) or any(_is_taken(module, use, wanted, calls) for use in _uses(module, call))


def _is_taken(module: Module, number: ast.AST, wanted: frozenset[str], calls: frozenset[str]) -> bool:
    """Whether a number goes to one of the names, to a call, or to a loop that makes such calls."""
    above = [number, *takewhile(lambda at: isinstance(at, (ast.BinOp, ast.Tuple, ast.List)), module.ancestors(number))]
    at = module.parents.get(above[-1])
    plain = not any(isinstance(one, (ast.Tuple, ast.List)) for one in above)
    if isinstance(at, ast.Assign):
        return plain and any(last_name(target) in wanted for target in at.targets)
    if isinstance(at, (ast.AnnAssign, ast.NamedExpr)):
        return plain and last_name(at.target) in wanted
    if isinstance(at, ast.keyword):
        if plain and at.arg in wanted:
            return True
        at = module.parents.get(at)
    if not isinstance(at, ast.Call) or number is at.func:
        return False
    if last_name(at.func) in calls:
        return True
    loop = module.parents.get(at)
    if last_name(at.func) != "range" or not isinstance(loop, (ast.For, ast.comprehension)):
        return False
    around = loop if isinstance(loop, ast.For) else module.parents[loop]
    return any(isinstance(part, ast.Call) and last_name(part.func) in calls for part in walk(around))


def tested(module: Module, call: ast.Call) -> str:
    """ "none" where some code runs for 0 alone, "several" where some does for more than 1, "mended" where 0 becomes another number.

    "" where the number goes to no name, or no test of it is seen. A test that ends the program for 0 asks for a device, nothing else;
    where the number is only tested, shown, or made 1 at least where it is used, 0 is minded.
    """
    found: set[str] = set()
    minds = True  # whether every use can do with 0
    for use in _uses(module, call):
        test, told = _outcomes(module, use)
        minds &= len(set(told)) > 1 or _does_with_none(module, use)
        if told[0] != told[1] and told[1] == told[2]:
            found.add(_for_none(module, use, test, told[0]))
        if told[1] != told[2]:
            found.add("several")
    if minds and "none" in found:
        return "mended"
    return next((one for one in ("mended", "none", "several") if one in found), "")


def _uses(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """The places that read the name or attribute that the number goes to."""
    at: ast.AST | None = module.parents.get(call)
    while isinstance(at, ast.BinOp):
        at = module.parents.get(at)
    targets = at.targets if isinstance(at, ast.Assign) else [at.target] if isinstance(at, (ast.AnnAssign, ast.NamedExpr)) else []
    for target in targets:
        if isinstance(target, ast.Name):
            home = owner_scope(module, scope_of(module, target), target.id)
            for node in module.nodes.get(ast.Name, ()):
                if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load):
                    if owner_scope(module, scope_of(module, node), node.id) is home:
                        yield node
        elif isinstance(target, ast.Attribute):
            text = ast.unparse(target)
            for node in module.nodes.get(ast.Attribute, ()):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node) == text:
                    yield node


def _outcomes(module: Module, use: ast.expr) -> tuple[ast.AST, tuple[bool, bool, bool]]:
    """The test around a use, and what it comes to for 0, 1 and 2: the same for all where there is none."""
    above = module.parents.get(use)
    if isinstance(above, ast.Compare) and len(above.ops) == 1:
        other = above.comparators[0] if above.left is use else above.left
        compare = COMPARISONS.get(type(above.ops[0]))
        if isinstance(other, ast.Constant) and type(other.value) is int and compare is not None:
            pairs = [(number, other.value) if above.left is use else (other.value, number) for number in (0, 1, 2)]
            none, one, two = (bool(compare(left, right)) for left, right in pairs)
            return above, (none, one, two)
    if isinstance(above, ast.BoolOp) or (isinstance(above, (ast.If, ast.IfExp, ast.While, ast.Assert)) and above.test is use):
        return use, (False, True, True)
    if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
        return above, (True, False, False)
    return use, (False, False, False)


def _does_with_none(module: Module, use: ast.expr) -> bool:
    """Whether a use is shown to people, or part of ``max(1, n)``."""
    above = module.parents.get(use)
    if isinstance(above, ast.Call) and last_name(above.func) == "max" and len(above.args) == 2:
        return any(isinstance(one, ast.Constant) and type(one.value) is int and one.value > 0 for one in above.args)
    return isinstance(above, (ast.FormattedValue, ast.Call)) and (
        isinstance(above, ast.FormattedValue) or last_name(above.func) in _SHOWS
    )


def _for_none(module: Module, use: ast.expr, test: ast.AST, holds: bool) -> str:
    """What a test does with 0, for which it holds or does not: "mended", "none", or "" where it ends the program."""
    above = module.parents.get(test)
    if isinstance(above, ast.Assert):
        return ""
    if not isinstance(above, ast.If) or above.test is not test:
        return "none"
    branch = above.body if holds else above.orelse
    text = ast.unparse(use)
    stores = (part for one in branch for part in walk(one) if isinstance(part, (ast.Name, ast.Attribute)))
    if any(isinstance(part.ctx, ast.Store) and ast.unparse(part) == text for part in stores):
        return "mended"
    if not branch:
        return "" if holds else "none"
    return "" if sources(branch[-1]) else "none"
