"""What code does with the name of a group's backend, followed from each place that asks a group for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.def_use import find_reads
from ddp_codemod.dataflow.fold import COMPARISONS, UNKNOWN, FoldResult, Known, Look, fold, truth
from ddp_codemod.dataflow.reads import Read
from ddp_codemod.dataflow.values import CurrentBackend, Value
from ddp_codemod.impact import conditions
from ddp_codemod.impact.backend_names import LookUp, find_entry, find_look_up, read_backend_name
from ddp_codemod.impact.conditions import Consequence, Swap, assess_answer
from ddp_codemod.impact.group_conditions import (
    Asked,
    assess_test,
    is_for_collectives,
    is_group_call,
    is_test,
)
from ddp_codemod.impact.group_questions import GroupSwaps, find_questions, is_handed_group
from ddp_codemod.impact.shown_answers import shows_another_answer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.other_uses import OtherUses
from ddp_codemod.policy.other_uses import Swap as Texts

_DEPTH = 4  # answers that are kept under a name before something is done by them
_METHODS = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "casefold", "startswith", "endswith", "title", "split"})
_TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.NamedExpr)


class NameUse(Struct, frozen=True, eq=False):
    """A place at which the new name has another effect than the old one."""

    module: Module
    around: ast.AST  # what decides there
    stake: Consequence
    asked: ast.expr  # what gives the name


class _Swapped(Struct, frozen=True):
    """What an expression gave for the old name, and gives for the new one."""

    before: FoldResult
    after: FoldResult
    strict: bool = False
    handed: bool = False
    depth: int = 0


def find_group_name_uses(context: Context, findings: Sequence[Finding], swaps: GroupSwaps) -> Iterator[NameUse]:
    """Every place at which code does something else once a group has the new name."""
    uses = OtherUses(context, findings) if swaps else None
    for module, call in find_questions(context) if uses is not None else ():
        swap = swaps.of(context, module, call)
        if swap is not None and uses is not None:
            yield from _Walk(context, uses, swaps, swap).follow(module, call)


class _Walk:
    """Follows the answers, with what they were and what they are now."""

    def __init__(self, context: Context, uses: OtherUses, swaps: GroupSwaps, swap: Swap) -> None:
        self.context, self.uses, self.swaps, self.swap = context, uses, swaps, replace(swap, group=True)

    def follow(self, module: Module, call: ast.Call) -> Iterator[NameUse]:
        """The places that depend on one answer."""
        value = self._name_values(module, call)
        start = Value(module, call, OriginKind.CURRENT, CurrentBackend())
        for read in find_reads(self.context.tracer, start):
            if self._arrives(start, read):
                found = self._judge(read, value)
                if found is not None:
                    yield found

    def _name_values(self, module: Module, call: ast.Call) -> _Swapped:
        names, handed = self.context.tracer.resolver.names(module, call.func), is_handed_group(self.context, module, call)
        if any(name in idioms.current_by_device for idioms in self.context.rules.idioms for name in names):
            texts = [
                ",".join(f"{one}:{name}" for one in self.context.rules.backends[name].devices)
                for name in (self.swap.old, self.swap.new)
            ]
            return _Swapped(Known(texts[0]), Known(texts[1]), handed=handed)
        return _Swapped(Known(self.swap.old), Known(self.swap.new), handed=handed)

    def _arrives(self, start: Value, read: Read) -> bool:
        """Whether it is this value that is read: where a word leads there, it may be that of many."""
        if read.sure:
            return True
        if getattr(read.carrier, "lineno", None) is None:
            return False
        return any(one.node is start.node for one in self.context.tracer.evaluate(read.module, read.carrier))

    def _judge(self, read: Read, value: _Swapped) -> NameUse | None:
        """What becomes of a read, where the value was one thing before and is another now."""
        if read.inside:
            return None  # its entries are followed
        module, top = read.module, _find_whole(read.module, read.node)
        if any(
            isinstance(part, ast.Constant) and part.value in (self.swap.old.upper(), self.swap.new.upper()) for part in walk(top)
        ):
            value = replace(value, before=_capitalize(value.before), after=_capitalize(value.after))  # so the code has it too
        look = self._make_look(module, read.carrier, value)
        before, after = (
            one if top is read.carrier else fold(top, seen) for one, seen in zip((value.before, value.after), look, strict=True)
        )
        names_both = any(read_backend_name(self.context, module, part) == self.swap.new for part in walk(top))
        look_up = find_look_up(module, top)
        if look_up is not None:
            return self._judge_look_up(read, look_up, value, before, after)
        if before == after and isinstance(before, Known):
            return None

        def outcome(test: ast.expr, text: str) -> bool | None:
            return truth(fold(test, look[text != self.swap.old]))

        around = module.parents.get(top)
        strict = value.strict or names_both
        text = _find_part(top, read.node, module)

        def say() -> Consequence:
            values = [fold(text, seen) for seen in look]
            return self._describe(module, text, *values)

        if is_test(around, top):
            if isinstance(around, ast.If):
                chain = _list_tests(module, around)
                strict = strict or any(
                    read_backend_name(self.context, module, part) == self.swap.new for test in chain for part in walk(test)
                )
            handed = value.handed and not isinstance(around, ast.Assert)  # it ends the program for any group of another name
            asked = Asked(module, top, self.swap, outcome, strict, handed, value.depth == 0, say)
            stake = assess_test(self.context, asked, around) if around is not None else None
            return NameUse(module, _find_head(module, around), stake, read.node) if stake is not None else None
        if isinstance(around, ast.Return) and top is not read.node:
            stake = assess_answer(self.context, module, around, self.swap, outcome)
            if stake is not None:
                return NameUse(module, around, stake, read.node)
        if isinstance(top, _TESTS) and truth(after) is None:
            return None  # a comparison with what is not known
        passed = replace(value, before=before, after=after, strict=strict)
        return self._judge_passed(read, top, passed, say)

    def _judge_passed(self, read: Read, top: ast.expr, value: _Swapped, say: Callable[[], Consequence]) -> NameUse | None:
        """What becomes of a value that no test has: one that is kept, passed on, or shown."""
        if top is read.node:
            if (
                value.strict
                or value.handed
                or (self._is_harmless(read) and not shows_another_answer(self.uses, read, self.swap, value.before, value.after))
            ):
                return None
            return NameUse(read.module, top, say(), read.carrier)
        return NameUse(read.module, top, say(), read.node) if self._matters(read.module, top, value) else None

    def _matters(self, module: Module, node: ast.expr, value: _Swapped) -> bool:
        """Whether one of the places to which an expression's value goes does something else."""
        if value.depth == _DEPTH:
            return not value.strict and not value.handed
        further = replace(value, depth=value.depth + 1)
        start = Value(module, node, OriginKind.OBJECT)
        reads = find_reads(self.context.tracer, start)
        return any(self._arrives(start, read) and self._judge(read, further) is not None for read in reads)

    def _judge_look_up(
        self, read: Read, look_up: LookUp, value: _Swapped, before: FoldResult, after: FoldResult
    ) -> NameUse | None:
        module = read.module
        first, second = (find_entry(self.context, module, look_up, one) for one in (before, after))
        if first is None and look_up.fails:
            return None  # it failed before too
        if second is None and look_up.fails:
            reason = Reason.of("tied-table", new=self.swap.new)
            return NameUse(module, look_up.whole, Consequence(reason, breaks=True), read.node)
        if first is second or (first is not None and second is not None and ast.dump(first) == ast.dump(second)):
            return None
        old, new = (Known(None) if one is None else fold(one, _look_nowhere) for one in (first, second))
        if value.handed:
            devices = [conditions.device_of(self.context, module, one) for one in (first, second) if one is not None]
            if devices[0] == devices[-1] or is_for_collectives(self.context, module, look_up.whole, any):
                return None
        elif not self._matters(module, look_up.whole, replace(value, before=old, after=new)):
            return None
        texts = ["None" if one is None else module.short_text(one) for one in (first, second)]
        reason = Reason.of(
            "tied-group-value",
            text=module.short_text(look_up.whole),
            before=texts[0],
            after=texts[1],
            old=self.swap.old,
            new=self.swap.new,
        )
        return NameUse(module, look_up.whole, Consequence(reason), read.node)

    def _describe(self, module: Module, node: ast.expr, before: FoldResult, after: FoldResult) -> Consequence:
        text, old, new = module.short_text(node), self.swap.old, self.swap.new
        if not isinstance(before, Known) or not isinstance(after, Known):
            return Consequence(Reason.of("tied-group-text", text=text, old=old, new=new))
        if isinstance(before.value, bool) and isinstance(after.value, bool):
            return Consequence(
                Reason.of("tied-group-name", text=text, before=str(before.value), after=str(after.value), old=old, new=new)
            )
        values = {"before": repr(before.value), "after": repr(after.value)}
        if (before.value, after.value) == (old, new):
            return Consequence(Reason.of("tied-group-passed", text=text, old=old, new=new))
        return Consequence(Reason.of("tied-group-value", text=text, **values, old=old, new=new))

    def _is_harmless(self, read: Read) -> bool:
        """Whether nothing but what is shown, or the backend of another group, depends on a read."""
        module, around = read.module, read.module.parents.get(read.node)
        call = module.parents.get(around) if isinstance(around, (ast.keyword, ast.Starred)) else around
        if is_group_call(self.context, module, call) or isinstance(around, ast.Yield):
            return True
        if isinstance(call, ast.Call) and last_name(call.func).startswith("assert"):
            return not self._fails_now(module, call)
        return self.uses.is_harmless(read, Texts(self.swap.old, self.swap.new))

    def _fails_now(self, module: Module, call: ast.Call) -> bool:
        """Whether an assertion of a test, ``assertEqual(name, "nccl")``, asks for the old name."""
        compares = COMPARISONS[ast.Eq if last_name(call.func).lower().startswith("assertequal") else ast.In]
        named = [read_backend_name(self.context, module, one) for one in call.args]
        return any(compares(self.swap.old, one) for one in named if one is not None) and self.swap.new not in named

    def _make_look(self, module: Module, carrier: ast.expr, value: _Swapped) -> tuple[Look, Look]:
        """What is known of the parts of a condition before the edits, and after them."""
        same = {ast.dump(carrier)} | ({ast.dump(carrier.value)} if isinstance(carrier, ast.NamedExpr) else set())

        def look(part: ast.expr, is_new: bool) -> FoldResult:
            if part is carrier or ast.dump(part) in same:
                return value.after if is_new else value.before
            if isinstance(part, ast.Call) and last_name(part.func) in ("str", "bool") and len(part.args) == 1:
                return fold(part.args[0], partial(look, is_new=is_new))
            name = read_backend_name(self.context, module, part)
            if name is not None:
                return Known(name)
            if not isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                return UNKNOWN
            stored = self.swaps.read_stored_name(self.context, module, part, self.swap)
            if stored is not None:
                return Known(stored[is_new])
            known = self.context.facts.fold(module, part)
            return known if isinstance(known, Known) else UNKNOWN

        return partial(look, is_new=False), partial(look, is_new=True)


