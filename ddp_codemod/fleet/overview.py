"""The page of a whole run: totals, sites, failures, and the repositories with the way to each one's own page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ddp_codemod import __version__
from ddp_codemod.fleet.estimate import Estimate
from ddp_codemod.fleet.model import Outcome, Trouble
from ddp_codemod.fleet.rewrite import JSON, PAGE, PATCH, TEXT
from ddp_codemod.fleet.summary import row, state
from ddp_codemod.fleet.totals import Totals, by_effort, totals
from ddp_codemod.messages import catalogue, text
from ddp_codemod.report.selfcontained import STYLE, assemble

MARK = b"<!doctype html>\n<!-- ddp-codemod fleet -->\n"
_FOLDER = Path(__file__).with_name("page")
_ACTIONS = ("edit", "keep", "review")
_ROW = (
    "repository", "platform", "ref", "commit", "state", "detail", "effort", "edits", "review", "not_applied", "notes", "skipped", "seconds",
    "folder",
)  # fmt: skip


def overview(outcomes: Sequence[Outcome], lang: str, told: Sequence[str] = (), estimate: Estimate | None = None) -> bytes:
    """The page, as UTF-8; ``told`` are sentences about the sample, if it was one."""
    style = STYLE.read_text("utf-8") + (_FOLDER / "page.css").read_text("utf-8")
    data = _data(outcomes, lang, told if estimate else ())
    return assemble(
        MARK, "ddp-codemod fleet", style, (_FOLDER / "page.js").read_text("utf-8"),
        data, "zh-CN" if lang == "zh" else "en", text("page-noscript", lang),
    )  # fmt: skip


def _data(outcomes: Sequence[Outcome], lang: str, told: Sequence[str]) -> dict[str, Any]:
    sums = totals(outcomes)
    words = {key.removeprefix("fleet-page-"): said for key, said in catalogue(lang).items() if key.startswith("fleet-page-")}
    ordered = by_effort(outcomes)
    states = dict.fromkeys(state(outcome) for outcome in ordered)
    return {
        "title": text("fleet-page-title", lang, n=len(outcomes)),
        "made": f"ddp-codemod {__version__}",
        "words": words,
        "tiles": [
            [name, getattr(sums, name)] for name in ("repositories", "edited", "review", "failed", "edits", "review_sites")
        ],
        "sites": _sites(sums),
        "troubles": sums.troubles.most_common(),
        "failed": [one.value for one in Trouble],
        "states": list(states),
        "estimate": list(told),
        "repositories": [_row(outcome) for outcome in ordered],
    }


def _sites(sums: Totals) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], list[int]] = {}
    for (framework, kind, action), sites in sums.sites.items():
        rows.setdefault((framework, kind), [0] * len(_ACTIONS))[_ACTIONS.index(action)] += sites
    ordered = sorted(rows.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    return [{"framework": framework, "kind": kind, "counts": counts} for (framework, kind), counts in ordered]


def _row(outcome: Outcome) -> dict[str, Any]:
    whole = row(outcome)
    links = {} if outcome.trouble is not None or not outcome.folder else {"text": TEXT, "json": JSON}
    if outcome.edits:
        links = {"patch": PATCH, **links}
    if outcome.page:
        links = {"page": PAGE, **links}
    return {name: whole[name] for name in _ROW} | {"links": links}
