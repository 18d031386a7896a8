"""The frozen types that cross the stages of the pipeline.

Offsets are characters of ``Source.text``; lines count from 1, columns from 0 in code points.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.start import Start


class Action(str, Enum):
    """What happens to a site."""

    EDIT = "edit"
    KEEP = "keep"
    REVIEW = "review"


class Applicability(str, Enum):
    """How sure an edit is (design.md, "Applicability")."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"


class Reason(Struct, frozen=True):
    """A sentence for the reader: a key of ``messages/*.toml`` and what fills its braces; ``means`` is what decisions may ask."""

    key: str
    args: tuple[tuple[str, str], ...] = ()
    means: Meaning | None = None

    @classmethod
    def of(cls, key: str, means: Meaning | None = None, /, **args: object) -> Reason:
        """Build a reason, turning every argument into text."""
        return cls(key, tuple((name, str(value)) for name, value in args.items()), means)


LINE_END = re.compile(r"\r\n?|\n")
Replacement = tuple[int, int, str]  # start and end of a stretch of text, and the new text for it


def replace_stretches(text: str, replacements: Sequence[Replacement]) -> str:
    """The text with the stretches replaced, which are in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for start, end, new in replacements:
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


class Source(Struct, frozen=True, dict=True):
    """One file as it was read: its bytes, its text without a byte order mark, and how to go back.

    A notebook's ``text`` is the Python of its cells; ``position`` speaks of the file, all else of the text.
    """

    path: Path
    name: str  # relative to the root, "/" as separator
    data: bytes
    text: str
    encoding: str  # a codec that turns text back into data, byte for byte ("utf-8-sig" where there is a BOM)

    @cached_property
    def line_starts(self) -> array[int]:
        """Offset of the first character of each line; lines end at \\n, \\r\\n and \\r, as in Python's grammar."""
        if "\r" in self.text:
            return array("I", [0, *(end.end() for end in LINE_END.finditer(self.text))])
        *lines, _ = self.text.split("\n")
        return array("I", accumulate((len(line) + 1 for line in lines), initial=0))

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of a character offset, in the file."""
        row = bisect_right(self.line_starts, offset) - 1
        return row + 1, offset - self.line_starts[row]

    def offset(self, line: int, utf8_column: int) -> int:
        """Character offset of an ``ast`` position, whose columns are UTF-8 bytes."""
        start = self.line_starts[line - 1]
        if self.text.isascii():
            return start + utf8_column
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        head = self.text[start:end]
        if head.isascii():
            return start + utf8_column
        return start + len(head.encode("utf-8")[:utf8_column].decode("utf-8", "ignore"))

    def line_span(self, offset: int) -> tuple[int, int]:
        """Start and end (with its line ending) of the line that holds the offset."""
        row = bisect_right(self.line_starts, offset) - 1
        end = self.line_starts[row + 1] if row + 1 < len(self.line_starts) else len(self.text)
        return self.line_starts[row], end

    def contains_word(self, word: str) -> bool:
        """Whether the text holds a word, in small letters or in capitals."""
        if word not in self._word_cache:
            self._word_cache[word] = word in self.text.lower()
        return self._word_cache[word]

    @cached_property
    def _word_cache(self) -> dict[str, bool]:
        return {}

    @property
    def file(self) -> Source:
        """The file itself, where ``text`` is only a part of it."""
        return self

    def written(self, replacements: Sequence[Replacement]) -> str | Reason:
        """The text of the file with stretches of ``text`` replaced, which are in order; a reason where that cannot be."""
        return replace_stretches(self.text, replacements)

    @cached_property
    def newline(self) -> str:
        """The line ending that the file uses first, "\\n" where it has none."""
        for index, character in enumerate(self.text):
            if character == "\n":
                return "\n"
            if character == "\r":
                return "\r\n" if self.text[index + 1 : index + 2] == "\n" else "\r"
        return "\n"


class Place(Struct, frozen=True):
    """A stretch of one file: ``name`` is relative to the root."""

    name: str
    start: int
    end: int


class Step(Struct, frozen=True):
    """One step on the way from a call to an origin, for ``explain``."""

    place: Place
    reason: Reason


class Origin(Struct, frozen=True):
    """An expression that a value starts from.

    ``known`` tells whether ``value`` is what it gives; an unknown origin carries ``why``.
    """

    place: Place
    kind: OriginKind
    known: bool
    value: Any = None
    why: Reason | None = None
    steps: tuple[Step, ...] = ()


class Decision(Struct, frozen=True):
    """What was decided for one site: a call (or other use of a surface) and one of its parameters."""

    place: Place  # the value, or the call where the parameter is omitted
    call: Place
    surface: str
    parameter: str
    value: str | None  # source text; None where omitted
    resolves_to: tuple[str, ...]
    origins: tuple[Origin, ...]
    action: Action
    applicability: Applicability
    rule: str | None
    reason: Reason
    steps: tuple[Step, ...] = ()


class Recipe(Struct, frozen=True):
    """A structural rewrite of the text between ``Edit.start`` and ``Edit.end``: its name and what rule data gives it."""

    name: str
    args: tuple[tuple[str, str], ...] = ()


REMOVE_IMPORT = "remove-import-name"  # the recipe that takes a name out of an import


class Edit(Struct, frozen=True):
    """One change of one stretch of text. ``after`` is the new text, or None where ``recipe`` has still to make it.

    Edits of one ``group`` belong together: they are applied all or none. ``also`` are other groups that need this edit too (an
    import, say): it is made with any of them.
    """

    name: str
    start: int
    end: int
    after: str | None
    rule: str
    applicability: Applicability
    reason: Reason
    group: int = 0
    recipe: Recipe | None = None
    anchor: int | None = None  # where the reader should look, if that is not ``start``
    also: tuple[int, ...] = ()

    @property
    def groups(self) -> tuple[int, ...]:
        """Every group that the edit belongs to."""
        return (self.group, *self.also)


# The notes that the engine itself gives; a platform's warnings are notes of their own ids.
MISSING_NAME, TIED, CHANGED = NOTES = ("missing-name", "tied-to-the-name", "changed-backend")


class Advisory(Struct, frozen=True):
    """A note about a line (line 0: about the project) that no edit cures."""

    name: str
    line: int
    rule: str
    message: Reason
    open: bool = False  # a group gets what does not work there until a user does what the note says: counted like an item


class Uncovered(Struct, frozen=True):
    """A backend name that would be wrong, is where a value can be, and that nothing else speaks of."""

    place: Place
    line: int
    text: str  # the name, as it reads
    reason: Reason  # where it goes, as far as that can be seen


class Skipped(Struct, frozen=True):
    """A file that could not be handled, and why. ``candidate`` files count for the exit code."""

    name: str
    reason: Reason
    candidate: bool = True


class Devices(Struct, frozen=True):
    """What a run knows of the device that the code is written for, and that the platform lacks."""

    old: str
    new: str  # what takes its place; "" where nothing does
    titles: dict[str, Reason] = field(default_factory=dict)  # what each rule about devices finds
    launched: dict[str, str] = field(
        default_factory=dict
    )  # the variable that an edit of a rule takes the number of processes from
    apart: tuple[str, ...] = ()  # the rules whose findings keep such processes from training together
    vendor: str = ""  # the rule that makes the vendor's own imports, where that is another way ...
    entries: int = 0  # ... the training entries that it edits ...
    leaves: tuple[str, ...] = ()  # ... and the rules about devices whose findings it does not cure


class Survey(Struct, frozen=True):
    """All that one run found, before anything is written."""

    root: Path
    platform: str
    decisions: tuple[Decision, ...]
    edits: tuple[Edit, ...]
    advisories: tuple[Advisory, ...]
    skipped: tuple[Skipped, ...]
    sources: dict[str, Source] = field(default_factory=dict)  # those that decisions and edits speak of
    files_seen: int = 0
    # packages whose version would have told more and which the project does not state, and whether --torch-version tells it
    unstated: tuple[tuple[str, bool], ...] = ()
    ignored: int = 0  # sites on lines that say "# ddp-codemod: ignore", or in files that pyproject.toml spares them
    uncovered: tuple[Uncovered, ...] = ()
    unreached: tuple[str, ...] = ()  # files that use a device the platform lacks, and that no training entry reaches
    unfollowed: tuple[Place, ...] = ()  # what training loads by a name that only the run knows, where such files could be meant
    without_entry_point: int = 0  # the same where no program makes a group, so that no training entry is known
    devices: Devices | None = None
    excluded: int = 0  # files under the paths that pyproject.toml omits
    partial: bool = False  # the project has files that are not under the paths
    elsewhere: str = ""  # the platform that an apply on record ported the tree to, whose device the one of this run lacks
    hidden: int = 0  # findings that the options of this run omit
    starts: tuple[Start, ...] = ()  # where it was asked for: what starts the edited code, what is meant most first


class FileChange(Struct, frozen=True):
    """A file's bytes before and after, ready for a patch."""

    name: str
    before: bytes
    after: bytes
    edits: tuple[Edit, ...] = ()
