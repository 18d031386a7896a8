"""What a run finds: of one project, of a folder of repositories, and what of it is about one line."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from ddp_codemod.discover.listing import Listing, make_absolute
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Decision, Survey
from ddp_codemod.run.options import ABOUT_USES, Options
from ddp_codemod.run.project import survey_project


def survey(options: Options) -> Survey:
    """Look through a project and work out every site, what happens to it and why, and the edits.

    Of a folder of repositories each is a project of its own.
    """
    listing = Listing(options.paths, options.root)
    parts = listing.repositories() if all(fix.recipe in ABOUT_USES for fix in options.wanted) else [listing]
    if len(parts) == 1:
        return survey_project(options, listing)
    from ddp_codemod.run.workspace import survey_parts

    return survey_parts(options, parts)


def explain(options: Options, path: Path, line: int) -> Survey:
    """The survey, limited to the decisions whose call, value or origin touches a line, and to its notes."""
    whole = survey(options)
    return limit_to_line(whole, Path(make_absolute(path)).relative_to(whole.root).as_posix(), line)


def limit_to_line(whole: Survey, name: str, line: int) -> Survey:
    """What of a survey touches a line of a file."""

    def touches(place_name: str, start: int, end: int) -> bool:
        source = whole.sources.get(name)
        return place_name == name and source is not None and source.position(start)[0] <= line <= source.position(end)[0]

    def concerns(decision: Decision) -> bool:
        places = [decision.call, decision.place, *(origin.place for origin in decision.origins)]
        places += [step.place for step in decision.steps if step.reason.means is Meaning.PLACE]
        return any(touches(place.name, place.start, place.end) for place in places)

    chosen = tuple(decision for decision in whole.decisions if concerns(decision))
    edits = tuple(edit for edit in whole.edits if touches(edit.name, edit.start, edit.end))
    notes = tuple(note for note in whole.advisories if (note.name, note.line) == (name, line))
    left = tuple(one for one in whole.uncovered if (one.place.name, one.line) == (name, line))
    files = tuple(one for one in whole.unreached if one == name)
    return replace(whole, decisions=chosen, edits=edits, advisories=notes, uncovered=left, unreached=files)
