"""What advice asks for beyond notes: edits where its recipe fits, and for review what keeps a training entry from running."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import cached_property
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.values import ValueSet
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.impact.advice_text import format_advice, format_left
from ddp_codemod.impact.advisories import PortedProject, collect_notes
from ddp_codemod.impact.launch_variables import LaunchVariables
from ddp_codemod.impact.rewrites import rewrite_hit
from ddp_codemod.impact.setting_edits import find_setting_edits
from ddp_codemod.impact.unfollowed_loads import find_unfollowed_loads
from ddp_codemod.impact.usage import Hit
from ddp_codemod.model import Action, Advisory, Applicability, Place
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import place_of
from ddp_codemod.policy.findings import Change, DroppedArgument, Finding, Insertions
from ddp_codemod.sites.computed_lookups import ComputedLookups
from ddp_codemod.sites.entry_points import find_entry_functions
from ddp_codemod.sites.outlines import defined_in
from ddp_codemod.sites.reachability import ReachableCode, find_entries, is_started
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Use
from ddp_codemod.sites.word_search import TextMatcher, WordMatcher


class AdviceEditor(Struct, dict=True):
    """Looks through the files that may be written, after it is known what becomes of the groups."""

    whole: PortedProject
    writable: Set[str]
    covered: dict[ast.AST, ast.AST] = field(default_factory=dict)  # nodes inside a rewritten one, by what it was rewritten for
    _cured: set[ast.AST] = field(default_factory=set)
    _set: set[tuple[str, str, int]] = field(default_factory=set)  # lines of configuration files that are edited, by the advice

    def findings(self) -> Iterator[Finding]:
        """One for each place that an advice with edits, or with review items, is about."""
        found = [
            (advice, hit, rewrite_hit(self.whole.context, advice, hit, self.whole.alone))
            for advice in self.whole.advice()
            for hit in self._find_hits(advice)
        ]
        for _, hit, changes in found:
            self.covered.update({node: hit.node for change in changes for node in _find_covered_nodes(hit, change)})
        listed: set[tuple[str, str, int]] = set()
        starts: set[object] = {
            node for advice, _, changes in found if not _is_independent(advice) for node in map(_get_changed_node, changes)
        }
        starts |= {hit.argument for advice, hit, _ in found if not _is_independent(advice) and hit.argument is not None}
        listed_calls = {hit.node for advice, hit, changes in found if not (changes or _is_independent(advice))}
        for advice, hit, changes in found:
            if self.covers(hit) or not (changes or advice.level == "review"):
                continue
            if _is_about_sources(advice) and (hit.node in starts or hit.module.parents.get(hit.node) in listed_calls):
                continue  # what takes the value leads here too, and says more
            if _is_independent(advice) and hit.argument in starts:
                continue  # the number is one at least, where it is asked for
            line = (advice.id, hit.module.name, hit.module.line(hit.node))
            if changes or line not in listed:  # what is for review is listed once a line
                listed.add(line)
                self._cured.add(hit.node)
                sure = hit.module.name in self.whole.sure(advice) and not self._has_unsure_group(hit)
                finding = _make_finding(advice, hit, changes, sure)
                yield replace(finding, required_import=self._find_plugin(advice, hit)) if changes else finding

    def setting_findings(self) -> Iterator[Finding]:
        """One for each entry of a configuration file that an edit sets, and for each launch file that chooses devices."""
        variables = LaunchVariables(self.whole)
        for advice in self.whole.advice():
            for found in (*find_setting_edits(self.whole, advice), *variables.find_edits(advice)):
                name, at = found.use.module.name, place_of(found.use.module, found.use.call)
                if self._may_read(name) and self.whole.versions(advice, name):
                    self._set.add((advice.id, name, found.use.module.source.position(at.start)[0]))
                    yield found

    def _has_unsure_group(self, hit: Hit) -> bool:
        """Whether the function around a place makes its own group, by a call whose edit is unsafe."""
        home = scope_of(hit.module, hit.node)
        return any(call in hit.module.parents and scope_of(hit.module, call) is home for call in self.whole.switches.unsure)

    def covers(self, hit: Hit) -> bool:
        """Whether an edit for another place fixes this one too."""
        return any(self.covered.get(around, hit.node) is not hit.node for around in (hit.node, *hit.module.ancestors(hit.node)))

    def notes(self) -> Iterator[Advisory]:
        """Notes on the lines that no edit cures; asked for after ``findings``."""
        for note in collect_notes(self.whole, self.writable, lambda hit: hit.node in self._cured or self.covers(hit)):
            advice = self.whole.context.rules.advice[note.rule]
            configured = advice.pattern is not None and advice.pattern.use == "configured"
            if (note.rule, note.name, note.line) in self._set:
                continue
            if not configured or advice.bare or self._may_read(note.name):
                yield note

    def _may_read(self, settings: str) -> bool:
        """Whether code that a training entry reaches may read a file of settings: it is named nowhere else."""
        naming = self._programs_by_setting.get(settings.rpartition("/")[2], set())
        return not naming or not naming.isdisjoint(self._reached_files)

    @cached_property
    def _programs_by_setting(self) -> dict[str, set[str]]:
        """The programs that name a file of settings, by its name."""
        project = self.whole.context.tracer.resolver.project
        search = TextMatcher(name.rpartition("/")[2] for name in project.configs)
        found: dict[str, set[str]] = {}
        for name in project.names:
            for said in search.held(project.data(name)):
                found.setdefault(said, set()).add(name)
        return found

    def _find_plugin(self, advice: Advice, hit: Hit) -> str | None:
        """The module that what the code calls now comes from, where the file does not speak of it."""
        plugin = self.whole.context.platform.required_import
        recipes = ("own-module", "own-method", *(() if self.whole.alone else ("own-name",)))
        wanted = advice.rewrite is not None and advice.rewrite.recipe in recipes
        return plugin if wanted and plugin is not None and plugin not in hit.module.source.text else None

    def _find_hits(self, advice: Advice) -> Iterator[Hit]:
        if not _is_about_code(advice):
            return
        if not _is_about_running_code(advice):
            yield from self.whole.find_hits(advice, self.writable, lambda: self.whole.files(advice))
            return
        of_ranks = advice.pattern is not None and advice.pattern.use == "apart"
        for hit in self.whole.find_hits(
            advice, self.writable, lambda: self._rank_files if of_ranks else self._reached_files, self._is_run
        ):
            if self._is_run(hit.module, hit.node):
                yield hit

    def unreached(self) -> tuple[str, ...]:
        """The files that name the device which the platform lacks, and that no entry reaches."""
        device = self.whole.context.platform.device
        if device is None or not self.started:
            return ()
        return tuple(
            sorted(self.whole.imports.project.files_using_device(device.replaces) & (self.writable - self._reached_files))
        )

    def unfollowed(self) -> tuple[Place, ...]:
        """What training loads by names that are only known when it runs, where files that use the device could be meant."""
        if not self.unreached():
            return ()
        reached = self._reached_files
        return tuple(find_unfollowed_loads(self.whole.context, reached & self.writable, self._is_run, reached))

    def without_entry_point(self) -> int:
        """The files that name it where no entry is known: no program makes a group or trains, and no command of the project starts one."""
        device = self.whole.context.platform.device
        if device is None or self.started:
            return 0
        return len(self.whole.imports.project.files_using_device(device.replaces) & self.writable)

    @cached_property
    def started(self) -> set[str]:
        """The files that are started and make a group or train, or import one that does, or start a process for each device.

        So are those that the project's commands start, and those that the run names, if they use the device that the platform lacks.
        """
        return self._programs | (self._starters if self._programs else set()) | self.whole.launched | self.whole.named

    @cached_property
    def _programs(self) -> set[str]:
        whole = self.whole
        project = whole.context.tracer.resolver.project
        known = set(project.names)
        making = whole.switches.undecided.union(whole.switches.groups)
        # a program that trains by itself may lend its functions to others, which need not train for that
        alone = {name for name in whole.training if is_started(project, whole.imports, name)}
        # groups are chosen in files of settings and launches too: what reads those makes them
        return alone | find_entries(project, whole.imports, (name for name in making | (whole.training - alone) if name in known))

    @property
    def _starters(self) -> set[str]:
        """The files that are started, count devices and start processes: without a device they end in silence."""
        project = self.whole.context.tracer.resolver.project
        starting = set[str]()
        for table in self.whole.context.rules.processes:
            starts = WordMatcher(table.starts)
            counting = project.mentioning(table.counted.rpartition(".")[2])
            starting |= {name for name in counting if starts.some(project.data(name))}
        return {name for name in starting if not is_test(name) and is_started(project, self.whole.imports, name)}

    @cached_property
    def _rank_files(self) -> set[str]:
        """The files of the programs that train in several ranks: what they compute gradients with has to be the same everywhere."""
        below = (self.whole.imports.below([program]) for program in self._programs)
        training = set[str]().union(*(files for files in below if not files.isdisjoint(self.whole.training)))
        return training & self.whole.imports.together({*self._group_files, *self.whole.switches.undecided})

    @property
    def _group_files(self) -> Iterator[str]:
        """The files that make a group on the platform, by code that runs there."""
        project, facts, calls = self.whole.imports.project, self.whole.context.facts, self.whole.switches.calls
        programs = set(self.whole.switches.groups).intersection(project.names)  # a file of settings may choose one too
        for module in (module for name in sorted(programs) for module in project.programs(name)):
            result = (call for call in module.nodes.get(ast.Call, ()) if call in calls)
            if any(facts.unreachable(module, call) is None and self._is_run(module, call) for call in result):
                yield module.name

    @property
    def _reached_files(self) -> set[str]:
        return self._loaded_files[0]

    @cached_property
    def _loaded_files(self) -> tuple[set[str], set[str]]:
        """The files that training reaches, and the names in settings, and of look-ups, by which some of their code is loaded."""
        imports = self.whole.imports
        files, names = self.whole.loaded_by_name.loaded(
            imports.below(self._programs | self.whole.launched | self.whole.named) | self.started, imports.below
        )
        return files, names | ComputedLookups(imports.project).names(files)

    def _is_run(self, module: Module, node: ast.AST) -> bool:
        return self._reach.runs(module, node)

    @cached_property
    def _reach(self) -> ReachableCode:
        context = self.whole.context
        patterns = (advice.pattern for advice in self.whole.advice() if _is_about_code(advice) and _is_about_running_code(advice))
        asked = set(self.whole.switches.groups).union(
            *(self.whole.holding(pattern) for pattern in patterns if pattern is not None)
        )
        reached, named = self._loaded_files
        project = context.tracer.resolver.project
        named = named.union(*(defined_in(project.data(name)) for name in self.whole.named))
        if not project.commands.isdisjoint(self.started):
            named |= find_entry_functions(project.root, [*project.configs, *project.names])
        return ReachableCode(project, reached, self.started, context.facts.truth, asked, named)


def _is_about_code(advice: Advice) -> bool:
    """Whether an advice with edits or items is about places in programs."""
    pattern = advice.pattern
    if pattern is None or pattern.commands or pattern.use in ("configured", "stated", "built"):
        return False
    return advice.level != "note" or advice.rewrite is not None


def _is_about_running_code(advice: Advice) -> bool:
    """Whether it is about what a training entry runs, and not about a group, whoever makes it."""
    return advice.level != "note" and advice.pattern is not None and advice.pattern.use != "gate"


def _is_about_sources(advice: Advice) -> bool:
    return advice.pattern is not None and advice.pattern.use in ("assigned", "handed", "rest")


def _is_independent(advice: Advice) -> bool:
    """Whether it says nothing of a value that another advice changes."""
    return _is_about_sources(advice) or (advice.pattern is not None and advice.pattern.use == "divisor")


def _get_changed_node(change: Change) -> object:
    """The node that a change is made at."""
    return change.node if isinstance(change, Insertions) else None


def _find_covered_nodes(hit: Hit, change: Change) -> Iterator[ast.AST]:
    """The nodes that a change puts under a condition: nothing in them is a place of its own any more."""
    if isinstance(change, Insertions) and change.package:
        statement = next((at for at in hit.module.ancestors(hit.node) if isinstance(at, ast.stmt)), None)
        whole = isinstance(statement, ast.Expr) and change.replacements[0][0] == hit.module.place(statement).start
        if change.node is hit.node and isinstance(hit.node, ast.Call) and statement is not None and whole:
            yield statement
        elif change.node is hit.node and isinstance(hit.node, ast.Call):
            yield from (*hit.node.args, *(keyword.value for keyword in hit.node.keywords))
        yield change.node
    elif isinstance(change, DroppedArgument):
        yield change.argument


def _make_finding(advice: Advice, hit: Hit, changes: list[Change], sure: bool) -> Finding:
    """``sure``: the group that this is about does not depend on an edit which may not be made."""
    assert advice.pattern is not None
    surface = Surface(
        id=advice.id,
        names=advice.pattern.names or advice.pattern.methods or advice.pattern.keywords or (advice.id,),
        source=advice.source,
    )
    use = Use(hit.module, cast("ast.Call", hit.node), surface)
    shown = hit.argument if hit.argument is not None else hit.node
    parameter = advice.pattern.argument or ""
    argument = shown if isinstance(shown, ast.expr) else None
    finding = Finding(use, parameter, argument, ValueSet(), (), Action.KEEP, Applicability.SAFE, None, format_advice(advice))
    if not changes or advice.rewrite is None:
        return finding.review(advice.id, format_left(advice))
    return finding.edit(advice.id, sure and advice.rewrite.applicability == "safe", format_advice(advice), changes)
