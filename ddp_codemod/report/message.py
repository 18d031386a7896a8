"""The message of a commit or a mail, from the rules and the sites that the changes are made for."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ddp_codemod.catalog.load import Rules
from ddp_codemod.messages import in_language, text
from ddp_codemod.model import Edit, Survey
from ddp_codemod.report.touching import leading

WIDTH = 72
LISTED = 30
TRAILER = "Ddp-Codemod-Command"


def message(survey: Survey, rules: Rules, made: Sequence[Edit], command: str, lang: str) -> str:
    """Subject, what and why for each rule, where, and a trailer with the command that makes the same changes again."""
    platform = rules.platforms[survey.platform]
    lines = [text("message-subject", lang, platform=survey.platform), "", *_wrapped(in_language(platform, "title", lang))]
    for ident in dict.fromkeys(edit.rule for edit in made):
        fix = rules.rule(ident)
        assert fix is not None
        lines += ["", *_wrapped(f"{ident}: {in_language(fix, 'title', lang)}")]
        places = list(dict.fromkeys(f"{edit.name}:{_line(survey, edit)}" for edit in leading(made, survey) if edit.rule == ident))
        lines += [f"- {one_line(place)}" for place in places[:LISTED]]
        if len(places) > LISTED:
            lines.append(text("message-more", lang, n=len(places) - LISTED))
        lines += fix.source[:1]
    return "\n".join([*lines, "", f"{TRAILER}: {one_line(command)}", ""])


def one_line(said: str) -> str:
    """Text in which nothing begins a new line."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in said)


def _wrapped(paragraph: str) -> list[str]:
    return wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


def _line(survey: Survey, edit: Edit) -> int:
    source = survey.sources[edit.name]
    return source.position(edit.start if edit.anchor is None else edit.anchor)[0]
