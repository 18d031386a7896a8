"""Jupyter notebooks: the Python cells as one text, and the way back into the JSON file.

In the text every cell ends with two line ends that are not in the file: the first ends the cell's last line, so that what
follows that line can be told from what precedes the next cell. Behind the cells are their shell commands, as comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.model import Reason, Replacement, Skipped, Source, replace_stretches
from ddp_codemod.parse.blanks import blank_out
from ddp_codemod.parse.cell_commands import Command, commands
from ddp_codemod.parse.cell_edits import CellEdit, apply_edits
from ddp_codemod.parse.cells import Cell, NotANotebook, find_python_cells
from ddp_codemod.parse.ipython import program, split_cell

SHELL = "shell "  # what the name of a program begins with that a shell reads
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_STAND_IN = re.compile(r"__environ__\[[^\r\n]*")
_SIGN = re.compile(r"(?m)(?:(?<=(\\)\n)|(?<=(\\)\r\n)|^)#")


class Run(Struct, frozen=True):
    """A stretch of the text, and the stretch ``at`` to ``until`` of a cell that it shows (``real``) or stands for."""

    start: int
    end: int
    cell: int
    at: int
    until: int
    real: bool
    shell: bool = False


class NotebookSource(Source, frozen=True, dict=True):
    """A notebook as one Python text. ``data`` and ``encoding`` are the file's, ``json`` is its text."""

    json: Source
    cells: tuple[Cell, ...]
    runs: tuple[Run, ...]
    programs: tuple[tuple[str, int, int], ...]  # which program each stretch of the text belongs to; "" is the notebook itself
    skipped_cells: tuple[tuple[str, Skipped], ...]  # the cells that could not be read, and why

    def views(self) -> list[NotebookSource]:
        """A text for each program in it, the notebook's own first: all else is blank, so that offsets are the same."""
        names = dict.fromkeys(["", *(name for name, _, _ in self.programs if not name.startswith(SHELL))])
        return [self] if len(self.programs) == len(names) == 1 else [self._make_view(name) for name in names]

    def commands(self) -> list[NotebookSource]:
        """A text for each fragment of it that a shell reads: all else is blank, so that offsets are the same."""
        found, blank = [], blank_out(self.text)
        for name, start, end in self.programs:
            if name.startswith(SHELL):
                # each line has a sign in front, which is none of the shell's: where a line goes on, a blank will do
                text = _SIGN.sub(lambda sign: " " if sign[1] else "\n", self.text[start:end])
                found.append(replace(self, text=blank[:start] + text + blank[end:]))
        return found

    def _make_view(self, program: str) -> NotebookSource:
        stretches = ((self.text[start:end], name) for name, start, end in self.programs)
        return replace(self, text="".join(text if name == program else blank_out(text) for text, name in stretches))

    @property
    def file(self) -> Source:
        """The file itself."""
        return self.json

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) in the file of an offset in the text."""
        return self.json.position(self.in_file(offset))

    def in_file(self, offset: int) -> int:
        """The offset in the file of a character of the text, or of the nearest one before it that is in the file."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return 0
        run = self.runs[at]
        cell = self.cells[run.cell]
        inside = min(run.at + offset - run.start, run.until) if run.real else run.at
        return cell.elements[cell.index(inside)].in_file(inside)

    @cached_property
    def _starts(self) -> list[int]:
        return [run.start for run in self.runs]

    def written(self, replacements: Sequence[Replacement]) -> str | Reason:
        """The file's text with stretches of the Python text replaced: all else stays as it is.

        Gives a reason where a stretch is not inside one cell, or not Python of that cell.
        """
        edits: list[CellEdit] = []
        for start, end, new in _join_replacements(replacements):
            edit = self._map_to_cell(start, end, new)
            if edit is None:
                return Reason.of("edit-across-cells", line=self.position(start)[0])
            edits.append(edit)
        edits.sort(key=lambda edit: (edit.cell, edit.start, edit.end))
        text = apply_edits(self.json.text, self.cells, edits)
        if text is None:
            return Reason.of("edit-overlaps", line=self.position(replacements[0][0])[0])
        again = read_notebook(replace(self.json, text=text))
        if isinstance(again, Skipped) or _split_words(again.text) != _split_words(replace_stretches(self.text, replacements)):
            return Reason.of("edit-breaks-notebook", line=self.position(replacements[0][0])[0])
        return text

    def _map_to_cell(self, start: int, end: int, new: str) -> CellEdit | None:
        """The same replacement, in a cell; None where it is in none."""
        first = max(0, bisect_right(self._starts, start) - 1)
        while first > 0 and self.runs[first - 1].end >= start:
            first -= 1
        near = [run for run in self.runs[first : first + 8] if run.real and run.start <= start <= run.end]
        if start == end and near:
            # at a stretch that is not shown, a whole line goes in front of the line, anything else behind the stretch
            run = near[0] if new.endswith(("\n", "\r")) else near[-1]
            return CellEdit(run.cell, run.at + start - run.start, run.at + start - run.start, new)
        for run in near:
            if end <= run.end and start < run.end:
                return CellEdit(run.cell, run.at + start - run.start, run.at + end - run.start, new)
        return self._map_to_cell_end(start, end, new)

    def _map_to_cell_end(self, start: int, end: int, new: str) -> CellEdit | None:
        """A replacement that includes, or is behind, the line end that a cell's last line has in the text only."""
        at = bisect_right([run.end for run in self.runs], end - 1) - 1
        if at < 0 or not self.runs[at].real or self._is_continued(at):
            return None
        run = self.runs[at]
        ending = self.text[run.end : end]
        if ending not in ("\n", "\r\n"):
            return None
        if start == end:
            return CellEdit(run.cell, run.until, run.until, ending + new[: -len(ending)]) if new.endswith(ending) else None
        if start < run.start:
            return None
        cut = run.at + start - run.start
        if new:
            return CellEdit(run.cell, cut, run.until, new[: -len(ending)]) if new.endswith(ending) else None
        before = self.cells[run.cell].text[run.at : cut]  # the line goes with the line end in front of it
        return CellEdit(run.cell, cut - (2 if before.endswith("\r\n") else before.endswith("\n")), run.until, "")

    def _is_continued(self, at: int) -> bool:
        """Whether the next run is one of the same cell's Python."""
        return at + 1 < len(self.runs) and not self.runs[at + 1].shell and self.runs[at + 1].cell == self.runs[at].cell


