"""From a log to what happened: known errors in the order in which they count, each with the cures that fit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import BinaryIO

import msgspec

from ddp_codemod.health import Diagnosis, Occurrence, Reading
from ddp_codemod.machine.scan import Scanner
from ddp_codemod.rules.diagnostics import Diagnostics
from ddp_codemod.rules.signature import Cure, Signature

_ORDER = {"root": 0, "umbrella": 1, "consequence": 3}
_UNKNOWN = 2  # an error of the program's own comes before what only follows from some error


def diagnose(
    stream: BinaryIO,
    known: Diagnostics,
    *,
    hang: bool = False,
    hints: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Reading:
    """Read a log. Causes come before what follows from them, and of these the first one in time leads.

    ``hang``: the run stands still, so an error that shows as silence is there even where the log does not end with its sign.
    ``hints`` are those that are known without the log.
    """
    found = Scanner(known.signatures.values(), known.hints.values()).scan(stream, progress)
    found.hints.update(hints)
    ranked = [
        (_ORDER[signature.role], seen.first.line, Diagnosis(signature, seen.whole, fitting(signature, found.hints)))
        for ident, seen in found.known.items()
        for signature in (known.signatures[ident],)
    ]
    if found.unknown is not None:
        ranked.append((_UNKNOWN, found.unknown.first.line, Diagnosis(None, found.unknown.whole)))
    if hang:
        ranked = _with_silence(ranked, known, found.hints, found.lines)
    ranked.sort(key=lambda entry: entry[:2])
    return Reading(tuple(entry[2] for entry in ranked), tuple(sorted(found.hints)), found.lines, found.size)


def _with_silence(
    ranked: list[tuple[int, int, Diagnosis]], known: Diagnostics, hints: Collection[str], lines: int
) -> list[tuple[int, int, Diagnosis]]:
    """The causes of a hang, behind those that the log itself names."""
    there = {diagnosis.signature.id for *_, diagnosis in ranked if diagnosis.signature is not None}
    silent = [signature for signature in known.signatures.values() if signature.silence and signature.id not in there]
    return ranked + [
        (_ORDER[signature.role], lines + 1, Diagnosis(unsure(signature), Occurrence(0, ""), fitting(signature, hints)))
        for signature in silent
    ]


def unsure(signature: Signature) -> Signature:
    """The signature as one that nothing in the log speaks for."""
    return msgspec.structs.replace(signature, confidence="possible")


def fitting(signature: Signature, hints: Collection[str]) -> tuple[Cure, ...]:
    """The cures of a signature for the machine that the hints tell of."""
    return tuple(
        cure
        for cure in signature.cure
        if (not cure.when or any(hint in hints for hint in cure.when)) and not any(hint in hints for hint in cure.unless)
    )
