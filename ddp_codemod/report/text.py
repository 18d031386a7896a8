"""Lines for people: sites, edits and what was left, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ddp_codemod.model import Action, Advisory, Applicability, Decision, Edit, Skipped, Unaccounted
from ddp_codemod.report.view import View, leading, touching

_SHOWN = 3  # places of one kind that are listed without -v
_COLOURS = {Action.EDIT: "green", Action.KEEP: "dim", Action.REVIEW: "yellow"}


def site(view: View, decision: Decision) -> list[str]:
    """A site for ``scan``: where it is, what it gives, where that starts, and what happens to it."""
    line, column = view.position(decision.place)
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    gives = view.gives(decision)
    action = view.ink(view.say(f"action-{decision.action.value}"), _COLOURS[decision.action])
    if decision.action is Action.EDIT:
        action += f" ({view.say(f'applicability-{decision.applicability.value}')}, {decision.rule})"
    head = f"{view.ink(f'{view.path(decision.place.name)}:{line}:{column + 1}', 'bold')}: {view.site(decision)}  {action}"
    block = [head, "    " + view.say("site-gives", value=value, gives=gives)]
    block += [
        "    " + view.say("site-starts", origin=view.origin(origin))
        for origin in decision.origins
        if origin.place != decision.place
    ]
    return [*block, "    " + view.reason(decision.reason)]


def edit(view: View, edit: Edit) -> str:
    """An edit on one line, for ``check``: where, which rule, how sure, and why."""
    where = view.ink(view.at(edit.name, view.edit_line(edit)), "bold")
    return f"{where}: {edit.rule} ({view.say(f'applicability-{edit.applicability.value}')}): {view.reason(edit.reason)}"


def change(view: View, edit: Edit) -> list[str]:
    """An edit above its diff: its line and reason, and the sites elsewhere that it is made for."""
    block = [f"{view.ink(view.at(edit.name, view.edit_line(edit)), 'bold')}  [{edit.rule}]", "    " + view.reason(edit.reason)]
    for decision in touching(edit, view.survey):
        if (decision.place.name, view.position(decision.place)[0]) != (edit.name, view.edit_line(edit)):
            block.append("    " + view.say("edit-for", site=view.site(decision), where=view.where(decision.call)))
    return block


def kept(view: View, decisions: Sequence[Decision]) -> list[str]:
    """Sites that stay, one line each."""
    return _listed(view, "left-kept", [_decided(view, one) for one in decisions])


def reviews(view: View, decisions: Sequence[Decision]) -> list[str]:
    """Sites that a person has to look at, one line each."""
    return _listed(view, "left-review", [_decided(view, one) for one in decisions], "yellow")


def unaccounted(view: View, found: Sequence[Unaccounted]) -> list[str]:
    """Names that nothing else speaks of, those with one reason on one line."""
    places: dict[str, list[str]] = {}
    for one in found:
        places.setdefault(view.reason(one.reason), []).append(view.where(one.place))
    lines = []
    for reason, where in places.items():
        shown = where if view.verbose else where[:_SHOWN]
        more = view.say("list-more", n=len(where) - len(shown)) if len(where) > len(shown) else ""
        lines.append(f"{view.say('list-comma').join(shown)}{more}: {reason}")
    block = _listed(view, "left-unaccounted", lines, "yellow")
    return block and [block[0], view.ink(view.say("left-unaccounted", n=len(found)), "bold", "yellow"), *block[2:]]


def unsafe(view: View, edits: Sequence[Edit], command: str) -> list[str]:
    """Edits that were not made because other behaviour may change, and the command that makes them."""
    found = [edit(view, one) for one in leading(edits, view.survey) if one.applicability is Applicability.UNSAFE]
    block = _listed(view, "left-unsafe", found, "yellow")
    return [*block, "  " + view.say("left-unsafe-next", command=view.ink(command, "bold"))] if block else []


def manual(view: View, edits: Sequence[Edit]) -> list[str]:
    """Edits that only a person can make."""
    return _listed(
        view,
        "left-manual",
        [edit(view, one) for one in leading(edits, view.survey) if one.applicability is Applicability.MANUAL],
        "yellow",
    )


def advisories(view: View, found: Sequence[Advisory]) -> list[str]:
    """Notes that no edit cures. One about the whole project has no place."""
    lines = []
    for one in found:
        where = f"{view.at(one.name, one.line)}: " if one.line else ""
        lines.append(f"{where}{one.rule}: {view.reason(one.message)}")
    return _listed(view, "left-advisories", list(dict.fromkeys(lines)), "yellow")


def skipped(view: View, files: Iterable[Skipped]) -> list[str]:
    """Files that could not be handled, each with the reason."""
    return _listed(view, "left-skipped", [f"{view.path(one.name)}: {view.reason(one.reason)}" for one in files], "red")


def _decided(view: View, decision: Decision) -> str:
    return f"{view.where(decision.place)}: {view.site(decision)}: {view.reason(decision.reason)}"


def _listed(view: View, key: str, lines: list[str], *styles: str) -> list[str]:
    if not lines:
        return []
    return ["", view.ink(view.say(key, n=len(lines)), "bold", *styles), *("  " + line for line in lines)]
