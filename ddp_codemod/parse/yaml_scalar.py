"""What a YAML scalar reads as, and how a text is written as one."""

from __future__ import annotations

import re

KINDS = frozenset({"plain_scalar", "single_quote_scalar", "double_quote_scalar", "block_scalar"})
UNPRINTABLE = re.compile("[^\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]")
_BREAK = "(?:\r\n|\r|\n)"
_FOLD = re.compile(f"[ \t]*({_BREAK}(?:[ \t]*{_BREAK})*)[ \t]*")
_BREAK_OF_1_1 = re.compile("[\x85\u2028\u2029]")  # line breaks in YAML 1.1 (PyYAML), characters like others in 1.2
LAST_BREAKS = re.compile(f"(?:{_BREAK}[ \t]*)+\\Z")
_ONE_BREAK = re.compile(_BREAK)
_DOUBLE = re.compile(
    rf"\\(?P<join>{_BREAK}(?:[ \t]*{_BREAK})*)[ \t]*"
    r"|\\x(?P<x>[0-9a-fA-F]{2})|\\u(?P<u>[0-9a-fA-F]{4})|\\U(?P<U>[0-9a-fA-F]{8})|\\(?P<one>.)"
    rf"|[ \t]*(?P<fold>{_BREAK}(?:[ \t]*{_BREAK})*)[ \t]*"
)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", " ": " ",
    '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_WRITTEN = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def value(kind: str, text: str) -> str | None:
    """What the text of a scalar of one of ``KINDS`` reads as; None where that is not plain."""
    if _BREAK_OF_1_1.search(text):
        return None
    if kind == "plain_scalar":
        return _fold_lines(text)
    if kind == "single_quote_scalar":
        return _fold_lines(text[1:-1]).replace("''", "'")
    if kind == "double_quote_scalar":
        try:
            return _DOUBLE.sub(_unescape, text[1:-1])
        except (KeyError, ValueError, OverflowError):
            return None
    return _parse_block(text)


def _fold_lines(text: str) -> str:
    return _FOLD.sub(lambda found: _fold_breaks(found[1]), text)


def _fold_breaks(breaks: str) -> str:
    """One line break is a space, each further one is a line break."""
    return "\n" * (len(_ONE_BREAK.findall(breaks)) - 1) or " "


def _unescape(found: re.Match[str]) -> str:
    if found["fold"]:
        return _fold_breaks(found["fold"])
    if found["join"]:
        return "\n" * (len(_ONE_BREAK.findall(found["join"])) - 1)
    code = found["x"] or found["u"] or found["U"]
    return chr(int(code, 16)) if code else _ESCAPES[found["one"]]


def _parse_block(text: str) -> str | None:
    head, *lines = _ONE_BREAK.split(text)
    header = re.fullmatch(r"([|>])(-?)(?:[ \t]+#.*|[ \t]*)", head)
    filled = [line for line in lines if line.strip(" ")]
    if not header or not filled:
        return None
    indent = len(filled[0]) - len(filled[0].lstrip(" "))
    if any(len(line) > indent for line in lines if not line.strip(" ")):
        return None
    body = [line[indent:] for line in lines]
    if header[1] == "|":
        joined = "\n".join(body)
    elif any(line.startswith((" ", "\t")) for line in body):
        return None
    else:
        joined = re.sub("\n+", lambda breaks: breaks[0][1:] or " ", "\n".join(body).rstrip("\n"))
        joined = "\n" * (len(body) - len("\n".join(body).lstrip("\n").split("\n"))) + joined.lstrip("\n ")
    return joined.rstrip("\n") + ("" if header[2] else "\n")


def quote_double(value: str) -> str:
    """A text in double quotes, on one line."""
    escaped = re.sub(r'["\\]', lambda found: _WRITTEN[found[0]], value)
    return '"' + UNPRINTABLE.sub(_escape, escaped) + '"'


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _WRITTEN.get(found[0]) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
