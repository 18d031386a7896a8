"""INI files as configparser reads them.

Option names are in lower case, as configparser gives them. Quotes around a whole value count as quotes, for readers that
take them off; a ``;`` or ``#`` after white space starts a comment, for readers that know such. Values on several lines
are omitted.
"""

from __future__ import annotations

import re

from ddp_codemod.parse.document import Content, Entry

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_SECTION = re.compile(r"\[(?P<name>[^\r\n]+)\]")
_OPTION = re.compile(r"(?P<key>[^\s=:\[#;][^=:]*)[=:](?P<value>.*)")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))[;#].*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def read(text: str) -> Content:
    """The options of an INI text, as (section, option)."""
    entries: list[Entry] = []
    section: tuple[str, ...] = ()
    option_indent: int | None = None  # a line that is indented more belongs to the option before it
    pending = False  # the last entry is that option's
    for line in _LINE.finditer(text):
        body, indent = line[1], len(line[1]) - len(line[1].lstrip())
        if indent == len(body) or body[indent] in "#;":
            continue
        if option_indent is not None and indent > option_indent:
            if pending:
                entries.pop()
                pending = False
            continue
        option_indent, pending = None, False
        if header := _SECTION.match(body, indent):
            section = (header["name"],)
        elif option := _OPTION.match(body, indent):
            option_indent = indent
            given = option["value"].lstrip(" \t")
            if value := _COMMENT.sub("", given).rstrip(" \t"):
                pending, start, quoted = True, line.start() + option.end("value") - len(given), _is_quoted(value)
                path = (*section, option["key"].rstrip().lower())
                is_text = quoted or not _NUMBER.fullmatch(value)
                entries.append(Entry(path, start, start + len(value), value[1:-1] if quoted else value, is_text))
    return Content(tuple(entries))


def _is_quoted(value: str) -> bool:
    return len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" and value[0] not in value[1:-1]


def written(text: str, entry: Entry, value: str) -> str:
    """The value between the quotes that are there, or as it is; ValueError where INI would not give it back."""
    there = text[entry.start : entry.end]
    new = f"{there[0]}{value}{there[0]}" if _is_quoted(there) else value
    again = read(f"[s]\nk = {new}").entries
    if not value.isprintable() or value != value.strip() or len(again) != 1 or again[0].value != value:
        raise ValueError(f"INI cannot hold {value!r}")
    return new
