"""The shell commands of a notebook's cells: ``!`` lines, ``%run``, ``%env``, cells of a shell, and scripts that a cell writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ddp_codemod.parse.ipython import ENV, Fragment, find_written_file, match_cell_magic

_SHELLS = re.compile(r"(?:bash|sh|!)\Z")
_SCRIPT = re.compile(r"%%script[ \t]+(?:\S*/)?(?:ba|z)?sh\b")
_LINE = re.compile(r"!!?|%(?=run[ \t])|%(?:sx|system)[ \t]")
_WORTH = re.compile(r"\.py\b|[ \t]-m[ \t]")  # what does not run Python is of no interest


class Command(Struct, frozen=True):
    """A stretch of a cell that a shell reads, behind a text that is not in the cell."""

    start: int
    end: int
    head: str = ""


def commands(cell: str, fragments: Sequence[Fragment]) -> Iterator[Command]:
    """The commands of one cell, in order; ``fragments`` are those of its Python, none where it is no Python."""
    magic = match_cell_magic(cell)
    if magic is not None and not fragments:
        wrote = find_written_file(cell)
        if _SHELLS.match(magic[1]) or _SCRIPT.search(cell, 0, magic.end()) or (wrote or "").endswith((".sh", ".bash")):
            yield from _select_launches(cell, Command(magic.end(), len(cell)))
    for fragment in fragments:
        if fragment.stand_in is None:
            continue
        line = cell[fragment.start : fragment.end]
        if begun := _LINE.match(line):
            yield from _select_launches(cell, Command(fragment.start + begun.end(), fragment.end))
        elif (env := ENV.fullmatch(line)) and env[2].strip() and not re.search(r"[\s${\"']", env[2].strip()):
            start = fragment.start + env.start(2) + len(env[2]) - len(env[2].lstrip())
            yield Command(start, start + len(env[2].strip()), f"export {env[1]}=")


def _select_launches(cell: str, command: Command) -> Iterator[Command]:
    if _WORTH.search(cell, command.start, command.end):
        yield command
