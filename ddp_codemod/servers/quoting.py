"""The result of a foreign project or log, as a program or an agent may be handed it: escaped, bounded, in quotation marks.

It is data. None of it may pass for a sentence of ours, so every sentence that takes in foreign text takes it in between “ and ”.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.load import load
from ddp_codemod.messages import LANGUAGES, catalogue
from ddp_codemod.model import Reason, Skipped, Survey
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.view import shorten_text

SAID = 160  # characters of foreign text inside a sentence
VALUE = 400  # of a value in a document; of whole lines
LINES = 2000
MANY = 40  # entries of a list inside an entry
_MARKS = {ord("“"): '"', ord("”"): '"'}
_LONG = frozenset({"before", "after", "output"})
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,10})*")
# what nobody sees and a model reads: joiners and variation selectors, which ``inert`` leaves to those who write with them
_HIDDEN = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def clean_text(text: str, limit: int = VALUE) -> str:
    """The text with everything escaped that does not show, cut to a number of characters, which the end then tells."""
    shown = _HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", escape_controls(text))
    if len(shown) <= limit:
        return shown
    cut = shown[:limit]
    end = "”" if cut.count("“") > cut.count("”") else ""  # a quotation that is cut still ends
    return f"{cut}{end} [... {len(shown) - limit} more characters]"


def quote_text(text: str, limit: int = SAID) -> str:
    """The text on one line between quotation marks that do not occur in it."""
    return "“" + clean_text(shorten_text(text, limit), limit).translate(_MARKS) + "”"


def quote_survey(survey: Survey) -> Survey:
    """The survey with the foreign parts of all its sentences quoted."""
    return replace(
        survey,
        decisions=tuple(replace(one, reason=quote_reason(one.reason)) for one in survey.decisions),
        edits=tuple(replace(one, reason=quote_reason(one.reason)) for one in survey.edits),
        advisories=tuple(replace(one, message=quote_reason(one.message)) for one in survey.advisories),
        skipped=tuple(quote_skipped(one) for one in survey.skipped),
    )


def quote_skipped(one: Skipped) -> Skipped:
    """A file that could not be handled, its reason with the foreign parts quoted."""
    return replace(one, reason=quote_reason(one.reason))


def quote_reason(reason: Reason) -> Reason:
    """A sentence with what fills its braces in quotation marks, but for our own words and numbers."""
    return Reason(reason.key, tuple((name, quote_foreign(value)) for name, value in reason.args))


def quote_foreign(value: str) -> str:
    """The value as it is where it is ours or a number; quoted otherwise."""
    return value if _NUMBER.fullmatch(value) or value in _collect_own_texts() else quote_text(value)


def clean_report(report: dict[str, Any]) -> dict[str, Any]:
    """A report with every string in it cleaned, and every list inside of its entries bounded."""
    return {
        key: [_clean_value(one, key) for one in value] if isinstance(value, list) else _clean_value(value, key)
        for key, value in report.items()
    }


def _clean_value(value: Any, key: str) -> Any:
    if isinstance(value, str):
        return clean_text(value, LINES if key in _LONG else VALUE)
    if isinstance(value, list):
        return [_clean_value(one, key) for one in value[:MANY]]
    if isinstance(value, dict):
        return {clean_text(name): _clean_value(one, name) for name, one in value.items()}
    return value


@cache
def _collect_own_texts() -> frozenset[str]:
    """Every text of the shipped rules and messages: what a project contains is none of ours."""
    shipped = [*map(_to_builtins, (load(), load_diagnostics())), *map(catalogue, LANGUAGES)]
    return frozenset(text for one in shipped for text in _find_texts(one))


def is_own_text(text: str) -> bool:
    """Whether a text comes from the shipped rules and messages."""
    return text in _collect_own_texts()


def _to_builtins(entry: Any) -> Any:
    return msgspec.to_builtins(entry, enc_hook=str)


def _find_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _find_texts(name)
            yield from _find_texts(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _find_texts(one)
