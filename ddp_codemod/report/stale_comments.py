"""What is beside a change and reads oddly once it is made: comments that say what was there, a choice between two equal values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddp_codemod.model import Edit, Source, Survey
from ddp_codemod.report.edit_sites import sites_of_edit

_NEAR = 300  # characters beside an edit that are looked at
_FAR = 4_000  # characters up to the end of its line, which may be long
_ABOVE = 40  # lines of comments above it
_OTHER_QUOTES = str.maketrans("\"'", "'\"")


def find_stale_comments(edit: Edit, survey: Survey) -> Iterator[tuple[str, str]]:
    """(name, comment): the names of values that an edit takes away and that a comment behind it or above it still speaks of."""
    source = survey.sources.get(edit.name)
    if source is None or edit.after is None:
        return
    sites = sites_of_edit(edit, survey)
    gone = {value for site in sites for value in site.resolves_to if value.isalnum() and value not in edit.after}
    starts = {edit.start, *(site.call.start for site in sites if site.call.name == edit.name)}
    for said in dict.fromkeys(_find_comments(source, edit, starts)):
        for name in sorted(gone):
            if re.search(rf"(?i)(?<![a-z0-9_]){re.escape(name)}(?![a-z0-9_])", said):
                yield name, said


def makes_branches_equal(edit: Edit, survey: Survey) -> bool:
    """Whether an edit makes one branch of a ternary what the other one is already: its condition is kept, for it may do something."""
    source = survey.sources.get(edit.name)
    if source is None or not edit.after or edit.recipe is not None or edit.end <= edit.start:
        return False
    same = re.escape(edit.after)
    behind, before = source.text[edit.end : edit.end + _NEAR], source.text[max(edit.start - _NEAR, 0) : edit.start]
    other = rf"(?:{same}|{re.escape(edit.after.translate(_OTHER_QUOTES))})"
    return bool(
        re.match(rf"\s+if\s[^\n]*?\selse\s+{other}(?![\w.])", behind) or re.search(rf"{other}\s+if\s[^\n]*?\selse\s+$", before)
    )


def _find_comments(source: Source, edit: Edit, starts: set[int]) -> Iterator[str]:
    tail = source.text[edit.end : min(source.line_span(edit.end)[1], edit.end + _FAR)]
    if (at := tail.find("#")) >= 0 and not re.search("[\"']", tail[:at]):
        yield tail[at:].strip()
    for start in sorted(starts):
        first = source.line_span(start)[0]
        for _ in range(_ABOVE):
            if not first:
                break
            above = source.text[slice(*source.line_span(first - 1))].strip()
            if not above.startswith("#"):
                break
            yield above
            first = source.line_span(first - 1)[0]
