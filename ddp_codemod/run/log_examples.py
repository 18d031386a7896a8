"""Runs the examples of the error signatures: each ``hit`` has to lead to its entry, and no ``miss`` may."""

from __future__ import annotations

import io
from collections.abc import Iterator

from ddp_codemod.catalog.diagnostics import Diagnostics
from ddp_codemod.catalog.signature import Signature
from ddp_codemod.machine.diagnose import diagnose
from ddp_codemod.run.examples import Result


def run_logs(known: Diagnostics, without: Diagnostics | None = None) -> list[Result]:
    """Read every excerpt, leaving out the signatures whose ids are also in ``without``."""
    skipped = without.signatures if without else {}
    return [
        result
        for signature in known.signatures.values()
        if signature.id not in skipped
        for result in _run_signature(signature, known)
    ]


def _run_signature(signature: Signature, known: Diagnostics) -> Iterator[Result]:
    for number, excerpt in enumerate(signature.hit, 1):
        got = _find_entries(excerpt, known)
        ident = f"diagnostic:{signature.id}:hit:{number}"
        if signature.id not in got:
            yield Result(ident, signature.title, "missing", _format_diff(excerpt, signature.id, got))
        elif got[0] != signature.id:
            yield Result(ident, signature.title, "wrong", _format_diff(excerpt, signature.id, got))
        else:
            yield Result(ident, signature.title)
    for number, excerpt in enumerate(signature.miss, 1):
        got = _find_entries(excerpt, known)
        noisy = signature.id in got
        ident = f"diagnostic:{signature.id}:miss:{number}"
        yield Result(ident, signature.title, "noisy" if noisy else None, _format_diff(excerpt, "", got) if noisy else "")


def _find_entries(excerpt: str, known: Diagnostics) -> list[str]:
    """The entries that an excerpt leads to, the leading one first."""
    reading = diagnose(io.BytesIO(excerpt.encode()), known)
    return [entry.id for one in reading.diagnoses if (entry := one.signature or one.outside) is not None]


def _format_diff(excerpt: str, wanted: str, got: list[str]) -> str:
    lines = [f" {line}" for line in excerpt.strip().splitlines()]
    lines += [f"-{wanted}"] if wanted else []
    return "".join(f"{line}\n" for line in (*lines, f"+{', '.join(got) or 'no known error'}"))
