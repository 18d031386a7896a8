"""The rules about devices that the platform lacks: which they are, what they are called, and what their edits need."""

from __future__ import annotations

from collections.abc import Iterable

from ddp_codemod.model import Action, Edit
from ddp_codemod.report.view import View

DEVICE = "device-"  # what the ids of the rules about devices start with


def is_device_rule(rule: str | None) -> bool:
    """Whether a rule is about a device."""
    return rule is not None and rule.startswith(DEVICE)


def format_device_count(view: View, key: str, n: int, files: str = "") -> str:
    """A sentence about ``n`` of the device that the code uses; it has a form of its own where the platform has none in its place."""
    about = view.survey.devices
    if about is not None and about.new:
        return view.say(key, n=n, old=about.old, new=about.new, files=files)
    return view.say(f"{key}-gpu", n=n, files=files)


def launched(view: View, edits: Iterable[Edit]) -> dict[str, list[str]]:
    """The places where the edits take the number of processes from a launcher's variable, by that variable."""
    about, found = view.survey.devices, dict[str, list[str]]()
    known = about.launched if about is not None else {}
    result = {(edit.rule, edit.name) for edit in edits if edit.rule in known}
    for site in view.survey.decisions if result else ():
        if site.action is Action.EDIT and site.rule is not None and (site.rule, site.place.name) in result:
            found.setdefault(known[site.rule], []).append(view.where(site.place))
    return found


def list_apart(view: View) -> list[str]:
    """The places that keep several processes from training together, and need review."""
    about = view.survey.devices
    left = (one for one in view.survey.decisions if about is not None and one.rule in about.apart and one.action is Action.REVIEW)
    return [view.where(one.place) for one in left]


def title_of(view: View, rule: str) -> str:
    """What a rule is called; "" where nothing here knows."""
    about = view.survey.devices
    title = about.titles.get(rule) if about is not None else None
    return view.reason(title) if title is not None else view.titles.get(rule, "")
