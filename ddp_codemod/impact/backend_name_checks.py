"""Notes about code that goes by the name of a backend: what happens there once the name is another."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult, Known, fold, truth
from ddp_codemod.dataflow.values import Value
from ddp_codemod.impact import conditions
from ddp_codemod.impact.asserted_names import find_failing_tests
from ddp_codemod.impact.backend_names import find_table, read_backend_name
from ddp_codemod.impact.conditions import Consequence, Swap
from ddp_codemod.impact.group_name_uses import find_group_name_uses
from ddp_codemod.impact.group_questions import GroupSwaps
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import TIED, Action, Advisory, Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, Finding, NewText, Translation

Writable = Callable[[str], bool]


def find_affected_checks(
    context: Context, findings: Sequence[Finding], made: Sequence[Edit], writable: Writable
) -> Iterator[Advisory]:
    """The conditions, assertions and tables on which an edit of this run has another effect than on the group."""
    yield from _find_stopping_checks(context, findings, writable)
    edits = _Edits(context, findings, made)
    said: set[tuple[str, int]] = set()
    found = [(module, node, stake) for module, node, stake in _find_consequences(context, edits, writable)]
    asked = find_group_name_uses(context, findings, edits.groups)
    found += [(use.module, use.around, use.stake) for use in asked if not edits.widens(use.module, use.around)]
    for module, node, stake in found:
        at = module.name, module.line(node)
        if at not in said and writable(module.name):
            said.add(at)
            yield Advisory(*at, TIED, stake.reason)


def find_failing_assertions(context: Context, findings: Sequence[Finding]) -> Iterator[tuple[Module, ast.Compare, str, str]]:
    """The comparisons of assertions that hold for the old name of a group that exists and fail for the new one: both names."""
    edits = _Edits(context, findings, ())
    if edits.group is None:
        return
    for use in find_group_name_uses(context, findings, GroupSwaps(edits.group, {}, edits.texts)):
        compare = use.module.parents.get(use.asked)
        if isinstance(use.around, ast.Assert) and use.stake.breaks and isinstance(compare, ast.Compare):
            yield use.module, compare, edits.group.old, edits.group.new


def _find_consequences(context: Context, edits: _Edits, writable: Writable) -> Iterator[tuple[Module, ast.AST, Consequence]]:
    swaps = {*edits.swaps, *([edits.group] if edits.group is not None else [])}
    if not swaps:
        return
    # who goes by one name of several devices, "cpu:gloo,npu:hccl", goes by the old one too, or by none of both
    swapped = sorted({name for swap in swaps for name in (swap.old, swap.new) if ":" not in name})
    names = "|".join(map(re.escape, swapped))
    wanted = re.compile(rf"""['"](?:{names})['"]|\.(?:{names.upper()})\b""".encode()).search
    project = context.tracer.resolver.project
    naming = project.naming(
        spelling for name in swapped for spelling in (name, name.upper())
    )  # is faster, and few files are left
    for file in [name for name in project.names if name in naming and writable(name) and wanted(project.data(name))]:
        for module in project.programs(file):
            yield from ((module, node, stake) for node, stake in _find_in_module(context, module, edits))
            yield from ((module, node, stake) for node, stake in find_failing_tests(context, module, swaps, edits.of))


class _Edits:
    """What the edits of the run make of which names."""

    def __init__(self, context: Context, findings: Sequence[Finding], made: Sequence[Edit]) -> None:
        self.context = context
        self._widened = sorted((edit.name, edit.start) for edit in made if edit.reason.means is Meaning.CHOICES)
        self.texts: dict[tuple[int, int], Swap] = {}
        default: set[Swap] = set()
        calls: dict[int, set[Swap]] = {}
        for finding in findings:
            for change in finding.changes if finding.action is Action.EDIT else ():
                swaps: list[Swap] = []
                if isinstance(change, Translation):
                    swaps = [Swap(old.lower(), new) for old, new in change.pairs if old is not None and _is_name(old, new)]
                elif (
                    isinstance(change, NewText)
                    and isinstance(change.source.value, Known)
                    and _is_name(change.source.value.value, change.text)
                ):
                    swaps = [Swap(str(change.source.value.value).lower(), change.text)]
                    self.texts[id(change.source.module), id(change.source.node)] = swaps[0]
                calls.setdefault(id(finding.use.call), set()).update(swaps)
                default.update(swaps if finding.use.surface.default_group else ())
        self.swaps = set(self.texts.values())
        # a group asked for its name can have the new one where all edits of default groups are the same
        self.group = next(iter(default)) if len(default) == 1 else None
        made_by = {call: next(iter(swaps)) for call, swaps in calls.items() if len(swaps) == 1}
        self.groups = GroupSwaps(self.group, made_by, self.texts)

    def of(self, module: Module, node: ast.expr) -> Swap | None:
        """What becomes of the name that an expression gives, where all that it can give is known."""
        sources = self.context.tracer.evaluate(module, node)
        swaps = {swap for source in sources if (swap := self._find_swap(source)) is not None}
        known = all(isinstance(source.value, Known) and isinstance(source.value.value, str) for source in sources)
        return swaps.pop() if len(swaps) == 1 and known else None

    def widens(self, module: Module, node: ast.AST) -> bool:
        """Whether an edit adds the new name to a list that is in an expression."""
        place = module.place(node)
        behind = bisect_right(self._widened, (place.name, place.start))
        return behind < len(self._widened) and self._widened[behind] <= (place.name, place.end)

    def _find_swap(self, source: Value) -> Swap | None:
        return self.texts.get((id(source.module), id(source.node)))


