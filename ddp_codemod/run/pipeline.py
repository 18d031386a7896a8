"""Joins the stages: paths -> sites -> origins -> findings -> edits. Reads only; nothing is written here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import Rules
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.dataflow.indirect_calls import find_indirect_uses, find_receiver_uses
from ddp_codemod.edits.migrations import find_migration, find_other_migration
from ddp_codemod.edits.pins import pin_versions
from ddp_codemod.edits.plan import Planner
from ddp_codemod.edits.side_effects import is_droppable, is_reexported
from ddp_codemod.impact.advisories import PortedProject
from ddp_codemod.impact.advisory_edits import AdviceEditor
from ddp_codemod.impact.backend_lists import widen_asserted_lists
from ddp_codemod.impact.call_site_fix import place_edits
from ddp_codemod.impact.changed_backends import collect_switches
from ddp_codemod.impact.data_file_values import move_to_calls
from ddp_codemod.impact.device_queries import add_device_queries
from ddp_codemod.impact.device_tensors import settle_device_tensors
from ddp_codemod.impact.facts_on import facts_on
from ddp_codemod.impact.notes import advise
from ddp_codemod.impact.unpacked_defaults import put_into_options
from ddp_codemod.ledger.coverage_check import find_uncovered_mentions
from ddp_codemod.model import Action, Devices, Place, Reason, Survey
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.confidence import drop_name_only_changes, find_name_only_items
from ddp_codemod.policy.decide import decide_backend
from ddp_codemod.policy.decide_backend_variable import decide_backend_variable
from ddp_codemod.policy.decide_classes import apply_class_defaults, decide_classes
from ddp_codemod.policy.decide_environment import decide_environment
from ddp_codemod.policy.decide_fields import decide_fields
from ddp_codemod.policy.decide_files import decide_files
from ddp_codemod.policy.decide_handler import decide_handler
from ddp_codemod.policy.decide_object import decide_object
from ddp_codemod.policy.decide_settings import decide_settings
from ddp_codemod.policy.decide_statement import decide_statement
from ddp_codemod.policy.decide_url import decide_init_method
from ddp_codemod.policy.deduplicate import deduplicate_findings, drop_items_edited_elsewhere
from ddp_codemod.policy.default_argument import inherit_unsafe, mark_unsafe
from ddp_codemod.policy.dominating_init import may_have_group
from ddp_codemod.policy.environment_files import keep_if_launches_set, set_in_launch_files
from ddp_codemod.policy.finding_decisions import build_sort_key, decisions_of
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.ignored_arguments import add_ignored_argument_items
from ddp_codemod.policy.indirect_uses import limit_to_use
from ddp_codemod.policy.limits import Limits
from ddp_codemod.policy.manual_changes import split_manual_changes
from ddp_codemod.policy.signatures import Signatures
from ddp_codemod.policy.versions import Versions
from ddp_codemod.run.from_run import add_recorded_fixes
from ddp_codemod.run.prefilter import Prefilter
from ddp_codemod.run.unseen_callers import apply_unseen_callers
from ddp_codemod.sites.group_creators import GroupCreators
from ddp_codemod.sites.launch_commands import LaunchCommands
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.surface_calls import Finder, Use
from ddp_codemod.sites.surface_users import SurfaceUsers

if TYPE_CHECKING:
    from ddp_codemod.edits.portable import Style


class Run:
    """One survey of one project."""

    def __init__(self, look: Prefilter, deepest: int | None = None) -> None:
        listing, rules = look.listing, look.options.rules
        self.root = listing.root
        platform, given = look.options.platform, look.options.versions
        named = [one.machine for one in rules.platforms.values()]
        self.versions = Versions(self.root, rules.packages, platform.facts, given, platform.machine, rules.machines, named)
        self.options = options = replace(look.options, platform=self.versions.platform(platform))
        finder_surfaces = list(rules.surfaces.values())
        tops = {name.split(".")[0] for surface in finder_surfaces for name in surface.names}
        self.project = Project(self.root, listing.programs, tops, listing.configs, listing.launchers, listing.natives, look.texts)
        self.project.deepest = deepest
        self.project.skipped.update((one.name, one) for one in look.outside_links)
        self.limits = Limits(listing.under, listing.named, options.scope, listing.led, listing.apart)
        resolver = Resolver(self.project, frozenset(name for idioms in options.rules.idioms for name in idioms.same))
        forwarders = [forwarder for idioms in options.rules.idioms for forwarder in idioms.forwarder]
        self.candidates = look.candidates
        self.finder = Finder(finder_surfaces, resolver, self.candidates.words, forwarders)
        self.facts = facts_on(resolver, options.rules, options.platform)
        self.context = Context(
            options.platform,
            options.rules,
            Evaluator(resolver, self.facts, options.rules, options.platform),
            self.facts,
            self.versions,
            options.ported,
        )
        self.ignored, self.left_unread = 0, look.left_unread
        self.users = SurfaceUsers(self.project, self.finder, self.candidates)
        self.groups = GroupCreators(self.project, self.finder, self.users)
        self.imports = self.context.tracer.imports
        self.launches = LaunchCommands(self.project, self.imports)
        self._noted: set[Module] = set()
        self.signatures = Signatures(options.rules, self.versions)
        self._shown: set[Place] = set()
        self._pure = {name for platform in options.rules.platforms.values() for name in platform.facts}

    def survey(self) -> Survey:
        """Everything that the run finds."""
        findings = list(deduplicate_findings(finding for use in self._find_uses() for finding in self._decide_use(use)))
        found = decide_files(self.context, self.users, self.options.wanted, self.limits.admits)
        findings += [finding for result in found for finding in self._apply_limits(result)]
        for fix in (fix for fix in self.options.wanted if fix.recipe == "replace-backend"):
            classes = list(decide_classes(self.context, findings, fix, self.limits.admits))
            findings += [finding for result in classes for finding in self._apply_limits(result)]
        options, asking = self.options, [fix.id for fix in self.options.wanted if fix.recipe == "replace-backend"]
        findings = drop_items_edited_elsewhere(apply_class_defaults(self.context, findings))
        findings = settle_device_tensors(self.context, self.imports, findings, asking)
        rules = tuple(fix.id for fix in options.wanted)
        switches, alone = collect_switches(self.context, findings), options.style == "pin"
        whole = PortedProject(
            self.context, switches, self.imports, rules, alone, self.limits.files_alone, self.limits.folders_alone
        )
        adapter = AdviceEditor(whole, {name for name in self.project.names if self.limits.admits(name)})
        known = options.rules.fixes.values()
        vendor = find_migration(self.project, options.wanted, known, options.platform.id, lambda: adapter.started)
        findings = findings if vendor is None else vendor.settle(findings)
        configured = (one for one in adapter.setting_findings() if self.limits.admits(one.use.module.name))
        about = (one for one in chain(configured, adapter.findings()) if vendor is None or not vendor.cures(one))
        findings += (finding for result in about for finding in self._apply_limits(result))
        findings = add_device_queries(self.context, findings, options.style == "pin")
        findings += (one for result in widen_asserted_lists(self.context, findings) for one in self._apply_limits(result))
        style = None
        if self.options.style == "portable":
            from ddp_codemod.edits.portable import Style

            style = Style(self.options.platform, self.versions, self.options.rules)
        findings = put_into_options(self.context, place_edits(self.context, findings, asking))
        findings = findings if style is None else move_to_calls(self.context, findings)
        findings = apply_unseen_callers(self.context, self.limits, findings, asking)
        plan = self._make_planner(style).plan(add_recorded_fixes(self.context, self.limits, findings, options.recorded, asking))
        decided, edits = dict.fromkeys(result for finding in plan.findings for result in decisions_of(finding)), plan.edits
        for fix in self.options.guarding[:1]:  # a second one only says more about the machine
            from ddp_codemod.single_process.entry_edits import plan_entries  # only one platform needs them
            from ddp_codemod.single_process.entry_survey import EntrySurvey

            entries = EntrySurvey(self.options.rules.processes, self.project, self.context, self.limits, self.options.guarding)
            result = plan_entries(entries.survey(), fix, self.limits, edits)
            decided, edits, self.ignored = decided | dict.fromkeys(result.decisions), result.edits, self.ignored + result.ignored
        edits += vendor.edits(self.limits, edits, options.style == "pin") if vendor is not None else ()
        pins = pin_versions(self.root, self.options.wanted, self.limits, edits, self.versions.is_for_target)
        edits = tuple(sorted((*edits, *pins.edits), key=lambda edit: (edit.name, edit.start, edit.end)))
        decisions = tuple(sorted(decided, key=build_sort_key))
        names = {d.place.name for d in decisions} | {o.place.name for d in decisions for o in d.origins} | {e.name for e in edits}
        names |= {step.place.name for d in decisions for step in d.steps}
        noted = advise(self.context, self.finder, self.imports, plan.findings, plan.edits, self.limits.admits)
        about_devices = (note for note in adapter.notes() if not note.name or self.limits.admits(note.name))
        notes = (*noted, *about_devices, *pins.notes)
        advisories = tuple(note for note in notes if not self.limits.is_note_ignored(note, self.project.data))
        left = tuple(find_uncovered_mentions(self.context, decisions, edits, advisories, self.limits, asking)) if asking else ()
        unfollowed = adapter.unfollowed()
        names |= {one.place.name for one in left} | {place.name for place in unfollowed}
        every = {one.name: one for one in self.context.tracer.list_unfinished_files()} | self.project.skipped
        every |= self.left_unread(self.project.lost, self.project.unfit)  # these were read for their values only
        skipped = (one for one in every.values() if not self.limits.excludes(one.name))
        return Survey(
            root=self.root,
            platform=self.options.platform.id,
            decisions=decisions,
            edits=edits,
            advisories=advisories,
            skipped=tuple(sorted(skipped, key=lambda one: one.name)),
            sources={name: source for name in sorted(names) if (source := self.project.source(name) or pins.sources.get(name))},
            **self.limits.count_files(self.project.names),
            ignored=self.ignored,
            uncovered=left,
            unreached=adapter.unreached(),
            unfollowed=unfollowed,
            without_entry_point=adapter.without_entry_point(),
            devices=self._find_devices(adapter, vendor is None),
            unstated=tuple((name, self.versions.packages[name].asked) for name in sorted(self.versions.open)),
        )

    def _find_devices(self, adapter: AdviceEditor, offer: bool) -> Devices | None:
        """What a report says of the device that the platform lacks; ``offer`` the vendor's own imports, which are not made yet."""
        device, rules = self.options.platform.device, self.options.rules
        if device is None or not adapter.started:
            return None
        known = rules.fixes.values() if offer else ()
        vendor, entries = find_other_migration(self.project, known, self.options.platform.id, lambda: adapter.started)
        titles = {one.id: Reason.of("advice-title", text=one.title, text_zh=one.title_zh) for one in rules.advice.values()}
        edits = ((one.id, one.rewrite) for one in rules.advice.values() if one.rewrite is not None)
        launched = {ident: one.value for ident, one in edits if one.recipe in ("launched-count", "or-launched")}
        apart = tuple(ident for ident, one in rules.advice.items() if one.pattern is not None and one.pattern.use == "apart")
        other = (vendor.id, entries, vendor.leaves) if vendor is not None else ()
        return Devices(device.replaces, device.type if device.module else "", titles, launched, apart, *other)

    def _make_planner(self, style: Style | None) -> Planner:
        rules, droppable = self.options.rules, partial(is_droppable, self.context, self._pure)
        missing, reexported = rules.missing_on(self.options.platform), partial(is_reexported, self.context)
        return Planner(rules, self.limits, droppable, reexported, style, missing, self.imports)

    def _find_uses(self) -> Iterator[Use]:
        """The uses of all surfaces in the files under the paths, file by file."""
        files = [name for name in self.users.names if self.limits.admits(name)]
        seen: set[ast.Call] = set()
        for number, name in enumerate(files):
            if self.options.progress is not None:
                self.options.progress(name, number, len(files))
            for module in self.project.programs(name):
                tracer, words = self.context.tracer, self.candidates.words
                received = {use.call: use for use in find_receiver_uses(tracer, module, words)}
                named = [received.get(use.call, use) for use in self.finder.uses(module, self.users.derived)]
                for use in (*named, *received.values(), *find_indirect_uses(tracer, module, words)):
                    if use.call not in seen and self.limits.admits(use.module.name):
                        seen.add(use.call)
                        yield self.signatures.of(use)
            self.project.unread(name, self.candidates.search.some)

    def _decide_use(self, use: Use) -> Iterator[Finding]:
        if use.surface.if_no_group:
            made = self.groups.has_group_for(use.module) and may_have_group(self.context, self.groups, use)
            if made or use.module in self._noted:
                return
            self._noted.add(use.module)  # one note a file
        rules, wanted = self.options.rules, self.options.wanted
        replace_fix = next((fix for fix in wanted if fix.recipe == "replace-backend"), None)
        backend = self._decide_backend(use, replace_fix or _find_backend_fix(rules))
        if backend is None and any(parameter.add == "object" for parameter in use.surface.parameters):
            return  # the object that it is passed is a site of its own
        if backend is not None and replace_fix is not None:
            parameter = next(one for one in use.surface.parameters if one.role == "backend")
            for result in add_ignored_argument_items(self.context, self.launches, parameter, backend):
                yield from self._apply_limits(result)
        for fix in wanted if not use.handed else ():
            found: Finding | None = None
            if fix.recipe == "init-method-query":
                found = decide_init_method(self.context, use, fix, backend)
            elif fix.recipe == "set-environment":
                found = decide_environment(self.context, use, fix, backend)
            if found is not None:
                yield from self._apply_limits(inherit_unsafe(self.context, found, [backend]))

    def _decide_backend(self, use: Use, fix: Fix) -> Finding | None:
        for parameter in use.surface.parameters:
            if parameter.role == "backend":
                if parameter.add == "handler":
                    return decide_handler(self.context, use, parameter, fix)
                finding = _DECIDERS.get(parameter.add, decide_backend)(self.context, use, parameter, fix)
                if finding is None:
                    return None
                if (
                    parameter.add == "statement"
                    and finding.action is Action.EDIT
                    and may_have_group(self.context, self.groups, use)
                ):
                    finding = mark_unsafe(finding)
                if finding.action is not Action.EDIT or use.overrides_init:  # what the class passes on is a call of its own
                    return finding
                return finding.with_plugin(self.options.platform.required_import, use.module)
        return None

    def _apply_limits(self, finding: Finding) -> Iterator[Finding]:
        """The finding, unless it is to be left alone, with those for its candidates."""
        finding = limit_to_use(self.context, finding)
        fix = _find_backend_fix(self.options.rules)
        for one in (drop_name_only_changes(finding, fix), *find_name_only_items(finding, fix)):
            yield from self._expand_finding(one)

    def _expand_finding(self, finding: Finding) -> Iterator[Finding]:
        kept = self.limits.filter_finding(finding)
        if kept is None:
            self.ignored += 1
            return
        settled = [keep_if_launches_set(self.context, self.launches, kept)]
        if self.options.env_in == "shell":
            settled = list(set_in_launch_files(self.context, self.launches, kept))
        for part in (part for one in settled for part in split_manual_changes(self.context, one)):
            if not part.at or part.at[0].place not in self._shown:  # several calls may read what one line gives
                yield part
            self._shown |= {source.place for source in part.at if part is not kept}


_DECIDERS = {
    "object": decide_object,
    "variable": decide_backend_variable,
    "fields": decide_fields,
    "statement": decide_statement,
    "settings": decide_settings,
}


def _find_backend_fix(rules: Rules) -> Fix:
    return next(fix for fix in rules.fixes.values() if fix.recipe == "replace-backend")
