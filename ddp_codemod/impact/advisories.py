"""Which advice holds in this run, and where: notes on lines that no edit cures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cached_property
from itertools import groupby

from msgspec import Struct, field

from ddp_codemod.catalog.advisory import Advice, Pattern
from ddp_codemod.catalog.backends import find_libraries
from ddp_codemod.catalog.processes import may_be_bare
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.discover.listing import is_under
from ddp_codemod.impact.advice_text import format_advice, name_install_page
from ddp_codemod.impact.asking_functions import find_calling_files
from ddp_codemod.impact.changed_backends import BackendSwitches
from ddp_codemod.impact.guarded_places import is_guarded
from ddp_codemod.impact.library_devices import find_library_devices, is_for_library
from ddp_codemod.impact.target_device import adapt_to_device
from ddp_codemod.impact.usage import Hit, Runs, find_hits
from ddp_codemod.impact.usage_bytes import is_about_calls, may_call, may_hold, texts_of
from ddp_codemod.impact.usage_settings import find_in_launch_files, find_in_readmes, find_outside_lines
from ddp_codemod.model import Advisory
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.config_loaded_names import ConfigLoadedNames
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.launched_programs import drop_others, find_launched_programs, follow_starts
from ddp_codemod.sites.reachability import is_started
from ddp_codemod.sites.training_files import find_framework_files, find_training_files
from ddp_codemod.sites.word_search import TextMatcher

_OUTSIDE = ("configured", "option", "stated", "built")  # what is looked for outside of programs
MANY = 100  # files to parse, which take longer than to find out which files belong together


class PortedProject(Struct, dict=True):
    """The project as it will be: what its groups switch to, and which files that concerns."""

    context: Context
    switches: BackendSwitches
    imports: Imports
    rules: tuple[str, ...]  # those in force
    alone: bool = True  # the code is for this platform alone; False: others run it too
    files_alone: frozenset[str] = frozenset()  # the files that the run is about alone: they are ported, whatever starts them
    folders_alone: tuple[str, ...] = ()  # the folders that it is about alone
    _sure: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    _concerned: dict[frozenset[str], set[str]] = field(default_factory=dict)  # by the files of the groups
    _holding: dict[Pattern, set[str]] = field(default_factory=dict)

    def advice(self) -> list[Advice]:
        """The advice that holds on the platform, for these versions and rules, without what other advice stands for."""
        device = self.context.platform.device
        found = [advice for advice in self.context.rules.advice.values() if self._is_in_force(advice)]
        found = [adapt_to_device(advice, device) for advice in found] if device is not None else found
        found = [name_install_page(advice, self.context.platform) for advice in found]
        instead = {ident for advice in found if advice.supersedes and self.versions(advice) for ident in advice.supersedes}
        return [advice for advice in found if advice.id not in instead]

    def versions(self, advice: Advice, file: str = "") -> bool:
        """Whether it holds for the versions that the project states, here for the code of a file."""
        known = self.context.versions.holds(advice.when, file, asks=advice.if_open)
        if known is None and advice.if_admitted and all(self.context.versions.alternatives(one, file) for one in advice.when):
            return True
        if known is None and not advice.if_open and advice.rewrite is None:
            # a note costs less than an edit: a README's word will do
            return self.context.versions.is_shown(advice.when, file)
        return advice.if_open if known is None else known

    def _is_in_force(self, advice: Advice) -> bool:
        platform = self.context.platform
        if not advice.fits(platform):
            return False
        known = self.context.rules.backends
        of = {name for backend in advice.backend for name in find_libraries(backend, known)}
        if advice.backend and platform.backend.wanted not in of:
            return False  # a group on it serves other tensors than those of the platform's device
        if advice.rule is not None and advice.rule not in self.rules:
            return False
        if advice.bare and not self._bare:
            return False
        if advice.mentions and not any(map(self.context.tracer.resolver.project.mentioning, advice.mentions)):
            return False
        if advice.picks:
            return advice.picked(platform)
        return bool(self.groups(advice))

    @cached_property
    def _bare(self) -> bool:
        known = self.context.rules
        return may_be_bare(known.processes, self.context.facts.facts, (known.fixes[ident] for ident in self.rules))

    def groups(self, advice: Advice) -> set[str]:
        """The files of the groups that an advice is about; of one about the device, or a torch without groups, also those that train."""
        found = self.switches.to(advice.backend, advice.anyhow)
        if advice.whole:
            found = {name for name in found if not self.switches.whole.get(name, frozenset()).isdisjoint(advice.backend)}
        if advice.pattern is not None and advice.pattern.use == "apart":
            return found  # several ranks take a group
        if advice.bare:  # what a library does there fails without a group of the project's too
            names = advice.pattern.names if advice.pattern is not None and advice.pattern.use == "called" else ()
            calling = self.context.tracer.resolver.project.naming(name.partition(".")[0] for name in names)
            return found | self._training | {name for name in calling if not is_test(name)}
        return found | self.training | self.launched | self.named if advice.where and not advice.backend else found

    def _has_composite(self, advice: Advice, name: str) -> bool:
        """Whether a file makes a default group, and none that has a backend of the advice for all devices."""
        made = self.switches.whole.get(name)
        return made is not None and made.isdisjoint(advice.backend)

    def is_ported(self, program: str) -> bool:
        """Whether people start a program by a command of the project, or it makes a group or trains, or imports a file that does."""
        if program in self.launched:
            return True
        making = self.switches.undecided.union(self.switches.groups, self.training)
        return not making.isdisjoint(self.imports.below([program]))

    @cached_property
    def training(self) -> set[str]:
        """The files that train, in one process or several, if the platform lacks the device that they were written for."""
        return self._training if self.context.platform.device is not None else set()

    @cached_property
    def _training(self) -> set[str]:
        rules = self.context.rules
        return find_training_files(self.context.tracer.resolver.project, rules.processes, rules.idioms)

    @cached_property
    def launched(self) -> set[str]:
        """The programs that the project's commands start, and that use the device which the platform lacks, or import what does."""
        device, rules = self.context.platform.device, self.context.rules
        if device is None:
            return set()
        project = self.imports.project
        ours = find_framework_files(project, rules.processes, rules.idioms)
        using = set[str]().union(*map(project.files_using_device, device.used_as if ours else ()))
        able = self.imports.above(using) & self.imports.above(ours) if using else set()
        launched = find_launched_programs(project, able)
        known = self.imports.above({*self.training, *self.switches.groups} & {*project.names})
        starts = {word for table in rules.processes for word in table.starts}
        return (follow_starts(project, self.imports, launched | known, able, starts) - known) | launched

    @cached_property
    def named(self) -> set[str]:
        """The files that the run names, and the programs in the folders that it names where nothing else is started."""
        found = {*self.files_alone}
        if self.folders_alone and self.context.platform.device is not None:
            project = self.imports.project
            known = {*self.training, *self.switches.groups} & {*project.names}
            reached = self.imports.below(self.launched | self.imports.above(known))
            for folder in self.folders_alone:
                inside = {name for name in project.names if is_under(name, folder)}
                if inside.isdisjoint(reached):
                    found |= {name for name in drop_others(inside) if is_started(project, self.imports, name)}
        return found

    def files(self, advice: Advice) -> set[str]:
        """The files in which a switched group is used."""
        groups = frozenset(self.groups(advice))
        if groups not in self._concerned:
            self._concerned[groups] = self._find_together(groups)
        return self._concerned[groups]

    def sure(self, advice: Advice) -> set[str]:
        """The files in which a group is used that is so without an unsafe edit."""
        if advice.backend not in self._sure:
            wanted = set(advice.backend)
            names = {name for name, found in self.switches.safe.items() if not wanted or found & wanted}
            self._sure[advice.backend] = self._find_together(names)
        return self._sure[advice.backend]

    def _find_together(self, names: Iterable[str]) -> set[str]:
        """The files that run together with the named ones, and what they load by names in settings."""
        return self.loaded_by_name.loaded(self.imports.together(names), self.imports.below)[0]

    @cached_property
    def loaded_by_name(self) -> ConfigLoadedNames:
        """What settings name, and who loads it."""
        return ConfigLoadedNames(self.imports.project, {name for idioms in self.context.rules.idioms for name in idioms.loaders})

    def find_hits(
        self, advice: Advice, named: Iterable[str], in_scope: Callable[[], Set[str]], runs: Runs | None = None
    ) -> Iterator[Hit]:
        """The places in these files that the advice is about, where the platform comes past them; ``in_scope`` is asked late.

        ``runs``: what code is looked at, where looking takes long.
        """
        pattern = advice.pattern
        assert pattern is not None
        project = self.context.tracer.resolver.project
        able = self.holding(pattern)
        names = sorted(name for name in named if name in able)
        if advice.level == "review" or sum(not project.is_parsed(name) for name in names) > MANY:
            names = [name for name in names if name in in_scope()]
        for name in names:
            if not advice.if_open and not self.versions(advice, name):
                continue  # nothing has to be read for what no version is stated for
            for module in project.programs(name):
                found = [
                    hit
                    for hit in find_hits(self.context, pattern, module, *([runs] if runs else ()))
                    if not self._is_guarded(advice, hit)
                ]
                # which files belong together is asked late: it takes the imports of the whole project
                yield from found if found and self.versions(advice, name) and name in in_scope() else ()

    def holding(self, pattern: Pattern) -> set[str]:
        """The files whose bytes may hold what a pattern looks for."""
        if pattern not in self._holding:
            project = self.context.tracer.resolver.project
            able = {texts for texts in self._kinds if may_hold(pattern, texts)}
            found = {name: texts for name, texts in self._texts.items() if texts in able}
            called = is_about_calls(pattern)
            self._holding[pattern] = {
                name for name, texts in found.items() if not called or may_call(pattern, texts, project.data(name))
            }
            if pattern.use == "required":
                self._holding[pattern] |= find_calling_files(project, pattern, self._holding[pattern])
        return self._holding[pattern]

    @cached_property
    def _texts(self) -> dict[str, frozenset[str]]:
        """What each file holds of all that an advice may look for."""
        project = self.context.tracer.resolver.project
        patterns = [advice.pattern for advice in self.advice() if advice.pattern is not None]
        parts = TextMatcher(text for pattern in patterns for text in texts_of(pattern))
        same: dict[frozenset[str], frozenset[str]] = {}
        found = ((name, parts.held(project.data(name))) for name in project.names)
        return {name: same.setdefault(held, held) for name, held in found}

    @cached_property
    def _kinds(self) -> frozenset[frozenset[str]]:
        """The sets of texts that files hold: many hold the same."""
        return frozenset(self._texts.values())

    @cached_property
    def _library_devices(self) -> frozenset[ast.AST]:
        """The calls of libraries that know the old device by name alone, and the texts that name it to them."""
        about = [advice.pattern for advice in self.advice() if advice.keeps_devices and advice.pattern is not None]
        return find_library_devices(self.context, {name for pattern in about for name in pattern.names})

    def _is_guarded(self, advice: Advice, hit: Hit) -> bool:
        """Whether the code sees to it that this is not done here."""
        own = self.switches.calls.get(hit.node)
        if own is not None and advice.backend and not own[advice.anyhow] & set(advice.backend):
            return True
        if (advice.where and is_for_library(hit, self._library_devices)) or (
            advice.whole and self._has_composite(advice, hit.module.name)
        ):
            return True
        before = self.switches.before.get(hit.node, frozenset())
        if advice.replaces and not before <= set(advice.replaces):
            return True
        return is_guarded(self.context, advice, hit)