def _is_name(old: object, new: str) -> bool:
    return isinstance(old, str) and ":" not in old and old.lower() != new  # no address, no name for each device


def _find_in_module(context: Context, module: Module, edits: _Edits) -> Iterator[tuple[ast.AST, Consequence]]:
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        asked = _find_compared_side(context, module, compare)
        if asked is None or (around := _find_check_around(module, compare)) is None or edits.widens(module, compare):
            continue
        swap = edits.of(module, asked)
        if swap is None:
            continue
        text = ast.dump(asked)

        def outcome(test: ast.expr, value: str, text: str = text) -> bool | None:
            return truth(fold(test, lambda part: _look_up_part(context, module, part, text, value)))

        stake = _assess_check(context, module, around, swap, outcome)
        if stake is not None:
            yield around, stake
    for subscript in module.nodes.get(ast.Subscript, ()):
        assert isinstance(subscript, ast.Subscript)
        table = find_table(context, module, subscript) if isinstance(subscript.ctx, ast.Load) else None
        if table is not None and (swap := edits.of(module, subscript.slice)) is not None:
            stake = conditions.assess_table(table, swap)
            if stake is not None:
                yield subscript, stake


def _assess_check(
    context: Context, module: Module, around: ast.AST, swap: Swap, outcome: conditions.Outcome
) -> Consequence | None:
    if isinstance(around, ast.Assert):
        return conditions.assess_assertion(around, swap, outcome)
    if isinstance(around, ast.IfExp):
        return conditions.assess_choice(context, module, around, swap, outcome)
    if isinstance(around, ast.If):
        return conditions.assess_branches(context, module, around, swap, outcome)
    return conditions.assess_answer(context, module, around, swap, outcome) if isinstance(around, ast.Return) else None


def _look_up_part(context: Context, module: Module, part: ast.expr, text: str, value: str) -> FoldResult:
    if ast.dump(part) == text:
        return Known(value)
    name = read_backend_name(context, module, part)
    return Known(name) if name is not None else UNKNOWN


def _find_compared_side(context: Context, module: Module, compare: ast.Compare) -> ast.expr | None:
    """The side of a comparison that is compared with the name of a backend, or with several."""
    if len(compare.ops) != 1:
        return None
    left, right = compare.left, compare.comparators[0]
    if isinstance(compare.ops[0], (ast.In, ast.NotIn)):
        parts = right.elts if isinstance(right, (ast.List, ast.Tuple, ast.Set)) else []
        return left if parts and all(read_backend_name(context, module, part) is not None for part in parts) else None
    if isinstance(compare.ops[0], (ast.Eq, ast.NotEq)):
        for side, other in ((left, right), (right, left)):
            if read_backend_name(context, module, other) is not None and not isinstance(side, ast.Constant):
                return side
    return None


def _find_check_around(module: Module, node: ast.AST) -> ast.AST | None:
    """The assertion, ternary or ``if`` (the first of a chain) that a comparison is in the test of."""
    child = node
    for parent in module.ancestors(node):
        if isinstance(parent, ast.Return):
            return parent
        if isinstance(parent, (ast.Assert, ast.IfExp, ast.If)):
            if child is not parent.test:
                return None
            while isinstance(parent, ast.If):
                above = module.parents.get(parent)
                if not (isinstance(above, ast.If) and above.orelse == [parent]):
                    break
                parent = above
            return parent
        if not isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
            return None
        child = parent
    return None


def _find_stopping_checks(context: Context, findings: Sequence[Finding], writable: Writable) -> Iterator[Advisory]:
    """Assertions and raises that end the program where a backend is not there, before a group is made with another."""
    guards = {name for idioms in context.rules.idioms for name in idioms.guards}
    # what is asked of the machine's devices; a program that refuses the system itself says so
    devices = {
        fact.removesuffix("()") for fact in context.platform.facts if fact.partition(".")[0] not in sys.stdlib_module_names
    }
    reviewed = (finding.use for finding in findings if finding.action is Action.REVIEW and isinstance(finding.use.call, ast.AST))
    said = {(use.module.name, getattr(use.call, "lineno", 0)) for use in reviewed}
    for finding in findings:
        if finding.reason.means is not Meaning.UNREACHABLE or not isinstance(finding.use.module, Module):
            continue
        module = finding.use.module
        assert isinstance(finding.use.call, ast.AST)
        test = context.facts.unset.unreachable(module, finding.use.call)
        around = module.parents.get(test) if test is not None else None
        ends = isinstance(around, ast.Assert) or (isinstance(around, ast.If) and isinstance(around.body[-1], ast.Raise))
        if test is None or not ends or not writable(module.name):
            continue
        asked = (part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute)))
        if any((guards | devices) & set(context.tracer.resolver.names(module, part)) for part in asked):
            line = module.line(test)
            ending = (module.name, getattr(around, "lineno", line))
            if ending not in said:
                said.add(ending)
                text = " ".join(module.text(test).split())
                reason = Reason.of("tied-stop", test=text, platform=context.platform.id, wanted=context.platform.backend.wanted)
                yield Advisory(module.name, line, TIED, reason)
