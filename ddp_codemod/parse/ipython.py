"""What IPython adds to Python: magics, shell lines and help; each cell becomes pieces that ``ast`` can read."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

# Cell magics whose cell is another language, another process or a file; every other one runs its cell as it is.
FOREIGN = frozenset({
    "bash", "sh", "script", "system", "sx", "!", "cmd", "writefile", "file", "python", "python2", "python3", "pypy", "perl",
    "ruby", "html", "HTML", "svg", "SVG", "js", "javascript", "latex", "markdown", "sql", "R", "cython", "julia", "configure",
})  # fmt: skip
UNKNOWN = "__unknown__"  # bound nowhere, so that nothing is concluded from it

_CELL_MAGIC = re.compile(r"\s*%%(\w+|!)[^\n]*(?:\n|\Z)")
_OTHER_PYTHON = re.compile(r"%%(?:(?:writefile|file)\b.*\.pyw?[\"']?$|python|pypy)")
_MAGIC = re.compile(
    r"""(?P<indent>[ \t]*)(?:
        (?P<timed>%time[ \t]+(?=[^\s-]))
      | (?P<line>%%?[A-Za-z_]|!|\?\??[\w%*]|%{0,2}[\w.*]+\?\??[ \t]*(?:\#[^\r\n]*)?(?=[\r\n]|\Z))
      | (?P<target>[A-Za-z_][\w.,\[\]'" \t]*=[ \t]*)[!%](?=[^=\s])
    )""",
    re.VERBOSE,
)
_ENV = re.compile(r"%(?:set_)?env[ \t]+([^\s=]+)(?:[ \t]*=|[ \t])(.*)", re.DOTALL)
_END = re.compile(r"(?:[^\\\r\n]|\\\r?\n|\\.|\\\Z)*")
_TOKEN = re.compile(
    r"""\#[^\r\n]*
      | (?:\"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3} | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)
      | (?P<open>[\[({]) | (?P<close>[\])}]) | \\\r?\n | (?P<line>\r?\n|\r)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a cell: Python as it stands, or something else that ``stand_in`` (Python too) stands for."""

    start: int
    end: int
    stand_in: str | None = None


def foreign(cell: str) -> str | None:
    """The first line of a cell that is not this notebook's Python; None for others."""
    magic = _CELL_MAGIC.match(cell)
    return magic.group().strip() if magic and magic.group(1) in FOREIGN else None


def is_other_python(line: str) -> bool:
    """Whether the cell magic on a line makes its cell Python of another process or of a file."""
    return _OTHER_PYTHON.match(line) is not None


def pieces(cell: str) -> list[Piece]:
    """A cell's pieces in order, from behind a cell magic on. Raises SyntaxError or ValueError for a cell that is no Python."""
    magic = _CELL_MAGIC.match(cell)
    body = magic.end() if magic else 0
    found = [Piece(body, len(cell))]
    try:
        _check(cell[body:])  # most cells have no magics; and what looks like one may be a line of a string
    except SyntaxError:
        found = list(_split(cell, body))
        _check("".join(cell[piece.start : piece.end] if piece.stand_in is None else piece.stand_in for piece in found))
    return found


def _check(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in strangers' code are not ours to report
        ast.parse(text)


def _split(cell: str, at: int) -> Iterator[Piece]:
    done = at
    for start, end, stand_in in _magics(cell, at):
        yield Piece(done, start)
        yield Piece(start, end, stand_in)
        done = end
    yield Piece(done, len(cell))


def _magics(cell: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Start, end and stand-in of everything that is IPython's; only the start of a logical line can be."""
    depth, fresh = 0, True
    while at < len(cell):
        magic = _MAGIC.match(cell, at) if fresh else None
        if magic and magic["timed"]:
            yield magic.end("indent"), magic.end(), ""
            at = magic.end()
            continue
        if magic:
            start = magic.end("target" if magic["target"] else "indent")
            line_end = _END.match(cell, start)
            at = line_end.end() if line_end else len(cell)
            indented = bool(magic["indent"]) or cell[start - 1 : start] not in ("", "\n", "\r")
            yield start, at, UNKNOWN if magic["target"] else _stand_in(cell[start:at], indented)
        token = _TOKEN.search(cell, at)
        if token is None:
            return
        depth = max(0, depth + bool(token["open"]) - bool(token["close"]))
        fresh = bool(token["line"]) and depth == 0
        at = token.end()


def _stand_in(line: str, indented: bool) -> str:
    """Python that means the same for what is asked here: a magic that sets an environment variable, or nothing."""
    env = _ENV.fullmatch(line)
    if env is None:
        return "pass" if indented else ""
    name, value = env.group(1), env.group(2).strip()
    given = UNKNOWN if re.search(r"[${]", value) else repr(value)
    # a name of its own: "os" must not look imported where it is not
    return f"from os import environ as __environ__; __environ__[{name!r}] = {given}"
