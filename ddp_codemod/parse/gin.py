"""Gin files: values that are bound to parameters of functions, ``scope/module.function.parameter = value``, and macros, ``NAME = value``.

An entry's path is (what is before the last dot, the parameter), a macro's its name alone. Lists, tuples and tables are omitted.
"""

from __future__ import annotations

import re

from ddp_codemod.parse.document import Content, Entry

BINDS = True  # parameters, and no keys that a program goes through

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_BINDING = re.compile(r"(?P<key>[\w./-]+)[ \t]*=[ \t]*(?!=)")
_BLOCK = re.compile(r"(?P<key>[\w./-]+)[ \t]*:[ \t]*(?:#.*)?")
_TEXT = re.compile(r"(?P<quote>['\"])(?P<text>(?:(?!(?P=quote))[^\\])*)(?P=quote)[ \t]*(?:#.*)?")
_PLAIN = re.compile(r"(?P<text>(?![\[({])[^\s#'\"]+)[ \t]*(?:#.*)?")
_BRACKET = re.compile(r"#.*|'''(?s:.*?)'''|\"\"\"(?s:.*?)\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|([\[({])|([\])}])")


def read(text: str) -> Content:
    """The bindings of a gin text."""
    entries: list[Entry] = []
    block, end = "", 0
    for line in _LINE.finditer(text):
        body = line[1]
        indent = len(body) - len(body.lstrip())
        if line.start() < end or indent == len(body) or body[indent] == "#":
            continue  # inside a value of several lines, or nothing
        if not indent:
            block = ""
            if opened := _BLOCK.fullmatch(body):
                block = f"{opened['key']}."
                continue
        bound = _BINDING.match(body, indent)
        if bound is None:
            continue
        start = line.start() + bound.end()
        end = _find_value_end(text, start)
        entry = _make_entry(f"{block}{bound['key']}", start, text[start:end])
        entries += [entry] if entry is not None else []
    return Content(tuple(entries))


def _find_value_end(text: str, start: int) -> int:
    """Where a value ends: with its line, or with the one that closes its brackets and texts."""
    level, at = 0, start
    for part in _BRACKET.finditer(text, start):
        if not level and re.search(r"[\r\n]", text[at : part.start()]):
            break
        level, at = level + bool(part[1]) - bool(part[2]), part.end()
    stop = re.search(r"[\r\n]", text[at:])
    return at + stop.start() if stop else len(text)


def _make_entry(key: str, start: int, value: str) -> Entry | None:
    scope, _, name = key.rpartition("/")
    function, _, parameter = name.rpartition(".")
    path = (f"{scope}/{function}".lstrip("/"), parameter) if function else (name,)
    if quoted := _TEXT.fullmatch(value):
        return Entry(path, start, start + quoted.end("quote") + len(quoted["text"]) + 1, quoted["text"])
    plain = _PLAIN.fullmatch(value)
    return Entry(path, start, start + plain.end("text"), plain["text"], is_text=False) if plain else None


def written(text: str, entry: Entry, value: str) -> str:
    """The value in the quotes that are there; ValueError where it would need escapes, or no text is there."""
    quote = text[entry.start]
    if not entry.is_text or not value.isprintable() or quote in value or "\\" in value:
        raise ValueError(f"gin cannot hold {value!r} here")
    return f"{quote}{value}{quote}"
