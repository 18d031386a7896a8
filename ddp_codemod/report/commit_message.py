"""The message of a commit or a mail, from the rules and the sites that the changes are made for."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ddp_codemod.catalog.load import Rules
from ddp_codemod.messages import in_language, text
from ddp_codemod.model import Action, Applicability, Edit, Survey
from ddp_codemod.report.edit_sites import leading_edits

WIDTH = 72
LISTED = 30
TRAILER = "Ddp-Codemod-Command"


def format_commit_message(
    survey: Survey, rules: Rules, edits: Sequence[Edit], command: str, lang: str, portable: bool = False, cost: str = ""
) -> str:
    """Subject, what and why for each rule, where, what remains, and a trailer with the command that makes the same changes again.

    ``portable``: the changes are conditions. ``cost``: what the new backend costs.
    """
    platform = rules.platforms[survey.platform]
    swap = _find_swap(survey, rules, edits)
    subject = text("message-swap" if swap else "message-subject", lang, platform=survey.platform, **swap)
    lines = [subject, "", *_wrap_paragraph(in_language(platform, "title", lang))]
    about = [text("message-why", lang, why=in_language(platform, "why", lang), **swap)] if swap else []
    about += [text("platform-cost", lang, cost=cost)] if cost else []
    about += [text("message-portable", lang)] if portable else []
    if portable and swap:
        unsure = (entry for entry in platform.portable if entry.applicability == "unsafe" and entry.why)
        about += [text("message-also", lang, why=in_language(entry, "why", lang)) for entry in unsure]
    if unsafe := sum(edit.applicability is Applicability.UNSAFE for edit in leading_edits(edits, survey)):
        about.append(text("message-unsafe", lang, n=unsafe))
    for paragraph in about:
        lines += ["", *_wrap_paragraph(paragraph)]
    lines += ["", text("message-lines", lang)]
    for ident in dict.fromkeys(edit.rule for edit in edits):
        fix = rules.rule(ident)
        assert fix is not None
        lines += ["", *_wrap_paragraph(f"{ident}: {in_language(fix, 'title', lang)}")]
        places = list(
            dict.fromkeys(
                f"{edit.name}:{_find_line(survey, edit)}" for edit in leading_edits(edits, survey) if edit.rule == ident
            )
        )
        lines += [f"- {join_lines(place)}" for place in places[:LISTED]]
        if len(places) > LISTED:
            lines.append(text("message-more", lang, n=len(places) - LISTED))
        lines += fix.source[:1]
    reviewed = [one.place for one in survey.decisions if one.action is Action.REVIEW and one.place.name in survey.sources]
    open_places = dict.fromkeys(f"{one.name}:{survey.sources[one.name].position(one.start)[0]}" for one in reviewed)
    unread = dict.fromkeys(one.name for one in survey.skipped if one.candidate)
    for key, names in (("message-review", [*open_places]), ("message-unread", [*unread])):
        if names:
            more = [text("message-more", lang, n=len(names) - LISTED)] if len(names) > LISTED else []
            lines += ["", text(key, lang), *(f"- {join_lines(name)}" for name in names[:LISTED]), *more]
    return "\n".join([*lines, "", f"{TRAILER}: {join_lines(command)}", ""])


def _find_swap(survey: Survey, rules: Rules, edits: Sequence[Edit]) -> dict[str, str]:
    """The backend that another one replaces, where the changes replace one by one; {} where they do something else."""
    changed = {edit.rule for edit in edits if (fix := rules.fixes.get(edit.rule)) is not None and fix.recipe == "replace-backend"}
    decided = [one for one in survey.decisions if one.action is Action.EDIT and one.rule in changed]
    choice = rules.platforms[survey.platform].backend
    wrong = {
        origin.value
        for one in decided
        for origin in one.origins
        if isinstance(origin.value, str) and origin.value in rules.backends and origin.value not in choice.works
    }
    return {"value": wrong.pop(), "wanted": choice.wanted} if len(wrong) == 1 else {}


def join_lines(message: str) -> str:
    """Text in which nothing begins a new line."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in message)


def _wrap_paragraph(paragraph: str) -> list[str]:
    return wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def _find_line(survey: Survey, edit: Edit) -> int:
    source = survey.sources[edit.name]
    return source.position(edit.start if edit.anchor is None else edit.anchor)[0]
