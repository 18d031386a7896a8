"""The message of a commit or a mail, from the rules and the sites that the changes are made for."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ddp_codemod.catalog.load import Rules
from ddp_codemod.messages import in_language, text
from ddp_codemod.model import Action, Edit, Survey
from ddp_codemod.report.edit_sites import leading_edits

WIDTH = 72
LISTED = 30
TRAILER = "Ddp-Codemod-Command"


def format_commit_message(
    survey: Survey, rules: Rules, edits: Sequence[Edit], command: str, lang: str, portable: bool = False
) -> str:
    """Subject, what and why for each rule, where, what remains, and a trailer with the command that makes the same changes again.

    ``portable``: the changes are conditions, which leave other machines what they had.
    """
    platform = rules.platforms[survey.platform]
    lines = [text("message-subject", lang, platform=survey.platform), "", *_wrap_paragraph(in_language(platform, "title", lang))]
    if portable:
        lines += _wrap_paragraph(text("message-portable", lang))
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


def join_lines(message: str) -> str:
    """Text in which nothing begins a new line."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in message)


def _wrap_paragraph(paragraph: str) -> list[str]:
    return wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def _find_line(survey: Survey, edit: Edit) -> int:
    source = survey.sources[edit.name]
    return source.position(edit.start if edit.anchor is None else edit.anchor)[0]
