"""The beginning of a run: a look at the bytes of a project's files, which is all that most runs of a hook need."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from ddp_codemod.catalog.backends import assess
from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.discover.file_digests import MAX_BYTES, note
from ddp_codemod.discover.listing import Listing
from ddp_codemod.discover.unsaved import find_unsaved_text
from ddp_codemod.model import Reason, Skipped, Survey
from ddp_codemod.run.options import ABOUT_USES, Options
from ddp_codemod.sites.candidates import Candidates
from ddp_codemod.sites.file_texts import FileTexts
from ddp_codemod.sites.target_keys import TARGETS
from ddp_codemod.sites.word_search import TextMatcher, WordMatcher


class Prefilter:
    """The files of a project and which of them can use a surface; nothing is parsed yet."""

    def __init__(self, options: Options, listing: Listing | None = None) -> None:
        self.options = options
        self.listing = listing = listing or Listing(options.paths, options.root)
        self.texts = FileTexts(listing.root, listing.programs)
        self.bounds = Bounds(listing.under, listing.named, options.scope, listing.led, listing.apart)
        self.candidates = Candidates(options.rules.surfaces.values(), self.texts)

    @cached_property
    def outside_links(self) -> list[Skipped]:
        """Links that lead out of the root, where the code goes through them."""
        if not self.listing.outside and not self.listing.outside_folders:
            return []
        from ddp_codemod.run.outside_links import find_outside_links

        return list(find_outside_links(self.listing, self.bounds, self.texts, _read_content))

    @property
    def is_over(self) -> bool:
        """Whether nothing can come of going on: no file uses a surface, and no rule of the run asks for anything else."""
        options = self.options
        if (
            self.candidates.names
            or options.recorded
            or options.platform.earlier
            or any(fix.recipe not in ABOUT_USES for fix in options.wanted)
        ):
            return False
        shown_by = {package for surface in options.rules.surfaces.values() if surface.key for package in surface.shown_by}
        if self.texts.naming(shown_by | self._names_picking_backend) or self._has_failing_backend or self._may_run_elsewhere:
            return False
        others = map(_read_content, (*self.listing.configs, *self.listing.launchers, *self.listing.natives))
        counts = (
            self._may_name(data) or self._start_command_matcher.held(data) or (len(data) < MAX_BYTES and self.is_wrong(data))
            for data in others
        )
        return not any(counts)

    @property
    def _names_picking_backend(self) -> set[str]:
        """The last names of what takes a backend that does not work on the platform, where nothing says which."""
        platform = self.options.platform
        about = [one for one in self.options.rules.advice.values() if one.picked(platform) and one.fits(platform)]
        return {name.rpartition(".")[2] for one in about if one.pattern is not None for name in one.pattern.names}

    @property
    def _may_run_elsewhere(self) -> bool:
        """Whether a program may train in one process, or be started by itself, and the platform lacks the device of most."""
        if (device := self.options.platform.device) is None:
            return False
        words = {word for table in self.options.rules.processes for word in (*table.trains, *table.fits)}
        if self.texts.naming(words):
            return True
        return bool(
            (self.listing.launchers or self.bounds.files_alone or self.bounds.folders_alone)
            and any(map(self.texts.files_using_device, device.used_as))
        )

    def _may_name(self, config: bytes) -> bool:
        """Whether a configuration file may say what is called, and that it is a surface."""
        return any(target.encode() in config for target in TARGETS) and self.candidates.every.some(config)

    @property
    def _has_failing_backend(self) -> bool:
        """Whether any file holds the name of a backend that does not work on the platform."""
        return any(self.is_wrong(self.texts.data(name)) for name in self.texts.names)

    def is_wrong(self, data: bytes) -> bool:
        """Whether bytes hold the name of a backend that does not work on the platform."""
        return self._failing_backend_matcher.some(data.lower())

    @cached_property
    def _start_command_matcher(self) -> TextMatcher:
        """The names of programs whose commands choose a backend."""
        surfaces = self.options.rules.surfaces.values()
        return TextMatcher(command for surface in surfaces for command in surface.commands)

    @cached_property
    def _failing_backend_matcher(self) -> WordMatcher:
        rules, platform = self.options.rules, self.options.platform
        wrong = [name for name in rules.backends if assess(name, platform.backend, rules.backends).wanted]
        return WordMatcher(
            text.lower() for name in wrong for text in (name, *(one.rpartition(".")[2] for one in rules.backends[name].makers))
        )

    def left_unread(self, lost: Mapping[str, Reason], unfit: Mapping[str, Skipped]) -> dict[str, Skipped]:
        """The files that could not be read, or are not, by their names."""
        from ddp_codemod.sites.unread_files import find_unread_files

        lost = {**self.texts.lost, **lost}
        return {
            one.name: one for one in find_unread_files(self.listing, self.bounds, lost, unfit, self.is_wrong, self._has_mention)
        }

    def _has_mention(self, name: str) -> bool:
        """Whether Python code under the paths of the run holds a name, or what an import makes of it."""
        return any(self.bounds.admits(file) for file in self.texts.naming({name, name.replace("-", "_")}))

    def make_empty_survey(self) -> Survey:
        """What a run comes to that is over already."""
        names, bounds, device = self.texts.names, self.bounds, self.options.platform.device
        skipped = self.outside_links
        large = Reason.of("skipped-too-large", limit=MAX_BYTES // 1_000_000)
        skipped = [
            *skipped,
            *(Skipped(name, large, candidate=False) for name in names if len(self.texts.data(name)) == MAX_BYTES),
        ]
        skipped = list(({one.name: one for one in skipped} | self.left_unread({}, {})).values())
        return Survey(
            root=self.listing.root,
            platform=self.options.platform.id,
            decisions=(),
            edits=(),
            advisories=(),
            skipped=tuple(sorted((one for one in skipped if not bounds.excludes(one.name)), key=lambda one: one.name)),
            **bounds.count_files(names),
            without_entry_point=sum(map(bounds.admits, self.texts.files_using_device(device.replaces)))
            if device is not None
            else 0,
        )


def _read_content(path: Path) -> bytes:
    data = find_unsaved_text(path)
    with suppress(OSError):
        if data is None:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES)
    note(path, data)
    return data or b""
