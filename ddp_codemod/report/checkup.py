"""The reports of ``doctor``: for people, for programs, and for a bug report."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ddp_codemod.health import Check, Checkup
from ddp_codemod.messages import render, text
from ddp_codemod.report.ascii_json import encode_json
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.table import count_cells

VERSION = 2
SCHEMA = Path(__file__).with_name("checkup.schema.json")
_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}
_SECRET = re.compile(r"\b(?:hf|ghp|gho|sk|glpat|xox[bp])[_-][\w-]{8,}|\b[A-Fa-f0-9]{32,}\b")


def format_checkup(checkup: Checkup, lang: str, ink: Ink, command: str | None) -> list[str]:
    """Every check, and what the machine counts as."""
    words = {state: text(f"doctor-{state}", lang) for state in _COLOURS}
    width = max(map(count_cells, words.values()))
    block = []
    for check in checkup.checks:
        word = words[check.state]
        block.append(ink(word, _COLOURS[check.state]) + " " * (width - count_cells(word) + 2) + render(check.said, lang))
        block += [" " * (width + 2) + more for more in _format_advice(check, lang)]
    return [*block, "", *_format_platform(checkup, lang, ink, command)]


def _format_advice(check: Check, lang: str) -> list[str]:
    more = [text("doctor-why", lang, why=render(check.why, lang))] if check.why else []
    return more + ([text("doctor-do", lang, todo=render(check.todo, lang))] if check.todo else [])


def _format_platform(checkup: Checkup, lang: str, ink: Ink, command: str | None) -> list[str]:
    """What the machine counts as, what it has of the platform that the user names, and the command that ports a project to it."""
    key = "doctor-platform" if checkup.platform is not None else "doctor-platform-none"
    known = checkup.asked is not None and checkup.platform is None  # the user has said it: what is missing is among the problems
    block = [] if known else [text(key, lang, platform=checkup.platform, because=render(checkup.because, lang))]
    if checkup.asked is not None:
        lacking = count_lacking(checkup)
        key = "doctor-asked-lacking" if lacking else "doctor-asked"
        block.append(text(key, lang, platform=checkup.asked, n=lacking))
    elif checkup.platform is None:
        return block
    block[-1] = ink(block[-1], "bold")
    return [*block, text("doctor-next", lang, command=ink(command, "bold", "green"))] if command is not None else block


def count_lacking(checkup: Checkup) -> int:
    """How much of what the named platform needs is not there."""
    return sum(check.state == "problem" for check in checkup.checks)


def encode_checkup(checkup: Checkup, lang: str, command: str | None) -> bytes:
    """The report for programs: checkup.schema.json says what it holds."""
    document = {
        "version": VERSION,
        "platform": checkup.platform,
        "reason": render(checkup.because, lang),
        "command": command,
        "checks": [
            {
                "id": check.id,
                "state": check.state,
                "message": render(check.said, lang),
                "impact": render(check.why, lang) if check.why else "",
                "fix": render(check.todo, lang) if check.todo else "",
            }
            for check in checkup.checks
        ],
    }
    return encode_json({**document, "asked": checkup.asked} if checkup.asked is not None else document)


def format_issue_report(checkup: Checkup, lang: str, version: str, command: str | None, names: Iterable[str]) -> str:
    """The report for an issue: ``names`` of people, hosts and folders, and whatever looks like a token, are omitted."""
    block = [f"## ddp-codemod doctor {version}", ""]
    for check in checkup.checks:
        mark = {"ok": "", "warning": "**warning** ", "problem": "**problem** "}[check.state]
        block.append(f"- {mark}{render(check.said, lang)}")
        block += [f"  - {more}" for more in _format_advice(check, lang)]
    topology = checkup.facts.get("drivers", {}).get("topology")
    block += ["", "```", topology, "```"] if topology else []
    block += ["", *_format_platform(checkup, lang, Ink(False), command), ""]
    said = "\n".join(block)
    for name in sorted({name for name in names if len(name) > 1}, key=len, reverse=True):
        said = re.sub(rf"(?<![\w]){re.escape(name)}(?![\w])", "<...>", said)
    return _SECRET.sub("<...>", said)
