"""The uses of a device that the platform lacks: how many are fixed and left, and those that are left kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ddp_codemod.model import Action, Applicability, Edit
from ddp_codemod.report.device_kinds import is_device_rule, title_of
from ddp_codemod.report.fixes import lead_fixes
from ddp_codemod.report.outcome import Outcome
from ddp_codemod.report.view import View

MOST = 5  # kinds that have a line of their own
_WIDE = 5  # characters that a number has room in


def ordered_kinds(view: View, outcome: Outcome) -> list[tuple[str, int]]:
    """The rules about devices with fixes that are not made, review and notes, the most frequent first, each with its number."""
    rules = [edit.rule for edit in lead_fixes(outcome.left, view.survey)]
    rules += [one.rule for one in view.survey.decisions if one.action is Action.REVIEW and one.rule is not None]
    counts = Counter(rule for rule in (*rules, *_rules_of_notes(view)) if is_device_rule(rule))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _count_uses(view: View, outcome: Outcome) -> dict[str, int]:
    """What becomes of the uses of the device, each number under the message that says it."""
    survey = view.survey

    def count(edits: Sequence[Edit], sure: Applicability | None = None) -> int:
        return sum(is_device_rule(edit.rule) for edit in lead_fixes(edits, survey, sure))

    review = sum(one.action is Action.REVIEW and is_device_rule(one.rule) for one in survey.decisions)
    return {
        "count-changed" if outcome.done == "written" else "count-to-change": count(outcome.made),
        "count-unsafe": count(outcome.left, Applicability.UNSAFE),
        "count-manual": count(outcome.left, Applicability.MANUAL),
        "count-review": review,
        "devices-note": len(_rules_of_notes(view)),
    }


def _rules_of_notes(view: View) -> list[str]:
    return [note.rule for note in view.survey.advisories if note.open and is_device_rule(note.rule)]


def format_device_uses(
    view: View, outcome: Outcome, all_of_them: str, most: int = MOST, places: Mapping[str, str] | None = None
) -> list[str]:
    """How many uses of the other device are fixed and left, then the most frequent kinds that are left; [] where there are none.

    ``all_of_them`` is the command that lists the kinds which are not named here, "" where that is printed elsewhere; ``places``
    are printed beside those that are named.
    """
    about = view.survey.devices
    counts = _count_uses(view, outcome)
    if not any(counts.values()):
        return []
    ordered = ordered_kinds(view, outcome)
    parts = view.say("list-comma").join(view.say(key, n=n) for key, n in counts.items() if n)
    shown = len(ordered) if view.verbose or len(ordered) == most + 1 else most
    names = {"old": about.old, "new": about.new} if about is not None else {}
    key = "summary-devices" if about is not None and about.new else "summary-no-device"
    text = view.say(key, parts=parts, platform=view.survey.platform, **names)
    if not ordered or not shown:
        return view.folded(text, 0, 2)
    lines = view.folded(view.say("devices-not-fixed", text=text), 0, 2)
    for rule, n in ordered[:shown]:
        title = title_of(view, rule)
        kind = f"{title} ({rule})" if title else rule
        lines += _format_row(view, n, f"{kind}: {places[rule]}" if places and rule in places else kind)
    if rest := ordered[shown:]:
        key = "summary-other-kinds" if all_of_them else "screen-other-kinds"
        lines += _format_row(view, sum(n for _, n in rest), view.say(key, n=len(rest), command=all_of_them))
    return lines


def _format_row(view: View, n: int, text: str) -> list[str]:
    """A number, set to the right, and what it counts."""
    return view.folded(f"{n}  {text}", _WIDE - len(str(n)), _WIDE + 2)
