"""The page of a whole run: totals, sites, failures, and the repositories with the way to each one's own page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ddp_codemod import __version__
from ddp_codemod.fleet.estimate import Estimate
from ddp_codemod.fleet.model import Outcome, Trouble
from ddp_codemod.fleet.rewrite import JSON, PAGE, PATCH, TEXT
from ddp_codemod.fleet.summary import encode_row, state_of
from ddp_codemod.fleet.totals import Totals, add_totals, sort_by_effort
from ddp_codemod.messages import catalogue, text
from ddp_codemod.report.selfcontained import STYLE, assemble_page

MARK = b"<!doctype html>\n<!-- ddp-codemod fleet -->\n"
_FOLDER = Path(__file__).with_name("page")
_ACTIONS = ("edit", "keep", "review")
_ROW = (
    "repository", "platform", "ref", "commit", "state", "detail", "effort", "edits", "review", "not_applied", "notes", "skipped", "seconds",
    "folder",
)  # fmt: skip


def render_overview(outcomes: Sequence[Outcome], lang: str, told: Sequence[str] = (), estimate: Estimate | None = None) -> bytes:
    """The page, as UTF-8; ``told`` are sentences about the sample, if it was one."""
    style = STYLE.read_text("utf-8") + (_FOLDER / "page.css").read_text("utf-8")
    data = _encode_page_data(outcomes, lang, told if estimate else ())
    return assemble_page(
        MARK, "ddp-codemod fleet", style, (_FOLDER / "page.js").read_text("utf-8"),
        data, "zh-CN" if lang == "zh" else "en", text("page-noscript", lang),
    )  # fmt: skip


def _encode_page_data(outcomes: Sequence[Outcome], lang: str, told: Sequence[str]) -> dict[str, Any]:
    sums = add_totals(outcomes)
    words = {key.removeprefix("fleet-page-"): said for key, said in catalogue(lang).items() if key.startswith("fleet-page-")}
    ordered = sort_by_effort(outcomes)
    states = dict.fromkeys(state_of(outcome) for outcome in ordered)
    return {
        "title": text("fleet-page-title", lang, n=len(outcomes)),
        "made": f"ddp-codemod {__version__}",
        "words": words,
        "tiles": [
            [name, getattr(sums, name)] for name in ("repositories", "edited", "review", "failed", "edits", "review_sites")
        ],
        "sites": _count_sites(sums),
        "troubles": sums.troubles.most_common(),
        "failed": [one.value for one in Trouble],
        "states": list(states),
        "estimate": list(told),
        "repositories": [_encode_row(outcome) for outcome in ordered],
    }


def _count_sites(sums: Totals) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], list[int]] = {}
    for (framework, kind, action), sites in sums.sites.items():
        rows.setdefault((framework, kind), [0] * len(_ACTIONS))[_ACTIONS.index(action)] += sites
    ordered = sorted(rows.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    return [{"framework": framework, "kind": kind, "counts": counts} for (framework, kind), counts in ordered]


def _encode_row(outcome: Outcome) -> dict[str, Any]:
    whole = encode_row(outcome)
    links = {} if outcome.trouble is not None or not outcome.folder else {"text": TEXT, "json": JSON}
    if outcome.edits:
        links = {"patch": PATCH, **links}
    if outcome.page:
        links = {"page": PAGE, **links}
    return {name: whole[name] for name in _ROW} | {"links": links}
