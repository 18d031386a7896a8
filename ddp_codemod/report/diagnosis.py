"""The reports of ``diagnose``: what happened, on which rank, why, and what to type or do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.signature import Cure
from ddp_codemod.health import Diagnosis, Reading
from ddp_codemod.messages import in_language, text
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.table import wrap_text

VERSION = 1
SCHEMA = Path(__file__).with_name("diagnosis.schema.json")
WIDTH = 100
Command = Callable[[Cure], "str | None"]  # the apply of a cure, or None where it is advice alone


def format_leading_diagnosis(
    diagnosis: Diagnosis, name: str, lang: str, ink: Ink, command: Command, verbose: bool = False, others: bool = False
) -> list[str]:
    """The diagnosis that counts most, in full; ``others`` follow below it."""
    signature, first = diagnosis.signature, diagnosis.first
    if signature is None:
        return _format_unknown_error(diagnosis, name, lang, ink, command, others)
    head = ink(in_language(signature, "title", lang), "bold", "red")
    block = [f"{head}  [{signature.id}]"]
    if first.line:
        block += _format_evidence(diagnosis, name, lang)
    block += ["", *_indent_paragraph(explain_cause(diagnosis, lang))]
    block += ["", *_indent_paragraph(text("diagnose-todo", lang)), *_format_cures(diagnosis, lang, ink, command)]
    if signature.confidence == "possible":
        block += _indent_paragraph(text("diagnose-unverified", lang))
    if verbose:
        block += [line for link in signature.source for line in _indent_paragraph(text("rule-source", lang, source=link))]
    return block


def _format_unknown_error(diagnosis: Diagnosis, name: str, lang: str, ink: Ink, command: Command, others: bool) -> list[str]:
    """An error that is none of the known ones: the line that is held for the cause, and the next step."""
    outside = diagnosis.outside
    block = [
        ink(title_of(diagnosis, lang), "bold", "red") + (f"  [{outside.id}]" if outside else ""),
        *([] if outside else [text("diagnose-held", lang)]),
        *_format_evidence(diagnosis, name, lang),
        "",
    ]
    block += _indent_paragraph(explain_cause(diagnosis, lang))
    if outside is not None:
        return [*block, "", *_indent_paragraph(text("diagnose-todo", lang)), *_format_cures(diagnosis, lang, ink, command)]
    block += ["", *_indent_paragraph(text("diagnose-unknown-report", lang))]
    return block + (_indent_paragraph(text("diagnose-unknown-below", lang)) if others else [])


def format_other_diagnoses(diagnoses: Sequence[Diagnosis], name: str, lang: str, ink: Ink) -> list[str]:
    """The others, two lines each."""
    if not diagnoses:
        return []
    block = ["", ink(text("diagnose-also", lang, n=len(diagnoses)), "bold")]
    for one in diagnoses:
        signature = one.signature
        title = title_of(one, lang)
        note = text("diagnose-consequence", lang) if signature and signature.role == "consequence" else ""
        block.append(f"  {_format_place(one, name)}: {title}" + (f" ({note})" if note else ""))
        block.append(f"      {one.first.text}")
    return block


def dumps(reading: Reading, name: str, lang: str, command: Command, sites: Mapping[str, Any] | None) -> bytes:
    """The report for programs: diagnosis.schema.json says what it holds."""
    document = {
        "version": VERSION,
        "log": name,
        "lines": reading.lines,
        "bytes": reading.size,
        "hints": list(reading.hints),
        "diagnoses": [_encode_diagnosis(one, lang, command) for one in reading.diagnoses],
        "sites": (sites or {}).get("sites", []),
    }
    return encode_json(document)


def _encode_diagnosis(diagnosis: Diagnosis, lang: str, command: Command) -> dict[str, Any]:
    signature, first = diagnosis.signature, diagnosis.first
    return {
        "id": signature.id if signature else None,
        "title": title_of(diagnosis, lang),
        "cause": _find_cause(diagnosis, lang),
        "confidence": signature.confidence if signature else "possible",
        "role": signature.role if signature else "root",
        "line": first.line,
        "text": first.text,
        "count": first.count,
        "ranks": list(first.ranks),
        "frames": [{"path": frame.path, "line": frame.line} for frame in first.frames],
        "cures": [{"command": command(cure), "advice": in_language(cure, "text", lang)} for cure in diagnosis.cures],
        "source": list(signature.source) if signature else [],
    }


def title_of(diagnosis: Diagnosis, lang: str) -> str:
    """What an error is called, of distributed training or not."""
    known = diagnosis.signature or diagnosis.outside
    return in_language(known, "title", lang) if known is not None else text("diagnose-unknown", lang)


def explain_cause(diagnosis: Diagnosis, lang: str) -> str:
    """Why, in a sentence that says how sure that is, and whether it is an error of distributed training."""
    signature = diagnosis.signature
    if signature is not None:
        return text(f"diagnose-why-{signature.confidence}", lang, cause=in_language(signature, "cause", lang))
    message = _find_cause(diagnosis, lang)
    return message if diagnosis.outside is None else text("diagnose-outside", lang, cause=message)


def _find_cause(diagnosis: Diagnosis, lang: str) -> str:
    known = diagnosis.signature or diagnosis.outside
    if known is not None:
        return in_language(known, "cause", lang)
    return text("diagnose-handed-on" if diagnosis.handed_on else "diagnose-unknown-why", lang)


def _format_evidence(diagnosis: Diagnosis, name: str, lang: str) -> list[str]:
    first = diagnosis.first
    message = text("diagnose-times", lang, n=first.count) if first.count > 1 else ""
    ranks = text("diagnose-ranks", lang, n=len(first.ranks), ranks=", ".join(first.ranks)) if first.ranks else ""
    more = ", ".join(part for part in (ranks, message) if part)
    return [f"  {_format_place(diagnosis, name)}" + (f"  ({more})" if more else ""), f"      {first.text}"]


def _format_place(diagnosis: Diagnosis, name: str) -> str:
    return f"{name}:{diagnosis.first.line}"


def _format_cures(diagnosis: Diagnosis, lang: str, ink: Ink, command: Command) -> list[str]:
    block: list[str] = []
    for number, cure in enumerate(diagnosis.cures, 1):
        message = in_language(cure, "text", lang)
        mark = f"  {number}. "
        first, *rest = wrap_text(message, WIDTH) if message else [""]
        line = command(cure)
        if message:
            block += [mark + first, *(" " * len(mark) + more for more in rest)]
        if line:
            block.append((" " * len(mark) if message else mark) + ink(line, "bold", "green"))
    return block


def _indent_paragraph(paragraph: str) -> list[str]:
    return ["  " + line for line in wrap_text(paragraph, WIDTH)]
