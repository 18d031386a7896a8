"""Joins the stages: paths -> sites -> origins -> findings -> edits. Reads only; nothing is written here."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ddp_codemod.discover.files import walk
from ddp_codemod.discover.root import find_root
from ddp_codemod.discover.scope import Scope
from ddp_codemod.edits.losses import droppable, reexported
from ddp_codemod.edits.pins import pinned
from ddp_codemod.edits.plan import Planner
from ddp_codemod.edits.portable import Style
from ddp_codemod.model import Action, Decision, Place, Reason, Skipped, Survey
from ddp_codemod.origins.facts import Facts
from ddp_codemod.origins.trace import Tracer
from ddp_codemod.parse.config import SUFFIXES as CONFIGS
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell_kinds import NAMES, WINDOWS
from ddp_codemod.rules.adapt import Adapter
from ddp_codemod.rules.advice import Whole
from ddp_codemod.rules.advise import advise
from ddp_codemod.rules.by_hand import apart
from ddp_codemod.rules.decisions import decisions_of, in_order
from ddp_codemod.rules.finding import Context, Finding
from ddp_codemod.rules.launched import heed_launch_files, in_launch_files
from ddp_codemod.rules.limits import Limits
from ddp_codemod.rules.load import Rules
from ddp_codemod.rules.match import match_backend
from ddp_codemod.rules.match_chosen import match_chosen
from ddp_codemod.rules.match_environment import match_environment
from ddp_codemod.rules.match_files import match_files
from ddp_codemod.rules.match_handler import match_handler
from ddp_codemod.rules.match_object import match_object
from ddp_codemod.rules.match_url import match_init_method
from ddp_codemod.rules.model import Fix, Platform
from ddp_codemod.rules.repeats import said_once
from ddp_codemod.rules.switches import switches
from ddp_codemod.rules.versions import Versions
from ddp_codemod.sites.candidates import Candidates
from ddp_codemod.sites.find import Finder, Use
from ddp_codemod.sites.groups import Groups
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.launches import Launches
from ddp_codemod.sites.project import Project, is_under
from ddp_codemod.sites.resolve import Resolver
from ddp_codemod.sites.users import Users
from ddp_codemod.versions import Stated

SUFFIXES = (".py", ".ipynb")
LAUNCHERS = (*NAMES, *WINDOWS, *(suffix.upper() for suffix in WINDOWS))
DEEPEST = (None, 250, 60, 30)  # levels of the trees that are looked into: fewer where a stage did not come to the end of one
Progress = Callable[[str, int, int], None]


class Options(Struct, frozen=True):
    """What one run is asked to do. ``fixes`` are rule ids beside those that the platform brings."""

    paths: tuple[Path, ...]
    platform: Platform
    rules: Rules
    fixes: tuple[str, ...] = ()
    root: Path | None = None
    progress: Progress | None = None
    style: Literal["pin", "portable"] = "pin"  # portable: a condition that keeps the old value elsewhere
    env_in: Literal["python", "shell"] = "python"  # where environment rules set their variables
    scope: Scope = field(default_factory=Scope)  # what the project leaves out
    # versions of packages, where the user knows better than the project's files
    versions: Mapping[str, Stated] = field(default_factory=dict)


class Run:
    """One survey of one project."""

    def __init__(self, options: Options, deepest: int | None = None) -> None:
        paths = [Path(_absolute(path)) for path in options.paths]
        self.root = Path(_absolute(options.root)) if options.root else find_root(paths)
        platform, rules = options.platform, options.rules
        self.versions = Versions(self.root, rules.packages, platform.facts, options.versions, platform.id, rules.machines)
        self.options = options = replace(options, platform=self.versions.platform(options.platform))
        finder_surfaces = list(options.rules.surfaces.values())
        links: dict[Path, Path] = {}
        everything = list(walk(self.root, [self.root], (*SUFFIXES, *CONFIGS, *LAUNCHERS), links.setdefault))
        project_files = [path for path in everything if path.suffix in SUFFIXES]
        configs = [path for path in everything if path.suffix in CONFIGS]
        launchers = [path for path in everything if path.name.endswith(LAUNCHERS)]
        others = [path for path in paths if path.is_file() and path not in set(everything)]
        named = list(walk(self.root, others, (), links.setdefault))
        tops = {name.split(".")[0] for surface in finder_surfaces for name in surface.names}
        self.project = Project(self.root, [*project_files, *named], tops, configs, launchers)
        self.project.deepest = deepest
        under = tuple(_name(path, self.root) for path in paths)
        files = frozenset(name for name in under if (self.root / name).is_file())
        self.limits = Limits(under, files, options.scope, dict(self._led(links)))
        resolver = Resolver(self.project)
        forwarders = [forwarder for idioms in options.rules.idioms for forwarder in idioms.forwarder]
        self.candidates = Candidates(finder_surfaces, self.project)
        self.finder = Finder(finder_surfaces, resolver, self.candidates.words, forwarders)
        self.facts = Facts(resolver, options.platform.facts, options.rules.backends)
        self.context = Context(
            options.platform,
            options.rules,
            Tracer(resolver, self.facts, options.rules, options.platform),
            self.facts,
            self.versions,
        )
        self.ignored = 0
        self.users = Users(self.project, self.finder, self.candidates)
        self.groups = Groups(self.project, self.finder, self.users)
        self.launches = Launches(self.project)
        self._noted: set[Module] = set()
        self._shown: set[Place] = set()
        self._pure = {name for platform in options.rules.platforms.values() for name in platform.facts}

    def _led(self, links: dict[Path, Path]) -> Iterator[tuple[str, str]]:
        """The links in the project by name, and the names of what they lead to; those that lead out of it are skipped by name."""
        home = Path(os.path.realpath(self.root))
        for link, real in links.items():
            name = link.relative_to(self.root).as_posix()
            if real.is_relative_to(home):
                yield name, real.relative_to(home).as_posix()
            elif link.suffix in SUFFIXES and any(is_under(name, _name(path, self.root)) for path in self.options.paths):
                self.project.skipped[name] = Skipped(name, Reason.of("skipped-outside"), candidate=False)

    def survey(self) -> Survey:
        """Everything that the run finds."""
        findings = list(said_once(finding for use in self._uses() for finding in self._match(use)))
        found = match_files(self.context, self.finder, self._wanted(), self.limits.admits)
        findings += [finding for made in found for finding in self._heeded(made)]
        rules = tuple(fix.id for fix in self._wanted())
        whole = Whole(self.context, switches(self.context, findings), Imports(self.project), rules)
        adapter = Adapter(whole, {name for name in self.project.names if self.limits.admits(name)})
        findings += [finding for made in adapter.findings() for finding in self._heeded(made)]
        style = Style(self.options.platform, self.versions, self.options.rules) if self.options.style == "portable" else None
        planner = Planner(
            self.options.rules,
            self.limits,
            partial(droppable, self.context, self._pure),
            partial(reexported, self.context),
            style,
        )
        plan = planner.plan(findings)
        decided = dict.fromkeys(made for finding in plan.findings for made in decisions_of(finding))
        edits = plan.edits
        for fix in (fix for fix in self._wanted() if fix.recipe == "guard-entries"):
            from ddp_codemod.entries.plan import planned  # only one platform needs them
            from ddp_codemod.entries.survey import Entries

            entries = Entries(self.options.rules.processes, self.project, self.context, self.limits, fix).survey()
            made = planned(entries, fix, self.limits, edits)
            decided, edits, self.ignored = decided | dict.fromkeys(made.decisions), made.edits, self.ignored + made.ignored
        pins = pinned(self.root, self._wanted(), self.limits, edits, self.versions.concerned)
        edits = tuple(sorted((*edits, *pins.edits), key=lambda edit: (edit.name, edit.start, edit.end)))
        decisions = tuple(sorted(decided, key=in_order))
        names = {d.place.name for d in decisions} | {o.place.name for d in decisions for o in d.origins} | {e.name for e in edits}
        names |= {hop.place.name for d in decisions for hop in d.hops}
        spared = self.options.scope.ignores_in
        noted = advise(self.context, self.finder, plan.findings, plan.edits, self.limits.admits)
        notes = (*noted, *adapter.notes(), *pins.notes)
        advisories = tuple(note for note in notes if not (note.name and spared(note.name, {note.rule})))
        # files that the project leaves out were read for their values only
        skipped = (one for one in self.project.skipped.values() if not self.limits.excludes(one.name))
        return Survey(
            root=self.root,
            platform=self.options.platform.id,
            decisions=decisions,
            edits=edits,
            advisories=advisories,
            skipped=tuple(sorted(skipped, key=lambda one: one.name)),
            sources={name: source for name in sorted(names) if (source := self.project.source(name) or pins.sources.get(name))},
            files_seen=sum(map(self.limits.admits, self.project.names)),
            ignored=self.ignored,
            excluded=sum(self.limits.covers(name) and self.limits.excludes(name) for name in self.project.names),
            unstated=tuple(sorted(self.versions.open)),
        )

    def _uses(self) -> Iterator[Use]:
        """The uses of all surfaces in the files under the paths, file by file."""
        files = [name for name in self.users.names if self.limits.admits(name)]
        for number, name in enumerate(files):
            if self.options.progress is not None:
                self.options.progress(name, number, len(files))
            for module in self.project.programs(name):
                yield from self.finder.uses(module, self.users.derived)
            self.project.unread(name, self.candidates.search.some)

    def _match(self, use: Use) -> Iterator[Finding]:
        if use.surface.if_no_group:
            if use.module in self._noted or self.groups.made_for(use.module):
                return
            self._noted.add(use.module)  # one note a file
        rules = self.options.rules
        wanted = self._wanted()
        replace_fix = next((fix for fix in wanted if fix.recipe == "replace-backend"), None)
        backend = self._backend(use, replace_fix or _no_fix(rules))
        if backend is None and any(parameter.add == "object" for parameter in use.surface.parameters):
            return  # the object that it is given is a site of its own
        if backend is not None and replace_fix is not None:
            yield from self._heeded(backend)
        for fix in wanted:
            found: Finding | None = None
            if fix.recipe == "init-method-query":
                found = match_init_method(self.context, use, fix, backend)
            elif fix.recipe == "set-environment":
                found = match_environment(self.context, use, fix, backend)
            if found is not None:
                yield from self._heeded(found)

    def _wanted(self) -> list[Fix]:
        """The rules that this run brings, each once."""
        return [self.options.rules.fixes[ident] for ident in dict.fromkeys((*self.options.platform.rules, *self.options.fixes))]

    def _backend(self, use: Use, fix: Fix) -> Finding | None:
        for parameter in use.surface.parameters:
            if parameter.role == "backend":
                if parameter.add == "handler":
                    return match_handler(self.context, use, parameter, fix)
                match = {"object": match_object, "variable": match_chosen}.get(parameter.add, match_backend)
                finding = match(self.context, use, parameter, fix)
                if finding is None:
                    return None
                needed = self.options.platform.required_import
                # a file that knows the module imports it where it wants to
                wanted = finding.action is Action.EDIT and needed is not None and needed not in use.module.source.text
                wanted = wanted and not use.own_init  # what the class hands on is a call of its own
                return replace(finding, required_import=needed) if wanted else finding
        return None

    def _heeded(self, finding: Finding) -> Iterator[Finding]:
        """The finding, unless it is to be left alone."""
        heeded = self.limits.heed(finding)
        if heeded is None:
            self.ignored += 1
            return
        settled = [heed_launch_files(self.context, self.launches, heeded)]
        if self.options.env_in == "shell":
            settled = list(in_launch_files(self.context, self.launches, heeded))
        for part in (part for one in settled for part in apart(self.context, one)):
            if not part.at or part.at[0].place not in self._shown:  # several calls may read what one line gives
                yield part
            self._shown |= {leaf.place for leaf in part.at if part is not heeded}


def survey(options: Options) -> Survey:
    """Look through a project and work out every site, what happens to it and why, and the edits."""
    collecting = gc.isenabled()
    gc.disable()  # a tree is millions of objects, none of them garbage before the end: looking for some takes twice the parser's time
    try:
        for deepest in DEEPEST[:-1]:
            with suppress(RecursionError):
                return Run(options, deepest).survey()
        return Run(options, DEEPEST[-1]).survey()
    finally:
        if collecting:
            gc.enable()


def explain(options: Options, path: Path, line: int) -> Survey:
    """The survey, limited to the decisions whose call, value or origin touches a line, and to its notes."""
    whole = survey(options)
    name = Path(_absolute(path)).relative_to(whole.root).as_posix()

    def touches(place_name: str, start: int, end: int) -> bool:
        source = whole.sources.get(name)
        return place_name == name and source is not None and source.position(start)[0] <= line <= source.position(end)[0]

    def concerns(decision: Decision) -> bool:
        places = [decision.call, decision.place, *(origin.place for origin in decision.origins)]
        places += [hop.place for hop in decision.hops if hop.reason.key == "hop-start"]
        return any(touches(place.name, place.start, place.end) for place in places)

    chosen = tuple(decision for decision in whole.decisions if concerns(decision))
    edits = tuple(edit for edit in whole.edits if touches(edit.name, edit.start, edit.end))
    notes = tuple(note for note in whole.advisories if (note.name, note.line) == (name, line))
    return replace(whole, decisions=chosen, edits=edits, advisories=notes)


def _name(path: Path, root: Path) -> str:
    return Path(_absolute(path)).relative_to(root).as_posix()


def _absolute(path: Path) -> str:
    return os.path.normpath(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _no_fix(rules: Rules) -> Fix:
    return next(fix for fix in rules.fixes.values() if fix.recipe == "replace-backend")


__all__ = ["Options", "explain", "survey"]
