"""A patch that a user changed in an editor, as edits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.edits.blocks import split_lines
from ddp_codemod.edits.units import Unit
from ddp_codemod.model import Edit, Reason, Source

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class PatchError(Exception):
    """The changed patch does not fit; ``reason`` says why."""

    def __init__(self, key: str, **args: object) -> None:
        super().__init__(key)
        self.reason = Reason.of(key, **args)


def apply_patch(unit: Unit, text: str, sources: Sequence[Source]) -> Unit:
    """The unit with what a patch says in place of its edits. ``sources`` are its files, in the order of the patch.

    As in git, lines with "-" or a blank in front have to be those of the file, lines with "+" are free. Raises PatchError.
    """
    edits: list[Edit] = []
    parts = re.split(r"(?m)^diff --git .*$\n?", text)[1:]
    if len(parts) != len(sources):
        raise PatchError("review-edit-files", n=len(sources))
    for source, part in zip(sources, parts, strict=True):
        if source.file is not source:
            raise PatchError("review-edit-notebook")
        edits += (replace(unit.lead, **values) for values in _parse_hunks(source, part))
    lead = edits[0] if edits else unit.lead
    return Unit(unit.number, tuple(edits), lead)


def _parse_hunks(source: Source, part: str) -> Iterator[dict[str, object]]:
    old = split_lines(source.text)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    lines = part.split("\n")
    at = 0
    while at < len(lines):
        found = _HUNK.match(lines[at])
        at += 1
        if found is None:
            continue
        first = int(found[1]) - (found[2] != "0")
        row = first
        new: list[str] = []
        while at < len(lines) and not lines[at].startswith("@@ ") and not (lines[at] == "" and at == len(lines) - 1):
            sign, body = lines[at][:1] or " ", lines[at][1:]
            at += 1
            if sign == "\\":
                if new and lines[at - 2].startswith("+"):
                    new[-1] = new[-1].rstrip("\r\n")
            elif sign == "+":
                new.append(body + source.newline)
            elif sign in " -":
                if row >= len(old) or old[row].rstrip("\r\n") != body.rstrip("\r"):
                    raise PatchError("review-edit-line", line=body.strip(), number=row + 1)
                if sign == " ":
                    new.append(old[row])
                row += 1
            else:
                raise PatchError("review-edit-sign", line=lines[at - 1])
        values = {"name": source.name, "start": starts[first], "end": starts[row], "after": "".join(new)}
        if source.text[starts[first] : starts[row]] != values["after"]:
            yield {**values, "recipe": None, "anchor": None, "also": ()}