def read_notebook(source: Source) -> NotebookSource | Skipped:
    """A notebook that was read as text, as Python; one that is none is skipped with the reason."""
    try:
        cells = find_python_cells(source.text)
    except NotANotebook as why:
        return Skipped(source.name, Reason.of("skipped-notebook", why=why))
    text: list[str] = []
    runs: list[Run] = []
    programs: list[tuple[str, int, int]] = []
    skipped_cells: list[tuple[str, Skipped]] = []
    shell: list[tuple[int, Command]] = []
    length = 0
    for number, cell in enumerate(cells):
        name = program(cell.text, number) if cell.text else None
        if name is None:
            shell += [(number, command) for command in commands(cell.text, [])]
            continue
        try:
            parts = split_cell(cell.text, plain=bool(name))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
            skipped_cells.append((cell.text, _skip_cell(source, cell, why)))
            continue
        start = length
        shell += [(number, command) for command in commands(cell.text, parts)]
        for part in parts:
            shown = cell.text[part.start : part.end] if part.stand_in is None else part.stand_in
            runs.append(Run(length, length + len(shown), number, part.start, part.end, part.stand_in is None))
            text.append(shown)
            length += len(shown)
        text.append("\r\n\n" if "\r\n" in cell.text else "\n\n")
        length += len(text[-1])
        programs.append((name, start, length))
    for count, (number, command) in enumerate(shell):
        start = length
        for line in _LINE.finditer(cells[number].text, command.start, command.end):
            sign = "#" if line.start() > command.start else f"#{command.head}"
            begin = length + len(sign)
            length = begin + len(line[0])
            runs.append(Run(begin, length, number, line.start(), line.end(), True, shell=True))
            text += (sign, line[0])
        text.append("\n\n")
        length += 2
        programs.append((f"{SHELL}{count}", start, length))
    return NotebookSource(
        source.path, source.name, source.data, "".join(text), source.encoding, source, cells, tuple(runs), tuple(programs),
        tuple(skipped_cells),
    )  # fmt: skip


def _split_words(text: str) -> list[str]:
    """A text without its spaces, and without what stands for magics: these change with what they stand for."""
    return _STAND_IN.sub("", text).split()


def _skip_cell(source: Source, cell: Cell, why: BaseException) -> Skipped:
    line = source.position(cell.elements[0].start)[0]
    return Skipped(source.name, Reason.of("skipped-cell", line=line, why=getattr(why, "msg", None) or type(why).__name__))


def _join_replacements(replacements: Sequence[Replacement]) -> Iterator[Replacement]:
    """The replacements in order; one that only removes text is one with what is in front of it."""
    last: Replacement | None = None
    for start, end, new in sorted(replacements, key=lambda one: one[:2]):
        if last is not None and last[1] == start < end and not new:
            last = (last[0], end, last[2])
        else:
            if last is not None:
                yield last
            last = (start, end, new)
    if last is not None:
        yield last
