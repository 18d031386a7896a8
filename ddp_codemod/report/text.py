"""Lines for people: sites, edits and what was left, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.model import Action, Advisory, Decision, Edit, Skipped, Uncovered
from ddp_codemod.report import sections
from ddp_codemod.report.finding_groups import SHOWN, Listed, list_findings
from ddp_codemod.report.sections import Section
from ddp_codemod.report.view import View

_COLOURS = {Action.EDIT: "green", Action.KEEP: "dim", Action.REVIEW: "yellow"}


def format_site(view: View, decision: Decision) -> list[str]:
    """A site for ``scan``: where it is, what it gives, where that starts, and what happens to it."""
    line, column = view.position(decision.place)
    value = view.say("value-omitted") if decision.value is None else view.source_text(decision.place)
    gives = view.gives(decision)
    action = view.ink(view.say(f"action-{decision.action.value}"), _COLOURS[decision.action])
    if decision.action is Action.EDIT:
        action += f" ({view.say(f'applicability-{decision.applicability.value}')}, {decision.rule})"
    head = f"{view.ink(f'{view.path(decision.place.name)}:{line}:{column + 1}', 'bold')}: {view.site(decision)}  {action}"
    block = [head, *view.folded(view.say("site-gives", value=value, gives=gives) if gives else value, 4, 8)]
    for origin in decision.origins:
        if origin.place != decision.place:
            block += view.folded(view.say("site-starts", origin=view.origin(origin)), 4, 8)
    return [*block, *view.folded(view.reason(decision.reason), 4, 4)]


def format_section(view: View, section: Section) -> list[str]:
    """A section under its heading, each reason in full, below an empty line; [] where nothing is in it."""
    lines = format_titled(view, section, format_body(view, section).lines)
    return ["", *lines] if lines else []


def format_titled(view: View, section: Section, lines: list[str]) -> list[str]:
    """Lines under the heading of a section; [] where there are none."""
    if not lines:
        return []
    heading = view.folded(section.title(view), 0, 2)
    return [*(view.ink(line, "bold", *section.styles) for line in heading), *lines]


def format_body(view: View, section: Section, shown: int = SHOWN, spare: int = 1, rest: str = "list-rest") -> Listed:
    """The findings of a section by their reasons; see ``listed``."""
    lines: list[str] = []
    for one in (one for one in section.found if not one.name and not one.line):  # about the whole project
        lines += view.folded(": ".join(filter(None, (one.head, view.reason(one.reason)))), 2, 4)
    placed = list_findings(view, (one for one in section.found if one.name or one.line), shown, spare, rest)
    beside = list_findings(view, section.beside, shown, spare, rest)
    lines += placed.lines
    if beside.lines:
        lines += [view.ink("  " + view.say("edits-beside"), "bold"), *("  " + line for line in beside.lines)]
    return Listed(lines, placed.left + beside.left)


def format_edits(view: View, edits: Sequence[Edit], shown: int = SHOWN, sure: bool = False) -> list[str]:
    """Edits under their reasons: those made for a site first, then what goes along with them."""
    return format_body(view, sections.changes_section(view, edits, sure), shown).lines


def format_reviews(view: View, decisions: Sequence[Decision]) -> list[str]:
    """Sites that need review."""
    return format_section(view, sections.reviews_section(view, decisions))


def format_uncovered(view: View, found: Sequence[Uncovered]) -> list[str]:
    """Names that nothing else speaks of."""
    return format_section(view, sections.uncovered_section(view, found))


def format_manual(view: View, left: Sequence[Edit]) -> list[str]:
    """Edits that only a user can make."""
    return format_section(view, sections.manual_section(view, left))


def format_advisories(view: View, found: Sequence[Advisory]) -> list[str]:
    """Notes that no edit cures."""
    return format_section(view, sections.advisories_section(view, found))


def format_skipped(view: View, files: Sequence[Skipped]) -> list[str]:
    """Files that could not be handled."""
    return format_section(view, sections.skipped_section(view, files))