def collect_notes(whole: PortedProject, writable: Set[str], cured: Callable[[Hit], bool]) -> Iterator[Advisory]:
    """All notes on the files that may be written, without the places that an edit cures."""
    for advice in whole.advice():
        if advice.level == "note":
            found = sorted(set(_find_lines(whole, advice, writable, cured)))
            if advice.pattern is None:
                concerns = writable & whole.groups(advice)
                found = [("", 0)] if concerns and any(whole.versions(advice, name) for name in sorted(concerns)) else []
            yield from _emit_notes(whole, advice, found)


def _emit_notes(whole: PortedProject, advice: Advice, found: list[tuple[str, int]]) -> Iterator[Advisory]:
    """One note a line, a file or the project; further lines are named in it. What may not hold is reported once."""
    known = whole.context.versions.holds(advice.when, found[0][0]) if found else None
    scope = advice.scope if known else "project"
    keys = {"line": lambda place: place, "file": lambda place: place[0], "project": lambda place: ""}
    for _, group in groupby(found, key=keys[scope]):
        (name, line), *others = group
        more = [str(other) if file == name else f"{file}:{other}" for file, other in others]
        yield Advisory(name, line, advice.id, format_advice(advice, more), advice.ends)


def _find_lines(
    whole: PortedProject, advice: Advice, writable: Set[str], cured: Callable[[Hit], bool]
) -> Iterator[tuple[str, int]]:
    if advice.pattern is None:
        return
    if advice.pattern.commands or advice.pattern.use in _OUTSIDE:
        if advice.pattern.commands:
            found = [
                *find_in_launch_files(whole.context, advice.pattern),
                *find_in_readmes(whole.context, advice.pattern, whole.groups(advice)),
            ]
        else:
            found = list(find_outside_lines(whole.context, advice.pattern, lambda: whole.groups(advice), whole.is_ported))
        yield from (place for place in found if whole.versions(advice, place[0]))  # what is stated nearest to the file counts
        return
    for hit in whole.find_hits(advice, writable, lambda: writable if advice.picks else whole.files(advice)):
        if not cured(hit):
            yield hit.module.name, hit.module.line(hit.node)
