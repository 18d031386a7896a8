"""From a log to what happened: known errors in the order in which they count, each with the cures that fit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import BinaryIO

import msgspec

from ddp_codemod.catalog.diagnostics import Diagnostics
from ddp_codemod.catalog.signature import Cure, Signature
from ddp_codemod.health import Diagnosis, Occurrence, Reading
from ddp_codemod.machine.folded_traceback import renumber_reading, unfold_traceback
from ddp_codemod.machine.log_scanner import Scanner, ScanResult
from ddp_codemod.machine.unknown_errors import CUT, EXCEPTION, HANDED_ON

_ORDER = {"root": 0, "outside": 0, "umbrella": 1, "warning": 3, "consequence": 4}
_UNKNOWN = 2  # an error of the program's own comes before what only follows from some error, or may mean nothing
_GENERAL = 5  # a warning that anything may follow
_LEFT = 6  # a launcher's word that some process ended
_AFFECTED = ("root", "umbrella", "consequence")  # with one of these in the log an error from outside is a cause
Ranked = tuple[int, int, Diagnosis]


def diagnose(
    stream: BinaryIO,
    known: Diagnostics,
    *,
    hang: bool = False,
    hints: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Reading:
    """Read a log. Causes come before what follows from them, and of these the first one in time leads.

    ``hang``: the run is still, so an error that shows as silence is there even where the log does not end with its sign.
    ``hints`` are those that are known without the log.
    """
    stream, folded = unfold_traceback(stream)
    found = Scanner(known.signatures.values(), known.hints.values(), known.harmless.values()).scan(stream, progress)
    found.hints.update(hints)
    ranked = _rank_known_errors(found, known)
    if not any(entry[2].signature is None for entry in ranked):
        ranked += _rank_unknown_error(found, bool(ranked))
    if not hang:
        ranked = _remove_silence(ranked)
    else:
        ranked = _add_silence(ranked, known, found.hints, found.lines)
    ranked.sort(key=lambda entry: entry[:2])
    reading = Reading(tuple(entry[2] for entry in ranked), tuple(sorted(found.hints)), found.lines, found.size)
    return renumber_reading(reading) if folded else reading


def _rank_known_errors(found: ScanResult, known: Diagnostics) -> list[Ranked]:
    """What signatures know. Of errors from outside one alone is told, and as none of distributed training where nothing depends on it."""
    seen = [(known.signatures[ident], one.whole) for ident, one in found.known.items()]
    told = {first.line for signature, first in seen if not signature.general}
    seen = [(signature, first) for signature, first in seen if not (signature.general and first.line in told)]
    affected = any(signature.role in _AFFECTED for signature, _ in seen)
    umbrella = min((first.line for signature, first in seen if signature.role == "umbrella"), default=found.lines + 1)
    ranked: list[Ranked] = []
    for signature, first in seen:
        if signature.role == "outside" and not affected:
            lone = Diagnosis(None, first, fitting_cures(signature, found.hints), outside=signature)
            ranked.append((_UNKNOWN, first.line, lone))
            continue
        late = signature.role == "outside" and first.line > umbrella
        order = _UNKNOWN if late else _GENERAL if signature.general and signature.role == "warning" else _ORDER[signature.role]
        ranked.append((order, first.line, Diagnosis(signature, first, fitting_cures(signature, found.hints))))
    return ranked


def _rank_unknown_error(found: ScanResult, others: bool) -> list[Ranked]:
    """The error that no signature knows; where one is known, only one of the program's own counts beside it."""
    seen = found.suspects.first(found.taken, found.lines)
    if seen is None or (others and seen[0] != EXCEPTION):
        return []
    kind, first = seen
    order = _LEFT if kind in (HANDED_ON, CUT) else _UNKNOWN
    return [(order, first.line, Diagnosis(None, first, handed_on=kind == HANDED_ON))]


def _remove_silence(ranked: list[Ranked]) -> list[Ranked]:
    """A run that has printed an error did not hang."""
    ended = any(
        order < _GENERAL and not (one.signature and (one.signature.silence or one.signature.role == "warning"))
        for order, _, one in ranked
    )
    return [entry for entry in ranked if not (ended and entry[2].signature and entry[2].signature.silence)]


def _add_silence(ranked: list[Ranked], known: Diagnostics, hints: Collection[str], lines: int) -> list[Ranked]:
    """The causes of a hang, behind those that the log itself names."""
    there = {diagnosis.signature.id for *_, diagnosis in ranked if diagnosis.signature is not None}
    silent = [one for one in known.signatures.values() if one.silence and not one.apart and one.id not in there]
    return ranked + [
        (
            _ORDER[signature.role],
            lines + 1,
            Diagnosis(without_evidence(signature), Occurrence(0, ""), fitting_cures(signature, hints)),
        )
        for signature in silent
    ]


def without_evidence(signature: Signature) -> Signature:
    """The signature as one that nothing in the log speaks for."""
    return msgspec.structs.replace(signature, confidence="possible")


def fitting_cures(signature: Signature, hints: Collection[str]) -> tuple[Cure, ...]:
    """The cures of a signature for the machine that the hints tell of."""
    return tuple(
        cure
        for cure in signature.cure
        if (not cure.when or any(hint in hints for hint in cure.when)) and not any(hint in hints for hint in cure.unless)
    )
