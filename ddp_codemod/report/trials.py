"""The reports of ``verify``: each site, how its process group formed, and where it did not, why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.signature import Cure
from ddp_codemod.health import TrialResult, VerifiedSite
from ddp_codemod.messages import in_language, render, text
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.view import shorten_text

VERSION = 2
SCHEMA = Path(__file__).with_name("trials.schema.json")
_COLOURS = {"passed": "green", "failed": "red", "hung": "red", "skipped": "yellow", "elsewhere": "yellow"}
Command = Callable[[Cure], "str | None"]


def format_site(
    one: VerifiedSite, where: str, lang: str, ink: Ink, command: Command, verbose: bool = False, again: bool = False
) -> list[str]:
    """A site and its trials; ``again``: the same trial has been told of, its errors need no second telling."""
    block = [f"{ink(where, 'bold')}: {one.surface}  {_format_arguments(one, lang)}".rstrip()]
    if one.left is not None:
        return [*block, "    " + text("verify-left", lang, reason=render(one.left, lang))]
    for tried in one.tried:
        block += _format_attempt(tried, lang, ink, command, verbose)[: 1 if again else None]
    return block


def _format_arguments(one: VerifiedSite, lang: str) -> str:
    if one.trial is None:
        return ""
    environment = "".join(f" {name}={value}" for name, value in one.trial.environment)
    return f"{one.trial.backend}, {one.trial.init_method or 'env://'}{environment}"


def _format_attempt(tried: TrialResult, lang: str, ink: Ink, command: Command, verbose: bool) -> list[str]:
    state = ink(text(f"verify-{tried.state}", lang), _COLOURS[tried.state])
    head = "    " + text("verify-tried", lang, launch=tried.launch, n=tried.ranks, state=state)
    if tried.state == "passed":
        return [head + "  " + _format_steps(tried, lang)]
    if tried.state == "elsewhere":
        return [head + "  " + text("verify-elsewhere-said", lang, url=tried.error), "        " + _format_steps(tried, lang)]
    if tried.state == "skipped":
        return [head + "  " + text("verify-lacking", lang, what=tried.error)]
    block = [head, "        " + shorten_text(tried.error, 160)]
    if tried.advice is not None:
        block.append(f"        -> {render(tried.advice, lang)}")
    elif tried.diagnosis is not None and tried.diagnosis.signature is not None:
        signature = tried.diagnosis.signature
        block.append(f"        {in_language(signature, 'title', lang)}  [{signature.id}]")
        for cure in tried.diagnosis.cures[:2]:
            said = " ".join(part for part in (in_language(cure, "text", lang), command(cure)) if part)
            block.append(f"        -> {said}")
    if verbose or tried.state == "hung":
        block += ["        | " + line for line in tried.output.splitlines()[-60:]]
    return block


def _format_steps(tried: TrialResult, lang: str) -> str:
    """What a trial did, and how long each step took."""
    names = {"form": text("verify-create", lang)}
    return ", ".join(f"{names.get(name, name)} {seconds:.2f} s" for name, seconds in tried.steps if name != "import")


def encode_trials(
    found: Sequence[VerifiedSite], platform: str | None, lang: str, command: Command, run: dict[str, Any] | None = None
) -> bytes:
    """The report for programs, of trials or of a ``run``: trials.schema.json says what it holds."""
    document = {"version": VERSION, "platform": platform, "sites": [_encode_entry(one, lang, command) for one in found]}
    return encode_json(document if run is None else {**document, "run": run})


def _encode_entry(one: VerifiedSite, lang: str, command: Command) -> dict[str, Any]:
    trial = one.trial
    return {
        "path": one.path,
        "line": one.line,
        "surface": one.surface,
        "backend": trial.backend if trial else None,
        "init_method": trial.init_method if trial else None,
        "environment": dict(trial.environment) if trial else {},
        "reason": render(one.left, lang) if one.left else "",
        "trials": [
            {
                "launch": tried.launch,
                "ranks": tried.ranks,
                "state": tried.state,
                "seconds": {name: round(seconds, 4) for name, seconds in tried.steps},
                "error": tried.error,
                "diagnosis": tried.diagnosis.signature.id if tried.diagnosis and tried.diagnosis.signature else None,
                "command": next((line for cure in tried.diagnosis.cures if (line := command(cure))), None)
                if tried.diagnosis
                else None,
                "output": tried.output,
            }
            for tried in one.tried
        ],
    }
