"""What every report for people needs: a survey, and the words, colors and paths of its reader."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from ddp_codemod.messages import one_line, render, text
from ddp_codemod.model import Action, Decision, Edit, Origin, Place, Reason, Survey
from ddp_codemod.report.ink import Ink

NAMED = 3  # places that are named


class View(Struct, frozen=True):
    """A survey as one reader sees it; ``here`` is the folder that paths are shown from."""

    survey: Survey
    lang: str
    ink: Ink
    here: Path
    verbose: bool = False
    width: int = 0  # cells of a line; 0: lines are not cut
    titles: Mapping[str, str] = {}  # what the rules are called, by their ids
    first: Collection[str] = ()  # the rules of which a user hears before all others
    line_now: Callable[[str, int], int] = lambda name, line: line  # lines of the files as they are when the report is read

    def for_a_person(self) -> list[Decision]:
        """The places that need review, in the order in which to look at them."""
        found = [one for one in self.survey.decisions if one.action is Action.REVIEW]
        return sorted(found, key=lambda one: one.rule not in self.first)

    def say(self, key: str, /, **args: object) -> str:
        """A sentence in the reader's language."""
        return text(key, self.lang, **args)

    def reason(self, reason: Reason) -> str:
        """A reason in the reader's language."""
        return render(reason, self.lang)

    def folded(self, paragraph: str, first: int, rest: int) -> list[str]:
        """A paragraph in lines of the reader's width, cut at words: the first is indented by ``first``, the others by ``rest``."""
        if not self.width:
            return [" " * first + paragraph]
        from ddp_codemod.report.table import wrap_text

        lines = wrap_text(paragraph, max(self.width - 1, 40), " " * first, " " * rest)
        return [line for line in lines if line.strip()]

    def path(self, name: str) -> str:
        """A file as the reader would type it."""
        return format_typed_path(self.survey.root.absolute() / name, self.here)

    def at(self, name: str, line: int) -> str:
        """``path:line``, or the path alone where no line is meant."""
        return f"{self.path(name)}:{line}" if line else self.path(name)

    def where(self, place: Place) -> str:
        """``path:line`` of a place."""
        return self.at(place.name, self.position(place)[0])

    def position(self, place: Place) -> tuple[int, int]:
        """(line, column) of a place's start; line 0 where the file was not kept."""
        source = self.survey.sources.get(place.name)
        line, column = source.position(place.start) if source else (0, 0)
        return self.line_now(place.name, line), column

    def source_text(self, place: Place) -> str:
        """The text of a place, on one line and not too long to read."""
        source = self.survey.sources.get(place.name)
        return shorten_text(source.text[place.start : place.end]) if source else ""

    def site(self, decision: Decision) -> str:
        """The surface and parameter of a site."""
        return f"{decision.surface}({decision.parameter})" if decision.parameter else decision.surface

    def gives(self, decision: Decision) -> str:
        """What a site resolves to, on one line; "" where the question does not arise, as for a device."""
        unknown = self.say("gives-unknown")
        return self.say("list-comma").join(unknown if one == "?" else one_line(one) for one in decision.resolves_to)

    def outcome(self, decision: Decision) -> str:
        """What a site gives on the platform, as a sentence; "" where it gives no backend or address."""
        gives = self.gives(decision)
        return self.say("explain-gives", platform=self.survey.platform, gives=gives) if gives else ""

    def origin(self, origin: Origin) -> str:
        """Where a value starts: place, kind and text."""
        kind = self.say(f"origin-{origin.kind}")
        line = f"{self.where(origin.place)}  {kind}  {self.source_text(origin.place)}".rstrip()
        return f"{line}  ({self.reason(origin.why)})" if origin.why else line

    def edit_line(self, edit: Edit) -> int:
        """The line that a reader of this edit should look at."""
        source = self.survey.sources.get(edit.name)
        line = source.position(edit.start if edit.anchor is None else edit.anchor)[0] if source else 0
        return self.line_now(edit.name, line)


def format_typed_path(path: Path, here: Path) -> str:
    """A path as one would type it in the folder ``here``; one with line breaks stays on one line."""
    shown = one_line(str(path.relative_to(here) if path.is_relative_to(here) else path))
    return f".{os.sep}{shown}" if shown.startswith((":", "#")) else shown  # no command to whoever reads a log


def shorten_text(text: str, limit: int = 100) -> str:
    """Text with its white space collapsed, cut in the middle to ``limit`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit // 2 - 2] + " … " + flat[-(limit // 2 - 1) :]


def name_first(view: View, names: Iterable[str], most: int = NAMED) -> str:
    """The first of some names, each once, and how many more there are; all where one alone would be omitted."""
    every = list(dict.fromkeys(names))
    if len(every) > most + 1:
        every = [*every[:most], view.say("screen-rest", n=len(every) - most)]
    return view.say("list-comma").join(every)
