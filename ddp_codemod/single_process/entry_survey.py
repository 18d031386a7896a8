"""Finds the training entries of a project, and plans for each the one edit after which one process needs no process group."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.processes import Processes, may_be_bare
from ddp_codemod.discover.listing import is_under
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.limits import Limits
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.availability_tests import AvailabilityTests
from ddp_codemod.single_process.collected_calls import Collected, collect_calls, find_count_names, find_unreached
from ddp_codemod.single_process.condition import Conditions
from ddp_codemod.single_process.entry_reasons import (
    cannot,
    explain_existing_condition,
    explain_problems,
    explain_required_group,
    explain_required_in,
    explain_unreached,
    place_of,
)
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.existing_guards import ExistingGuards
from ddp_codemod.single_process.external_calls import ExternalCalls
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.launcher_attributes import default_launcher_attributes
from ddp_codemod.single_process.launcher_variables import default_launcher_variables
from ddp_codemod.single_process.missing_package import MissingPackage
from ddp_codemod.single_process.model import ApiCall, EntryRewrite, Problem, SpanEdit
from ddp_codemod.single_process.model_uses import ModelUses
from ddp_codemod.single_process.name_uses import NameUses
from ddp_codemod.single_process.partial_guards import complete_partial_guard
from ddp_codemod.single_process.programs import PROGRAMS, ProgramFinder, Programs
from ddp_codemod.single_process.reachability import has_main_guard
from ddp_codemod.single_process.rewrite import rewrite_entry
from ddp_codemod.single_process.trainer_strategy import Strategies
from ddp_codemod.single_process.wrapped_models import WrappedModels
from ddp_codemod.sites.project import Project

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Entry(Struct, frozen=True, eq=False):
    """A call that makes a group, and what becomes of it: kept (``reason``), for review (``problems``), or edited (``span_edits``)."""

    start: ApiCall
    reason: Reason
    span_edits: tuple[SpanEdit, ...] = ()
    problems: tuple[Problem, ...] = ()
    unseen: tuple[Problem, ...] = ()


class EntrySurvey:
    """``limits``: which files may be changed; ``fixes``: the rules that are asked for, of which the first is what edits are made for."""

    def __init__(self, tables: list[Processes], project: Project, context: Context, limits: Limits, fixes: Sequence[Fix]) -> None:
        bare = may_be_bare(tables, context.facts.facts, fixes)
        self.api = Api(tables, context.tracer.resolver, bare)
        self.project, self.facts, self.limits, self.fix = project, context.facts, limits, fixes[0]
        self.outside = ExternalCalls(self.api)
        self.programs = ProgramFinder(project, self.outside)
        self._groupless: set[frozenset[int]] = set()

    def survey(self) -> Iterator[Entry]:
        """Every start under the paths, by file and line; starts of one function are one entry."""
        done: set[tuple[str, int]] = set()
        for seen in self._find_starts():
            key = (seen.module.name, id(self._enclosing_function(seen)) if seen.call.role == "start" else id(seen.node))
            if key not in done:
                done.add(key)
                yield self._decide_entry(seen)

    def _find_starts(self) -> Iterator[ApiCall]:
        words = [word.encode() for word in self.api.starts]
        for name in sorted(self.project.names):
            data = self.project.data(name) if name.endswith(".py") and self.limits.admits(name) else b""
            module = self.project.module(name) if any(word in data for word in words) else None
            for node in module.nodes.get(ast.Call, ()) if module else ():
                assert isinstance(node, ast.Call)
                assert module is not None
                if last_name(node.func) in self.api.starts or isinstance(node.func, ast.Name):
                    call, qualified = self.api.call(module, node)
                    if call is not None and call.role in ("start", "strategy", "alone"):
                        yield ApiCall(module, node, call, qualified)

    def _enclosing_function(self, seen: ApiCall) -> ast.AST:
        return next((at for at in seen.module.ancestors(seen.node) if isinstance(at, _FUNCTIONS)), seen.module.tree)

    def _decide_entry(self, start: ApiCall) -> Entry:
        decided = self._decide_strategy(start)
        if isinstance(decided, Reason):
            return self._plan_groupless_entry(start, decided) if self.api.bare else Entry(start, decided)
        programs = self.programs.of(start)
        if programs.bound is not None:
            alone = NameUses(self.api.resolver, [])
            here = ExistingGuards(self.api, Guards(self.api, frozenset(), alone), alone).condition(start.module, start.node)
            if here is not None:
                return Entry(start, explain_existing_condition(here))
            if programs.chosen is None and not self.api.bare:
                return Entry(start, explain_required_group(programs.bound))
            why = cannot(programs.bound) if programs.chosen is None else explain_required_in(programs.bound, programs.chosen)
            problem = Problem(start.module, start.node, why)
            return Entry(start, explain_problems([problem]), problems=(problem,))
        if not programs.reaches:
            return Entry(start, explain_unreached(start, programs.tests))
        if len(programs.reaches) > PROGRAMS:
            problem = Problem(start.module, start.node, Reason.of("single-many", number=PROGRAMS))
            return Entry(start, explain_problems([problem]), problems=(problem,))
        parts = programs.parts
        collected = collect_calls(self.outside, parts)
        loads = NameUses(self.api.resolver, parts)
        guards = Guards(self.api, find_count_names(collected), loads)
        history = ExistingGuards(self.api, guards, loads)
        kept = self._find_keep_reason(start, collected, guards, history)
        if kept is not None:
            said = dict(kept.args)
            rest = (
                complete_partial_guard(said["test"], collected, guards, history, parts)
                if kept.means is Meaning.CONDITION
                else None
            )
            given = (
                default_launcher_attributes(self.api, guards, history, start, parts) if kept.means is Meaning.CONDITION else []
            )
            if problems := tuple(one for one in given if isinstance(one, Problem)):
                return Entry(start, explain_problems(problems), problems=problems)
            if given:
                rest = rest or EntryRewrite()
                rest.span_edits += (one for one in given if isinstance(one, SpanEdit))
            if rest is not None and not self._find_protected_files(rest):
                return self._make_partial_entry(start, rest, said, only=len(given))
            return (
                self._plan_guarded_entry(start, kept, guards, parts)
                if kept.means is Meaning.CONDITION and self.api.bare
                else Entry(start, kept)
            )
        return self._plan_entry(start, decided, collected, guards, programs)

    def _decide_strategy(self, start: ApiCall) -> list[SpanEdit] | Problem | Reason:
        """What becomes of the option of a trainer that starts processes itself; why there is no group for one process."""
        if start.call.role == "alone":
            return Reason.of("single-alone", Meaning.ALONE, why=start.call.why, why_zh=start.call.why_zh, command=start.call.one)
        if start.call.role != "strategy":
            return []
        decided = Strategies(self.api, self.facts).decide(start)
        return decided or Reason.of("single-strategy-right", text=start.name)

    def _find_keep_reason(self, start: ApiCall, collected: Collected, guards: Guards, history: ExistingGuards) -> Reason | None:
        """Why the entry stays as it is."""
        condition = history.condition(start.module, start.node)
        if condition is not None:
            return explain_existing_condition(condition)
        tried = history.tried(start.module, start.node)
        if tried is not None and start.call.role == "start":
            return Reason.of("single-tried", Meaning.CONDITION, test="try", at=place_of(start.module, tried))
        needs = next((one for one in collected.asking if one.kind == "needs" and not guards.guarded(one.module, one.node)), None)
        if needs is not None:
            return Reason.of("single-needs", text=needs.text, at=place_of(needs.module, needs.node))
        if not collected.trains and start.call.role == "start":
            return Reason.of("single-no-training")
        number = history.always_several(collected.role("launch"), start if start.call.role == "start" else None)
        return Reason.of("single-always", number=number) if number is not None else None

    def _plan_entry(
        self,
        start: ApiCall,
        decided: list[SpanEdit] | Problem,
        collected: Collected,
        guards: Guards,
        programs: Programs,
    ) -> Entry:
        found, parts = EntryRewrite(), programs.parts
        found.unseen += [Problem(one, one.tree, Reason.of("single-loaded", text=one.name)) for one in programs.loaded]
        if isinstance(decided, Problem):
            return Entry(start, explain_problems([decided]), problems=(decided,))
        found.span_edits += decided
        wrapped = WrappedModels(self.api, parts if collected.role("wrap") else [])
        conditions = Conditions(self.api, guards, start if start.call.role == "start" else None)
        work = EntryRewriter(self.api, conditions, guards, collected, wrapped)
        rest = ModelUses(self.api, guards, wrapped, find_unreached(collected, parts)).run()
        found.span_edits += rest.span_edits  # what nothing calls now may be called again
        for result in (rewrite_entry(work), ModelUses(self.api, guards, wrapped, parts if collected.role("wrap") else []).run()):
            found.span_edits += result.span_edits
            found.problems += result.problems
            found.unseen += result.unseen
        if self.api.bare:
            result = MissingPackage(self.api, conditions, AvailabilityTests(self.api, guards, None), True).run(parts)
            known = {(one.module.name, one.start) for one in found.span_edits if one.recipe is not None}
            found.span_edits += [
                one for one in result.span_edits if one.recipe is None or (one.module.name, one.start) not in known
            ]
            found.problems += result.problems
        found.unseen += collected.outside
        may = (one for one in collected.asking if one.kind == "may" and not guards.guarded(one.module, one.node))
        found.unseen += [Problem(one.module, one.node, Reason.of("single-may", text=one.text)) for one in may]
        if start.call.role == "start":
            found.span_edits += default_launcher_variables(self.api, parts)
        if collected.unseen:
            self._check_loaded_by_name(start, parts, found)
        found.problems += self._find_protected_files(found)
        if found.problems:
            problems = tuple({place_of(one.module, one.node): one for one in found.problems}.values())
            return Entry(start, explain_problems(problems), problems=problems)
        span_edits = tuple(found.span_edits)
        return Entry(
            start, self._explain_edit(start, conditions, span_edits, found.unseen), span_edits, unseen=tuple(found.unseen)
        )

    def _plan_groupless_entry(self, start: ApiCall, why: Reason) -> Entry:
        """An entry for which one process has no group, on a torch that may lack the package: what asks for them all the same."""
        programs = self.programs.of(start)
        collected = collect_calls(self.outside, programs.parts)
        code = frozenset(id(part) for _, part in programs.parts)
        known = code in self._groupless or programs.bound is not None or len(programs.reaches) > PROGRAMS
        if known or collected.role("start", "launch"):
            return Entry(start, why)
        self._groupless.add(code)  # a Trainer and its arguments are of one program
        guards = Guards(self.api, frozenset(), NameUses(self.api.resolver, programs.parts))
        planned = self._plan_entry(start, [], collected, guards, programs)
        if planned.problems:
            return planned
        if not planned.span_edits:
            return Entry(start, why)
        lines = {
            (span_edit.module.name, span_edit.module.source.position(span_edit.start)[0]) for span_edit in planned.span_edits
        }
        return replace(planned, reason=Reason.of("single-bare-alone", lines=str(len(lines))))

    def _plan_guarded_entry(self, start: ApiCall, kept: Reason, guards: Guards, parts: list[tuple[Module, ast.AST]]) -> Entry:
        """An entry that makes its group for several processes only: what fails before that where torch lacks the package."""
        found = MissingPackage(
            self.api, Conditions(self.api, guards, None), AvailabilityTests(self.api, guards, start), False
        ).run(parts)
        found.problems += self._find_protected_files(found)
        if found.problems:
            problems = tuple({place_of(one.module, one.node): one for one in found.problems}.values())
            return Entry(start, explain_problems(problems), problems=problems)
        if not found.span_edits:
            return Entry(start, kept)
        lines = {(span_edit.module.name, span_edit.module.source.position(span_edit.start)[0]) for span_edit in found.span_edits}
        said = {name: value for name, value in kept.args if name in ("test", "at")}
        return Entry(start, Reason.of("single-bare-kept", lines=str(len(lines)), **said), tuple(found.span_edits))

    def _make_partial_entry(self, start: ApiCall, found: EntryRewrite, arguments: dict[str, str], only: int) -> Entry:
        lines = {(span_edit.module.name, span_edit.module.source.position(span_edit.start)[0]) for span_edit in found.span_edits}
        key = "single-attributes" if only == len(found.span_edits) else "single-half"
        reason = Reason.of(key, lines=str(len(lines)), **arguments)
        return Entry(start, reason, tuple(found.span_edits), unseen=tuple(found.unseen))

    def _find_protected_files(self, found: EntryRewrite) -> list[Problem]:
        """The files that the run may not change."""
        barred = ((one.module, self.limits.bar(one.module.name, self.fix.id, f"{one.module.name}:1")) for one in found.span_edits)
        return [Problem(module, module.tree, reason) for module, reason in barred if reason is not None]

    def _check_loaded_by_name(self, start: ApiCall, parts: list[tuple[Module, ast.AST]], found: EntryRewrite) -> None:
        """Files that no program imports may be what is loaded by name: their uses are made right too, or named."""
        known = {module.name for module, _ in parts}
        folder = start.module.name.partition("/")[0] if "/" in start.module.name else ""
        inside = (name for name in self.project.names if is_under(name, folder) and name not in known)
        for name in sorted(name for name in inside if self.api.candidate(self.project.data(name))):
            module = self.project.module(name) if name.endswith(".py") and self.limits.admits(name) else None
            if module is None or has_main_guard(module) or self.programs.is_test(module):
                continue
            more: list[tuple[Module, ast.AST]] = [(module, part) for part in module.tree.body]
            collected = collect_calls(self.outside, more)
            if collected.role("start", "wrap", "launch", "strategy", "bound"):
                continue
            guards = Guards(self.api, frozenset(), NameUses(self.api.resolver, more))
            rewrite = rewrite_entry(
                EntryRewriter(self.api, Conditions(self.api, guards, None), guards, collected, WrappedModels(self.api, more))
            )
            found.unseen += [Problem(one.module, one.node, one.reason) for one in rewrite.problems]
            if not rewrite.problems:
                found.span_edits += rewrite.span_edits

    def _explain_edit(
        self, start: ApiCall, conditions: Conditions, span_edits: tuple[SpanEdit, ...], unseen: list[Problem]
    ) -> Reason:
        files = len({span_edit.module.name for span_edit in span_edits})
        lines = {(span_edit.module.name, span_edit.module.source.position(span_edit.start)[0]) for span_edit in span_edits}
        counts = {"lines": str(len(lines)), "files": str(files)}
        if not unseen:
            return Reason.of("single-edit", **counts)
        what = "; ".join(
            dict.fromkeys(
                f"{place_of(one.module, one.node)} {dict(one.reason.args).get('text', '')}".strip() for one in unseen[:5]
            )
        )
        return Reason.of("single-edit-unseen", unseen=what, **counts)
