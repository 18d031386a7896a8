"""What IPython adds to Python: magics, shell lines and help; each cell becomes fragments that ``ast`` can read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.parse.newer_nodes import UNKNOWN
from ddp_codemod.parse.python import parse_tree

# Cell magics whose cell is another language or no code; every other one runs its cell, or makes a program of its own of it.
FOREIGN = frozenset({
    "bash", "sh", "script", "system", "sx", "!", "cmd", "perl", "ruby", "html", "HTML", "svg", "SVG", "js", "javascript",
    "latex", "markdown", "sql", "R", "cython", "julia", "configure",
})  # fmt: skip

_HEAD = r"\s*(?:#[^\n]*\n\s*)*"  # Colab puts a cell's title in front
_CELL_MAGIC = re.compile(_HEAD + r"%%(\w+|!)[^\n]*(?:\n|\Z)")
_FILE = re.compile(_HEAD + r"%%(?:writefile|file)\b[^\n]*?([^\s\"']*)[\"']?[ \t\r]*(?:\n|\Z)")
_PROCESS = re.compile(_HEAD + r"%%(?:python3?|pypy3?)\b")
_MAGIC = re.compile(
    r"""(?P<indent>[ \t]*)(?:
        (?P<timed>%time[ \t]+(?=[^\s-]))
      | (?P<line>
            %%?[A-Za-z_] | ! | \?\??[\w%*]
          | %{0,2}[\w.*]+\?\??[ \t]*(?:\#[^\r\n]*)?(?=[\r\n]|\Z)
          | (?:pip|conda|mamba|cd|ls|ll|cat|cp|mv|rm|mkdir|rmdir)[ \t]+[^=\s(\[,]  # runs without its "%" too
        )
      | (?P<target>[A-Za-z_][\w.,\[\]'" \t]*=[ \t]*)[!%](?=[^=\s])
    )""",
    re.VERBOSE,
)
_MARGIN = re.compile(r"(?:[ \t]*\r?\n)*([ \t]+)(?=\S)")
ENV = re.compile(r"%(?:set_)?env[ \t]+([^\s=]+)(?:[ \t]*=|[ \t])(.*)", re.DOTALL)
_END = re.compile(r"(?:[^\\\r\n]|\\\r?\n|\\.|\\\Z)*")
_TOKEN = re.compile(
    r"""\#[^\r\n]*
      | (?:\"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3} | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)
      | (?P<open>[\[({]) | (?P<close>[\])}]) | \\\r?\n | (?P<line>\r?\n|\r)""",
    re.VERBOSE | re.DOTALL,
)


class Fragment(Struct, frozen=True):
    """A stretch of a cell: Python as it is, or something else that ``stand_in`` (Python too) stands for."""

    start: int
    end: int
    stand_in: str | None = None


def match_cell_magic(cell: str) -> re.Match[str] | None:
    """The first line of a cell that another program or language reads; group 1 is the magic's name."""
    return _CELL_MAGIC.match(cell)


def find_written_file(cell: str) -> str | None:
    """The name of the file that a cell writes itself into."""
    file = _FILE.match(cell)
    return file.group(1) if file else None


def program(cell: str, number: int) -> str | None:
    """The program that a cell is a part of: "" is the notebook, else the file that it writes, or one of its own; None if it is no Python."""
    magic = _CELL_MAGIC.match(cell)
    if _PROCESS.match(cell):
        return f"process {number}"
    if file := _FILE.match(cell):
        return f"file {file.group(1)}" if file.group(1).endswith((".py", ".pyw")) else None
    return None if magic and magic.group(1) in FOREIGN else ""


def split_cell(cell: str, plain: bool = False) -> list[Fragment]:
    """A cell's fragments in order, from behind a cell magic on; in a ``plain`` one nothing is IPython's.

    Raises SyntaxError or ValueError for a cell that is no Python.
    """
    magic = _CELL_MAGIC.match(cell)
    body = magic.end() if magic else 0
    found = [Fragment(body, len(cell))]
    try:
        parse_tree(cell[body:])  # most cells have no magics; and what looks like one may be a line of a string
    except SyntaxError:
        if plain:
            raise
        found = list(_split_fragments(cell, body))
        parse_tree(
            "".join(cell[fragment.start : fragment.end] if fragment.stand_in is None else fragment.stand_in for fragment in found)
        )
    return found


def _split_fragments(cell: str, at: int) -> Iterator[Fragment]:
    indented = _MARGIN.match(cell, at)
    margin = re.compile("^" + indented.group(1), re.MULTILINE) if indented else None
    done = at
    for start, end, stand_in in _find_magics(cell, at):
        yield from _dedent_python(cell, done, start, margin)
        yield Fragment(start, end, stand_in)
        done = end
    yield from _dedent_python(cell, done, len(cell), margin)


def _dedent_python(cell: str, at: int, end: int, margin: re.Pattern[str] | None) -> Iterator[Fragment]:
    """A stretch of Python without the indentation of the cell's first line, which IPython takes off every line."""
    for space in margin.finditer(cell, at, end) if margin else ():
        yield Fragment(at, space.start())
        yield Fragment(space.start(), space.end(), "")
        at = space.end()
    yield Fragment(at, end)


def _find_magics(cell: str, at: int) -> Iterator[tuple[int, int, str]]:
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
            yield start, at, UNKNOWN if magic["target"] else _make_stand_in(cell[start:at], indented)
        token = _TOKEN.search(cell, at)
        if token is None:
            return
        depth = max(0, depth + bool(token["open"]) - bool(token["close"]))
        fresh = bool(token["line"]) and depth == 0
        at = token.end()


def _make_stand_in(line: str, indented: bool) -> str:
    """Python that means the same for what is asked here: a magic that sets an environment variable, or nothing."""
    env = ENV.fullmatch(line)
    if env is None:
        return "pass" if indented else ""
    name, value = env.group(1), env.group(2).strip()
    given = UNKNOWN if re.search(r"[${]", value) else repr(value)
    # a name of its own: "os" must not look imported where it is not
    return f"from os import environ as __environ__; __environ__[{name!r}] = {given}"