def _find_whole(module: Module, node: ast.expr) -> ast.expr:
    """The whole of what is asked about a value: ``str(name).lower().startswith("nccl") and ready``."""
    while True:
        around = module.parents.get(node)
        if isinstance(around, ast.Attribute) and around.attr in _METHODS:
            call = module.parents.get(around)
            if not isinstance(call, ast.Call) or call.func is not around:
                return node
            node = call
        elif isinstance(around, _TESTS) or (isinstance(around, ast.Call) and last_name(around.func) == "bool"):
            node = around
        else:
            return node


def _find_part(top: ast.expr, node: ast.expr, module: Module) -> ast.expr:
    """The part of a condition that asks about the value: without what ``and``, ``or`` and ``not`` put beside it."""
    part = node
    for around in module.ancestors(node):
        if part is top or isinstance(around, (ast.BoolOp, ast.UnaryOp)) or not isinstance(around, ast.expr):
            return part
        part = around
    return part


def _list_tests(module: Module, node: ast.If) -> list[ast.expr]:
    head = _find_head(module, node)
    return conditions.split_chain(head)[0] if isinstance(head, ast.If) else []


def _find_head(module: Module, node: ast.AST | None) -> ast.AST:
    """The first ``if`` of a chain; another statement itself."""
    assert node is not None
    above = module.parents.get(node)
    while isinstance(node, ast.If) and isinstance(above, ast.If) and above.orelse == [node]:
        node, above = above, module.parents.get(above)
    return node


def _capitalize(value: FoldResult) -> FoldResult:
    return Known(value.value.upper()) if isinstance(value, Known) and isinstance(value.value, str) else value


def _look_nowhere(_: ast.expr) -> FoldResult:
    return UNKNOWN
