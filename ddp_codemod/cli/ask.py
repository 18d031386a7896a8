"""Asks for one unit after the other, with git's keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from ddp_codemod.cli.console import Console
from ddp_codemod.edits.units import Unit
from ddp_codemod.model import Applicability

KEYS = "ynadekq?"
ASIDE = ("VISUAL", "EDITOR")  # where the editor is named


class Questions(Struct):
    """The units and what was decided about them.

    ``show`` prints one; ``edit`` gives what a user made of it, or None where it stays as it is.
    """

    units: Sequence[Unit]
    console: Console
    show: Callable[[Unit], None]
    edit: Callable[[Unit], Unit | None]
    answers: Iterator[str]
    taken: dict[int, Unit] = field(default_factory=dict)  # by place in ``units``
    decided: set[int] = field(default_factory=set)

    def ask(self) -> list[Unit]:
        """The units that were taken when the reader came to the end or quit."""
        at = 0
        shown = -1
        while at < len(self.units):
            if shown != at:
                self.show(self.units[at])
                shown = at
            key = self._read_answer(at)
            if key == "q":
                break
            if key == "k":
                if at == 0:
                    self.console.out(self.console.text("review-first"))
                else:
                    at -= 1
            elif key == "e":
                at += self._edit_unit(at)
                shown = -1
            elif key in ("y", "n", "a", "d"):
                self._note_answer(at, key)
                at = next(
                    (later for later in range(at + 1, len(self.units)) if key in "yn" or later not in self.decided),
                    len(self.units),
                )
            else:
                self.console.out(self.console.text("review-keys"))
        return [self.taken[at] for at in sorted(self.taken)]

    @property
    def undecided(self) -> int:
        """How many units nobody said anything about."""
        return len(self.units) - len(self.decided)

    def _read_answer(self, at: int) -> str:
        prompt = self.console.text("review-prompt", number=at + 1, total=len(self.units), keys=",".join(KEYS))
        sys.stdout.write(prompt + " ")
        sys.stdout.flush()
        return next(self.answers, "q")

    def _edit_unit(self, at: int) -> int:
        """1 where the reader changed the unit, which takes it; 0 to ask again."""
        changed = self.edit(self.units[at])
        if changed is None:
            return 0
        self.taken[at] = changed
        self.decided.add(at)
        return 1

    def _note_answer(self, at: int, key: str) -> None:
        """Note an answer; "a" and "d" are about the rest of the file too, "a" only about what is safe there."""
        here = self.units[at].lead.name
        rest = [at]
        if key in "ad":
            later = range(at + 1, len(self.units))
            rest += [one for one in later if self.units[one].lead.name == here and one not in self.decided]
        for one in rest:
            if key in "nd":
                self.taken.pop(one, None)
            elif one == at or self.units[one].applicability is Applicability.SAFE:
                self.taken[one] = self.units[one]
            else:
                continue
            self.decided.add(one)


def read_typed_answers() -> Iterator[str]:
    """The reader's answers: the first letter of each line."""
    while line := sys.stdin.readline():
        yield line.strip()[:1].lower() or "?"


def read_piped_answers() -> Iterator[str]:
    """Answers from a pipe, letter for letter, with an echo: white space parts them or not."""
    for line in sys.stdin:
        for key in "".join(line.split()).lower():
            sys.stdout.write(key + "\n")
            yield key


def has_editor() -> bool:
    """Whether an editor is named, so that none is guessed."""
    return any(os.environ.get(name) for name in ASIDE)
