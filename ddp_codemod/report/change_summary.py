"""What a run's edits do, in half a line: which values become which, how often, and what goes along with that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ddp_codemod.edits.units import is_companion
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Edit
from ddp_codemod.report.device_kinds import is_device_rule, title_of
from ddp_codemod.report.edit_sites import leading_edits
from ddp_codemod.report.view import View

_MOST = 3  # kinds of change that are named
_ALONG: dict[Meaning | None, str] = {  # said of what goes along
    Meaning.IMPORT: "change-import",
    Meaning.UNUSED: "change-unused",
    Meaning.WARNING: "change-warning",
}
_GLANCE = 40  # characters of two values that are read at a glance


def summarize_changes(view: View, edits: Sequence[Edit]) -> str:
    """The kinds of fix, each with its number where there are several: these add up to all; then what goes along.

    Those about the backend come first: a device has more uses, and would leave them without a name.
    """
    leads = [edit for edit in leading_edits(edits, view.survey) if not is_companion(edit)]
    counts = Counter(kind_of(view, edit) for edit in leads)
    chosen = {id(edit) for edit in leads}
    beside = dict.fromkeys(_ALONG.get(edit.reason.means, "change-beside") for edit in edits if id(edit) not in chosen)
    if not counts:
        return ""
    apart = {kind_of(view, edit): is_device_rule(edit.rule) for edit in leads}
    ordered = sorted(counts.items(), key=lambda item: (apart[item[0]], -item[1]))
    alone = len(counts) == 1
    most = _MOST + 1 if len(ordered) == _MOST + 1 else _MOST  # the name of one more is as short as "others"
    parts = [what if alone else view.say("change-part", what=what, n=n) for what, n in ordered[:most]]
    if rest := sum(n for _, n in ordered[most:]):
        parts.append(view.say("change-part", what=view.say("change-others"), n=rest))
    parts += map(view.say, beside)
    return view.say("list-comma").join(parts)


def kind_of(view: View, edit: Edit) -> str:
    """What an edit does: the value that becomes another one, or what its rule is called."""
    args = dict(edit.reason.args)
    value, wanted = args.get("value", ""), args.get("wanted", "")
    if value and wanted and value != wanted and len(value) + len(wanted) <= _GLANCE:
        return view.say("change-becomes", value=value, wanted=wanted)
    return _lower_initial(title_of(view, edit.rule)) or edit.rule


def _lower_initial(title: str) -> str:
    """A title as a part of a sentence: without its capital, unless that begins a name."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
