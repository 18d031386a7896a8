"""Checks for a device that an edit opens: their answer decides no condition, so that what is behind them is ported, too."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from ddp_codemod.dataflow.demands import sources
from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult, Known
from ddp_codemod.dataflow.gates import NO_GATES, Gates
from ddp_codemod.dataflow.tested_counts import NO_COUNTS, Counts, goes_to
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.scopes import scope_of

SAYS = frozenset({"print", "error", "critical", "warning", "warn", "info", "debug", "log"})


class OpenedGates(Struct, frozen=True):
    """What asks for a device, and what the code behind such a check does where an edit opens it."""

    makers: frozenset[str] = frozenset()  # ask whether the device is there
    wrappers: frozenset[str] = frozenset()  # keep the ranks in step
    groups: Gates = Gates()
    counts: Counts = NO_COUNTS  # of devices, which become the number of processes
    starters: frozenset[str] = frozenset()  # start so many processes
    harmless: frozenset[str] = frozenset()  # functions of the device that do nothing without one

    def find(self, resolver: Resolver, module: Module, call: ast.Call) -> str:
        """Which edit opens the check that a call is, if any.

        "required": the program trains behind it, and only says that there is no device elsewhere; "wrapped": the model is wrapped
        behind it, and not where there is no device; "counted": it counts the processes behind it, and starts one elsewhere.
        """
        statement, opposite = _find_checked(module, call)
        if statement is None or is_test(module.name):
            return ""
        behind, other = (statement.orelse, statement.body) if opposite else (statement.body, statement.orelse)
        if not behind:
            return ""
        if not opposite and is_only_said(other) and not is_only_said(behind):
            if self.groups.has_group_use(resolver, module, behind) or self._is_called(resolver, module, behind, self.starters):
                return "required"
        if self._is_wrapped_behind(resolver, module, behind, other, opposite):
            return "wrapped"
        return "counted" if not opposite and self._is_counted_behind(resolver, module, behind, other) else ""

    def _is_wrapped_behind(
        self, resolver: Resolver, module: Module, behind: list[ast.stmt], other: list[ast.stmt], opposite: bool
    ) -> bool:
        """Whether a model is wrapped in one branch alone, among more than that, by the ranks of a group of the file."""
        if other and not is_only_said(other):
            return False
        if not self._is_called(resolver, module, behind, self.wrappers):
            return False
        if not opposite and all(isinstance(one, ast.Assign) for one in behind):
            return False  # nothing else is behind the check
        inside, scope = {part for one in behind for part in walk(one)}, scope_of(module, behind[0])
        made = list(_list_calls_of(resolver, module, self.groups.makers))
        wrapped = (call for call in _list_calls_of(resolver, module, self.wrappers) if scope_of(module, call) is scope)
        return bool(made) and inside.isdisjoint(made) and inside.issuperset(wrapped)

    def _is_counted_behind(self, resolver: Resolver, module: Module, behind: list[ast.stmt], other: list[ast.stmt]) -> bool:
        targets = {text for one in behind for text in self.list_counted(resolver, module, one)}
        if not targets or not all(is_only_said([one]) or is_one(one, targets) for one in other):
            return False
        return self.is_started(resolver, module, targets) and self._is_harmless(resolver, module, behind)

    def list_counted(self, resolver: Resolver, module: Module, statement: ast.stmt) -> Iterator[str]:
        """The names and attributes that a statement gives the number of devices."""
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            call = statement.value
            if self.counts.names & set(resolver.names(module, call.func)) and goes_to(
                module, call, self.counts.within, self.counts.takers
            ):
                yield from map(ast.unparse, statement.targets)

    def is_started(self, resolver: Resolver, module: Module, targets: Collection[str]) -> bool:
        """Whether a call that starts processes is passed one of the numbers."""
        return any(
            isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) in targets
            for call in _list_calls_of(resolver, module, self.starters)
            for part in walk(call)
        )

    def _is_called(self, resolver: Resolver, module: Module, nodes: Iterable[ast.AST], names: frozenset[str]) -> bool:
        calls = (part for node in nodes for part in walk(node) if isinstance(part, ast.Call))
        return any(not names.isdisjoint(resolver.names(module, call.func)) for call in calls)

    def _is_harmless(self, resolver: Resolver, module: Module, statements: Iterable[ast.AST]) -> bool:
        """Whether code does nothing with a device but to count, and what can be done without one."""
        known = self.harmless | self.counts.names | self.makers
        roots = {name.rpartition(".")[0] for name in self.counts.names}
        for part in (part for one in statements for part in walk(one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                above = module.parents.get(part)
                if any(part.value.startswith(root.rpartition(".")[2]) for root in roots) and not isinstance(above, ast.Compare):
                    return False
            if isinstance(part, ast.Attribute) and any(part.attr == root.rpartition(".")[2] for root in roots):
                used = module.parents.get(part)
                if not isinstance(used, ast.Attribute) or known.isdisjoint(resolver.names(module, used)):
                    return False
        return True


NOTHING_OPENED = OpenedGates()


class EditedConditions(Struct, frozen=True):
    """The conditions that edits take out of a program or answer otherwise."""

    # functions that ask for a device: a statement which ends the program for want of one counts as gone
    demanded: frozenset[str] = frozenset()
    gates: Gates = NO_GATES  # a no makes code do without its group: there the answer is yes
    counts: Counts = NO_COUNTS  # become the launcher's number of processes where there are no devices, and decide no condition
    opened: OpenedGates = NOTHING_OPENED  # checks for a device that are opened, and decide no condition either

    def answer(self, resolver: Resolver, module: Module, name: str, call: ast.Call | None) -> FoldResult | None:
        """What a call of a function comes to in the edited code; None where it is not edited."""
        if call is None:
            return None
        if name in self.gates.names and self.gates.holds(resolver, module, call):
            return Known(True)
        if name in self.opened.makers and self.opened.find(resolver, module, call):
            return UNKNOWN
        return UNKNOWN if name in self.counts.names and self.counts.open(module, call) else None


AS_WRITTEN = EditedConditions()


def _list_calls_of(resolver: Resolver, module: Module, names: frozenset[str]) -> Iterator[ast.Call]:
    """The calls of a file that are of one of the names."""
    for call in module.nodes.get(ast.Call, ()):
        if isinstance(call, ast.Call) and not names.isdisjoint(resolver.names(module, call.func)):
            yield call


def _find_checked(module: Module, call: ast.Call) -> tuple[ast.If | None, bool]:
    """The statement whose test is nothing but the call, and whether it asks for the opposite, also among other such questions."""
    at: ast.AST = call
    parent = module.parents.get(call)
    opposite = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    if opposite and parent is not None:
        at, parent = parent, module.parents.get(parent)
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
            at, parent = parent, module.parents.get(parent)
    return (parent, opposite) if isinstance(parent, ast.If) and parent.test is at else (None, False)


def is_only_said(statements: Iterable[ast.stmt]) -> bool:
    """Whether there are statements, which only tell somebody something, or end the program."""
    found = list(statements)
    return bool(found) and all(
        isinstance(one, ast.Pass)
        or sources(one)
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and last_name(one.value.func) in SAYS)
        for one in found
    )


def is_one(statement: ast.stmt, targets: Collection[str]) -> bool:
    """Whether a statement sets one of the names to 0 or 1."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    return statement.value.value in (0, 1) and any(ast.unparse(target) in targets for target in statement.targets)
