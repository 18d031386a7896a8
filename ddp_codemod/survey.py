"""What a run is asked, and its beginning: a look at the bytes of a project's files, which is all that most runs of a hook need."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.discover.files import MAX_BYTES
from ddp_codemod.discover.listing import Listing, absolute
from ddp_codemod.discover.scope import Scope
from ddp_codemod.discover.unsaved import unsaved
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Decision, Reason, Skipped, Survey
from ddp_codemod.rules.backend import assess
from ddp_codemod.rules.load import Rules
from ddp_codemod.rules.model import Fix, Platform
from ddp_codemod.sites.candidates import Candidates
from ddp_codemod.sites.targets import TARGETS
from ddp_codemod.sites.texts import Texts
from ddp_codemod.sites.words import Words
from ddp_codemod.versions import Stated

DEEPEST = (None, 250, 60, 30)  # levels of the trees that are looked into: fewer where a stage did not come to the end of one
Progress = Callable[[str, int, int], None]
# rules that do nothing where no surface is used
ABOUT_USES = frozenset({"replace-backend", "init-method-query", "set-environment"})


class Options(Struct, frozen=True):
    """What one run is asked to do. ``fixes`` are rule ids beside those that the platform brings."""

    paths: tuple[Path, ...]
    platform: Platform
    rules: Rules
    fixes: tuple[str, ...] = ()
    root: Path | None = None
    progress: Progress | None = None
    keep: Callable[[object], object] | None = None  # takes what was read of a project: a process that ends need not take it apart
    style: Literal["pin", "portable"] = "pin"  # portable: a condition that keeps the old value elsewhere
    env_in: Literal["python", "shell"] = "python"  # where environment rules set their variables
    scope: Scope = field(default_factory=Scope)  # what the project leaves out
    # versions of packages, where the user knows better than the project's files
    versions: Mapping[str, Stated] = field(default_factory=dict)

    @property
    def wanted(self) -> list[Fix]:
        """The rules that the run brings, each once."""
        return [self.rules.fixes[ident] for ident in dict.fromkeys((*self.platform.rules, *self.fixes))]


class Look:
    """The files of a project and which of them can use a surface; nothing is parsed yet."""

    def __init__(self, options: Options, listing: Listing | None = None) -> None:
        self.options = options
        self.listing = listing = listing or Listing(options.paths, options.root)
        self.texts = Texts(listing.root, listing.programs)
        self.bounds = Bounds(listing.under, listing.named, options.scope, listing.led)
        self.candidates = Candidates(options.rules.surfaces.values(), self.texts)

    @property
    def is_over(self) -> bool:
        """Whether nothing can come of going on: no file uses a surface, and no rule of the run asks for anything else."""
        options = self.options
        if self.candidates.names or options.platform.earlier or any(fix.recipe not in ABOUT_USES for fix in options.wanted):
            return False
        shown_by = {package for surface in options.rules.surfaces.values() if surface.key for package in surface.shown_by}
        if self.texts.naming(shown_by) or self._names_wrong:
            return False
        others = map(_content, (*self.listing.configs, *self.listing.launchers))
        return not any(self._may_name(data) or (len(data) < MAX_BYTES and self.is_wrong(data)) for data in others)

    def _may_name(self, config: bytes) -> bool:
        """Whether a configuration file may say what is called, and that it is a surface."""
        return any(target.encode() in config for target in TARGETS) and self.candidates.every.some(config)

    @property
    def _names_wrong(self) -> bool:
        """Whether any file holds the name of a backend that does not work on the platform."""
        return any(self.is_wrong(self.texts.data(name)) for name in self.texts.names)

    def is_wrong(self, data: bytes) -> bool:
        """Whether bytes hold the name of a backend that does not work on the platform."""
        return self._wrong.some(data.lower())

    @cached_property
    def _wrong(self) -> Words:
        rules, platform = self.options.rules, self.options.platform
        return Words(name.lower() for name in rules.backends if assess(name, platform.backend, rules.backends).wanted)

    def left_unread(self, lost: Mapping[str, Reason], unfit: Mapping[str, Skipped]) -> dict[str, Skipped]:
        """The files that could not be read, or are not, by their names."""
        from ddp_codemod.sites.unread import left_unread

        lost = {**self.texts.lost, **lost}
        return {one.name: one for one in left_unread(self.listing, self.bounds, lost, unfit, self.is_wrong, self._mentions)}

    def _mentions(self, name: str) -> bool:
        """Whether Python code under the paths of the run holds a name, or what an import makes of it."""
        return any(self.bounds.admits(file) for file in self.texts.naming({name, name.replace("-", "_")}))

    def nothing(self) -> Survey:
        """What a run comes to that is over already."""
        names, bounds = self.texts.names, self.bounds
        skipped = [Skipped(name, Reason.of("skipped-outside"), candidate=False) for name in self.listing.outside]
        large = Reason.of("skipped-too-large", limit=MAX_BYTES // 1_000_000)
        skipped += [Skipped(name, large, candidate=False) for name in names if len(self.texts.data(name)) == MAX_BYTES]
        skipped = list(({one.name: one for one in skipped} | self.left_unread({}, {})).values())
        return Survey(
            root=self.listing.root,
            platform=self.options.platform.id,
            decisions=(),
            edits=(),
            advisories=(),
            skipped=tuple(sorted((one for one in skipped if not bounds.excludes(one.name)), key=lambda one: one.name)),
            files_seen=sum(map(bounds.admits, names)),
            excluded=sum(bounds.covers(name) and bounds.excludes(name) for name in names),
        )


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes() if (data := unsaved(path)) is None else data
    except OSError:
        return b""


def survey(options: Options) -> Survey:
    """Look through a project and work out every site, what happens to it and why, and the edits.

    Of a folder of repositories each is a project of its own.
    """
    listing = Listing(options.paths, options.root)
    parts = listing.repositories() if all(fix.recipe in ABOUT_USES for fix in options.wanted) else [listing]
    if len(parts) == 1:
        return survey_of(options, listing)
    from ddp_codemod.collection import surveyed

    return surveyed(options, parts)


def survey_of(options: Options, listing: Listing) -> Survey:
    """The survey of one project."""
    collecting = gc.isenabled()
    gc.disable()  # a tree is millions of objects, none of them garbage before the end: looking for some takes twice the parser's time
    try:
        look = Look(options, listing)
        if look.is_over:
            return look.nothing()
        for deepest in DEEPEST[:-1]:
            with suppress(RecursionError):
                return _run(look, deepest)
        return _run(look, DEEPEST[-1])
    finally:
        if options.keep is not None:
            gc.freeze()  # nor look through it for garbage
        if collecting:
            gc.enable()


def _run(look: Look, deepest: int | None) -> Survey:
    from ddp_codemod.pipeline import Run  # 20 ms

    run = Run(look, deepest)
    if look.options.keep is not None:
        look.options.keep(run)
        return run.survey()
    found = run.survey()
    run.project.take_apart()
    return found


def explain(options: Options, path: Path, line: int) -> Survey:
    """The survey, limited to the decisions whose call, value or origin touches a line, and to its notes."""
    whole = survey(options)
    return about(whole, Path(absolute(path)).relative_to(whole.root).as_posix(), line)


def about(whole: Survey, name: str, line: int) -> Survey:
    """What of a survey touches a line of a file."""

    def touches(place_name: str, start: int, end: int) -> bool:
        source = whole.sources.get(name)
        return place_name == name and source is not None and source.position(start)[0] <= line <= source.position(end)[0]

    def concerns(decision: Decision) -> bool:
        places = [decision.call, decision.place, *(origin.place for origin in decision.origins)]
        places += [hop.place for hop in decision.hops if hop.reason.means is Meaning.PLACE]
        return any(touches(place.name, place.start, place.end) for place in places)

    chosen = tuple(decision for decision in whole.decisions if concerns(decision))
    edits = tuple(edit for edit in whole.edits if touches(edit.name, edit.start, edit.end))
    notes = tuple(note for note in whole.advisories if (note.name, note.line) == (name, line))
    left = tuple(one for one in whole.unaccounted if (one.place.name, one.line) == (name, line))
    return replace(whole, decisions=chosen, edits=edits, advisories=notes, unaccounted=left)
