"""What is left to do about a device that the platform lacks: how often, and kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ddp_codemod.model import Action, Edit, Survey
from ddp_codemod.report.view import View

DEVICE = "device-"  # what the ids of the rules about devices start with
MOST = 5  # kinds that have a line of their own
_WIDE = 5  # characters that a number has room in


def is_device_rule(rule: str | None) -> bool:
    """Whether a rule is about a device."""
    return rule is not None and rule.startswith(DEVICE)


def format_device_count(view: View, key: str, n: int, files: str = "") -> str:
    """A sentence about ``n`` of the device that the code uses; it has a form of its own where the platform has none in its place."""
    about = view.survey.devices
    if about is not None and about.new:
        return view.say(key, n=n, old=about.old, files=files)
    return view.say(f"{key}-gpu", n=n, files=files)


def launched(view: View, edits: Iterable[Edit]) -> dict[str, list[str]]:
    """The places where the edits take the number of processes from a launcher's variable, by that variable."""
    about, found = view.survey.devices, dict[str, list[str]]()
    known = about.launched if about is not None else {}
    made = {(edit.rule, edit.name) for edit in edits if edit.rule in known}
    for site in view.survey.decisions if made else ():
        if site.action is Action.EDIT and site.rule is not None and (site.rule, site.place.name) in made:
            found.setdefault(known[site.rule], []).append(view.where(site.place))
    return found


def title_of(view: View, rule: str) -> str:
    """What a rule is called; "" where nothing here knows."""
    about = view.survey.devices
    title = about.titles.get(rule) if about is not None else None
    return view.reason(title) if title is not None else view.titles.get(rule, "")


def ordered_kinds(survey: Survey) -> list[tuple[str, int]]:
    """The rules about devices that find something, the most frequent first, each with its number."""
    counts = Counter(rule for rules in _count_device_uses(survey).values() for rule in rules)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _count_device_uses(survey: Survey) -> dict[str, list[str]]:
    kinds: dict[str, list[str | None]] = {
        "devices-edit": [one.rule for one in survey.decisions if one.action is Action.EDIT],
        "devices-review": [one.rule for one in survey.decisions if one.action is Action.REVIEW],
        "devices-note": [note.rule for note in survey.advisories if note.open],
    }
    return {kind: [rule for rule in rules if rule is not None and is_device_rule(rule)] for kind, rules in kinds.items()}


def format_device_uses(view: View, all_of_them: str, most: int = MOST, places: Mapping[str, str] | None = None) -> list[str]:
    """The uses of the other device, the most frequent kinds first, each with its number and what it is; [] where there are none.

    ``all_of_them`` is the command that names the kinds which are not named here, "" where it is told elsewhere; ``places`` are
    said beside those that are named.
    """
    survey = view.survey
    told = _count_device_uses(survey)
    ordered = ordered_kinds(survey)
    if not ordered:
        return []
    about = survey.devices
    parts = view.say("list-comma").join(view.say(kind, n=len(rules)) for kind, rules in told.items() if rules)
    shown = len(ordered) if view.verbose or len(ordered) == most + 1 else most
    names = {"old": about.old, "new": about.new} if about is not None else {}
    key = "summary-devices" if about is not None and about.new else "summary-no-device"
    lines = view.folded(view.say(key, n=sum(n for _, n in ordered), parts=parts, platform=survey.platform, **names), 0, 2)
    for rule, n in ordered[:shown]:
        title = title_of(view, rule)
        said = f"{title} ({rule})" if title else rule
        lines += _format_row(view, n, f"{said}: {places[rule]}" if places and rule in places else said)
    rest = ordered[shown:]
    if rest and (all_of_them or shown):
        key = "summary-other-kinds" if all_of_them else "screen-other-kinds"
        lines += _format_row(view, sum(n for _, n in rest), view.say(key, n=len(rest), command=all_of_them))
    if not shown:
        lines[-1] = lines[-1].rstrip(":：")
    return lines


def _format_row(view: View, n: int, said: str) -> list[str]:
    """A number, set to the right, and what it counts."""
    return view.folded(f"{n}  {said}", _WIDE - len(str(n)), _WIDE + 2)
