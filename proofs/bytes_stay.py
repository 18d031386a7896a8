"""Bytes outside an edit never change."""

from __future__ import annotations

import json
import re

from proofs import surveyed
from proofs.packages import packages
from proofs.proof import Trial
from proofs.surveyed import Changed, generated, keep

PROMISE = "bytes outside an edit never change"


def prove(trial: Trial) -> str:
    """Look for every stretch between two edits in the new file, in its order and at both ends."""
    lost = 0
    for folder, found in generated(trial, trial.sized(120, 10_000)):
        for one in found:
            broken = _check(trial, one)
            lost += broken
            if broken and folder.name.startswith("project"):
                trial.kept.update([keep(folder, one.change.name)])
    made = surveyed.made(trial)
    for name, found in packages(trial):
        for one in found:
            lost += _check(trial, one, name)
    return (
        f"{made} ({trial.counts['hypothesmith']} pieces of hypothesmith in them) with {trial.counts['edits']} edits in "
        f"{trial.counts['changed']} files ({trial.counts['edits beside Python']} beside Python), and {trial.counts['packages']} published packages with {trial.counts['package edits']}: {lost} files in which a byte outside an edit changed"
    )


def _check(trial: Trial, one: Changed, where: str = "") -> int:
    """0, or 1 where a stretch is missing."""
    before, after = one.change.before, one.change.after
    if one.source.file is not one.source:  # a notebook's offsets are those of its code
        return _notebook(trial, one)
    text, encoding = one.source.text, one.source.encoding.removesuffix("-sig")
    mark = len(before) - len(text.encode(encoding))
    stretches, at = [], 0
    emptied = set()  # stretches behind an edit that may leave its line empty
    for start, end, empties in sorted({(edit.start, edit.end, not edit.after) for edit in one.edits}):
        if start >= at:
            stretches.append((at, start))
        at = max(at, end)
        if empties:
            emptied.add(len(stretches))
    stretches.append((at, len(text)))
    pieces = [text[start:end].encode(encoding) for start, end in stretches]
    pieces[0] = before[:mark] + pieces[0]
    wanted = b"(?:.*?)".join(_either(piece, number in emptied, number + 1 in emptied) for number, piece in enumerate(pieces))
    if re.fullmatch(wanted, after, re.DOTALL):
        return 0
    trial.fail(f"{where}{one.change.name}: what lies between the edits is not as it was", f"bytes-{one.change.name}", before)
    return 1


def _either(piece: bytes, left: bool, right: bool) -> bytes:
    """The stretch; where an edit empties its line, the rest of that line may go with it."""
    trimmed = _trimmed(piece, left, right)
    return re.escape(piece) if trimmed == piece else b"(?:" + re.escape(piece) + b"|" + re.escape(trimmed) + b")"


def _trimmed(piece: bytes, left: bool, right: bool) -> bytes:
    """Without the rest of an emptied line: white space, a comment and the line end behind an edit, white space before one."""
    if left:
        piece = re.sub(rb"\A[ \t\x0c;]*(?:#[^\r\n]*)?(?:\r\n|\n|\r)?", b"", piece)
    return piece.rstrip(b" \t\x0c;") if right else piece


def _notebook(trial: Trial, one: Changed) -> int:
    """For a notebook: all but the sources of its cells is as it was."""
    old, new = json.loads(one.change.before), json.loads(one.change.after)
    for before, after in zip(old["cells"], new["cells"], strict=True):
        if {key: before[key] for key in before if key != "source"} != {key: after[key] for key in after if key != "source"}:
            trial.fail(
                f"{one.change.name}: more than the source of a cell changed", f"bytes-{one.change.name}", one.change.before
            )
            return 1
    if {key: old[key] for key in old if key != "cells"} != {key: new[key] for key in new if key != "cells"}:
        trial.fail(f"{one.change.name}: more than its cells changed", f"bytes-{one.change.name}", one.change.before)
        return 1
    return 0
