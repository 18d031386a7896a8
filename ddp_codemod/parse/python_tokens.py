"""The tokens of Python as its newest release has them, on any release: an f-string is one token with its parts."""

from __future__ import annotations

import re
from functools import cache
from typing import Union

from msgspec import Struct

_PREFIX = r"(?:[bB][rR]?|[rR][bB]|[uU]|[fFtT][rR]?|[rR][fFtT]?)?"
_TOKEN = re.compile(
    rf"""(?P<skip>[ \t\f]+ | \#[^\r\n]* | \\(?:\r\n|\r|\n))
      | (?P<string>(?P<prefix>{_PREFIX})(?P<quote>\"{{3}}|'{{3}}|"|'))
      | (?P<word>\w+)
      | (?P<open>[\[({{]) | (?P<close>[\])}}])
      | (?P<line>\r\n|\r|\n)
      | (?P<sign>[=!<>]=|:=|->|\*\*|.)""",
    re.VERBOSE,
)
_DEBUG = re.compile(r"=\s*")
_CONVERSION = re.compile(r"!([a-z])\s*")


class UnknownSyntax(ValueError):
    """A text that is no Python, or none that is known here."""


class Token(Struct, frozen=True):
    """A word (names, keywords and numbers), sign, bracket or logical line end; ``depth`` counts the brackets around it."""

    kind: str
    start: int
    end: int
    text: str
    depth: int


class Literal(Struct, frozen=True):
    """A stretch of an f-string that is text."""

    start: int
    end: int


class Field(Struct, frozen=True):
    """A part in braces: the stretch of its expression, and what follows."""

    start: int
    end: int
    first: int
    last: int
    debug: int  # the end of ``x =``, 0 where there is none
    conversion: str
    spec: tuple[Part, ...] | None
    spec_start: int = 0


Part = Union[Literal, Field]


class String(Struct, frozen=True):
    """A string; ``parts`` is None for one that has no fields by its kind."""

    start: int
    end: int
    prefix: str  # in small letters
    quote: str
    parts: tuple[Part, ...] | None
    depth: int
    kind: str = "string"
    text: str = ""


def read_tokens(text: str) -> list[Token | String]:
    """All tokens without comments. Raises UnknownSyntax where a string, bracket or field does not end as it has to."""
    return _read(text, 0, False)[0]


def _read(text: str, at: int, field: bool) -> tuple[list[Token | String], int]:
    """The tokens from an offset on, and where they end; those of a field end at what ends its expression."""
    found: list[Token | String] = []
    depth = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or kind is None:
            raise UnknownSyntax(at)
        at = match.end()
        if kind == "skip" or (kind == "line" and (field or depth)):
            continue
        if kind == "string":
            found.append(_read_string(text, match, depth))
            at = found[-1].end
            continue
        if field and not depth and (match[0] in ("}", "!", "=") or match[0].startswith(":")):
            return found, match.start()
        depth -= kind == "close"
        if depth < 0:
            raise UnknownSyntax(match.start())
        found.append(Token(kind, match.start(), at, match[0], depth))
        depth += kind == "open"
    if field or depth:
        raise UnknownSyntax(at)
    return found, at


def _read_string(text: str, match: re.Match[str], depth: int) -> String:
    prefix, quote = match["prefix"].lower(), match["quote"]
    if "f" not in prefix and "t" not in prefix:
        closed = _plain_body(quote).match(text, match.end())
        if closed is None:
            raise UnknownSyntax(match.start())
        return String(match.start(), closed.end(), prefix, quote, None, depth)
    parts, end = _read_parts(text, match.end(), quote, "r" in prefix, False)
    return String(match.start(), end + len(quote), prefix, quote, parts, depth)


@cache
def _plain_body(quote: str) -> re.Pattern[str]:
    inside = r"[^\\]" if len(quote) == 3 else rf"[^\\\r\n{quote}]"
    return re.compile(rf"(?:{inside}|\\\r\n|\\.)*?{quote}", re.DOTALL)


@cache
def _literal_end(quote: str, raw: bool, spec: bool) -> re.Pattern[str]:
    escaped = r"\\(?:\r\n|[^{}])" if raw else r"\\(?:\r\n|N\{[^{}]*\}|[^{}])"
    doubled = "" if spec else r"|(?P<skip>\{\{|\}\})"
    return re.compile(rf"(?P<quote>{quote})|{escaped}{doubled}|(?P<open>\{{)|(?P<close>\}})|(?P<line>[\r\n])", re.DOTALL)


def _read_parts(text: str, at: int, quote: str, raw: bool, spec: bool) -> tuple[tuple[Part, ...], int]:
    """The parts of an f-string from behind its opening quotes, or of a field's format from behind the colon; and where they end."""
    parts: list[Part] = []
    start = at
    while (match := _literal_end(quote, raw, spec).search(text, at)) is not None:
        kind, at = match.lastgroup, match.end()
        if kind in ("quote", "close"):
            if spec is (kind == "quote"):
                break
            return (*parts, Literal(start, match.start())), match.start()
        if kind == "line" and len(quote) == 1:
            break
        if kind == "open":
            field = _read_field(text, at, quote, raw)
            parts += (Literal(start, match.start()), field)
            start = at = field.end
    raise UnknownSyntax(at)


def _read_field(text: str, first: int, quote: str, raw: bool) -> Field:
    _, last = _read(text, first, True)
    at, debug, conversion, spec = last, 0, "", None
    if equals := _DEBUG.match(text, at):
        at = debug = equals.end()
    if converted := _CONVERSION.match(text, at):
        at, conversion = converted.end(), converted[1]
    colon = at
    if text[at : at + 1] == ":":
        spec, at = _read_parts(text, at + 1, quote, raw, True)
    if text[at : at + 1] != "}":
        raise UnknownSyntax(at)
    return Field(first - 1, at + 1, first, last, debug, conversion, spec, colon + 1)
