"""The text of a pull request, in Markdown: what changed, why, site by site, and what to try."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ddp_codemod.catalog.load import Rules
from ddp_codemod.edits.shared_edits import is_import
from ddp_codemod.messages import in_language, one_line
from ddp_codemod.model import Action, Decision, Edit
from ddp_codemod.report.edit_sites import leading_edits, sites_of_edit
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.fixes import format_fixes
from ddp_codemod.report.view import View

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&@])")
# what GitHub makes a link of by itself: an address with or without its scheme, GH-1
_LINK = re.compile(r"(?i)(?<=[a-z])(:)(?=//)|(?<=\bwww)(\.)|(?<=\bmailto)(:)|(?<=\bxmpp)(:)|(?<=\bGH)(-)(?=\d)")
_ADDRESS = re.compile(r"https?://[\w./?=&%~:+,;#-]+", re.A)


def format_pull_request(view: View, rules: Rules, edits: Sequence[Edit], left: Sequence[Edit], command: str) -> str:
    """The text, for the edits that are made and those that are left."""
    survey, say = view.survey, view.say
    platform = rules.platforms[survey.platform]
    fixes = [rule for ident in dict.fromkeys(edit.rule for edit in edits) if (rule := rules.rule(ident))]
    files = len({edit.name for edit in edits})
    title = in_language(platform, "title", view.lang)
    lines = ["## " + say("md-what"), ""]
    if not edits:
        lines.append(say("summary-nothing", platform=survey.platform))
    else:
        lines += [
            say(
                "md-changes",
                fixes=format_fixes(view, edits),
                files=files,
                platform=escape_code(survey.platform),
                title=escape_prose(title),
            ),
            "",
        ]
        lines += [f"- {escape_code(fix.id)}: {escape_prose(in_language(fix, 'title', view.lang))}" for fix in fixes]
        lines += ["", say("md-again"), "", *fence_code(command, "sh"), "", "## " + say("md-why"), ""]
        why = in_language(platform, "why", view.lang)
        lines += [escape_prose(why[:1].upper() + why[1:]) + say("md-stop"), ""]
        reasons: dict[str, list[str]] = {}
        for fix in fixes:
            reasons.setdefault(escape_prose(" ".join(in_language(fix, "text", view.lang).split())), []).append(
                escape_code(fix.id)
            )
        lines += [*(f"- {', '.join(idents)}: {said}" for said, idents in reasons.items()), "", say("md-sources"), ""]
        lines += [
            f"- <{source}>" if _ADDRESS.fullmatch(source) else f"- {escape_code(source)}"
            for source in dict.fromkeys((*platform.source, *(one for fix in fixes for one in fix.source)))
        ]
        lines += ["", "## " + say("md-sites"), "", *_format_table(view, edits)]
    review = [decision for decision in survey.decisions if decision.action is Action.REVIEW]
    if review or left or survey.uncovered:
        lines += ["", "## " + say("md-left"), ""]
        lines += _format_places((one.place.name, view.position(one.place)[0], view.reason(one.reason)) for one in review)
        lines += _format_places((one.name, view.edit_line(one), view.reason(one.reason)) for one in leading_edits(left, survey))
    lines += _format_places((one.place.name, one.line, view.reason(one.reason)) for one in survey.uncovered)
    if survey.advisories:
        notes = _format_places((one.name, one.line, view.reason(one.message)) for one in survey.advisories)
        lines += ["", "## " + say("md-notes"), "", *notes]
    if edits:
        lines += ["", "## " + say("md-test"), ""]
        recipes = dict.fromkeys(rules.fixes[fix.id].recipe for fix in fixes if fix.id in rules.fixes)
        lines += [f"- [ ] {say('md-test-start')}", *(f"- [ ] {say(f'md-test-{recipe}')}" for recipe in recipes)]
        lines += [f"- [ ] {say('md-test-elsewhere', platform=escape_code(survey.platform))}"]
    return "\n".join([*lines, ""])


def _format_places(found: Iterable[tuple[str, int, str]]) -> list[str]:
    """Each reason once, behind the places that it is about; a line of 0 is none."""
    places: dict[str, list[str]] = {}
    for name, line, reason in found:
        places.setdefault(reason, []).extend([escape_code(f"{name}:{line}" if line else name)] if name else [])
    return [f"- {', '.join(dict.fromkeys(at))}{': ' if at else ''}{escape_prose(reason)}" for reason, at in places.items()]


def _format_table(view: View, edits: Sequence[Edit]) -> list[str]:
    rows = [
        "| " + " | ".join(view.say(f"md-{column}") for column in ("place", "site", "gave", "becomes", "applicability")) + " |"
    ]
    rows.append("|---|---|---|---|---|")
    for edit in (one for one in leading_edits(edits, view.survey) if not is_import(one)):
        found = sites_of_edit(edit, view.survey)
        where = escape_code(f"{edit.name}:{view.edit_line(edit)}")
        used = ", ".join(dict.fromkeys(_format_site(view, edit, site) for site in found)) or escape_code(edit.rule)
        values = dict.fromkeys(value for site in found for value in site.resolves_to)
        replaced = " ".join(view.survey.sources[edit.name].text[edit.start : edit.end].split())
        gave = ", ".join(map(escape_code, values)) or (escape_code(replaced) if replaced else "–")
        becomes = escape_code(" ".join((edit.after or "").split())) if edit.after and edit.after.strip() else "–"
        rows.append(f"| {where} | {used} | {gave} | {becomes} | {view.say(f'applicability-{edit.applicability.value}')} |")
    return rows


def _format_site(view: View, edit: Edit, site: Decision) -> str:
    used = escape_code(view.site(site))
    place = f"{site.call.name}:{view.position(site.call)[0]}"
    return used if place == f"{edit.name}:{view.edit_line(edit)}" else f"{used} ({escape_code(place)})"


def escape_code(text: str) -> str:
    """Code in a line of text or a cell of a table: whatever is in it stays text."""
    flat = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if flat.startswith(("`", " ")) or flat.endswith(("`", " ")) else ""
    return f"{fence}{pad}{flat}{pad}{fence}".replace("|", "\\|")


def fence_code(text: str, language: str) -> list[str]:
    """Lines of code."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [fence + language, escape_controls(text), fence]


def escape_prose(text: str) -> str:
    """Text in which no character is markup, none acts on a terminal or on the order of letters, and no address is a link."""
    return _LINK.sub(lambda found: "\\" + found[0], _MARKUP.sub(r"\\\1", escape_controls(one_line(text))))
