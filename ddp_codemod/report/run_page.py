"""The section of the review page that shows a run beside the code."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ddp_codemod.health import GroupComparison, Overlay
from ddp_codemod.kinds import GroupMatch
from ddp_codemod.report.overlay import MISSED, details, format_bug_report_line, head, sentence
from ddp_codemod.report.view import View


def section(view: View, found: Overlay, command: str) -> dict[str, Any]:
    """Each group with its place and what it shows, and the sites that the run did not reach; ``command`` makes the changes."""
    view = replace(view, here=view.survey.root.absolute())
    left = [[view.where(site.call), view.site(site)] for site in found.not_reached]
    return {
        "head": head(view, found),
        "groups": [_group(view, one, found, command) for one in found.held],
        "left": view.say("overlay-not-reached", n=len(left)) if left else "",
        "sites": left,
    }


def _group(view: View, one: GroupComparison, found: Overlay, command: str) -> dict[str, Any]:
    platform = found.platform
    frame = one.made.stack[0] if one.made.stack else None
    return {
        "kind": "manual" if one.fails or one.seen in MISSED else "safe" if one.seen is GroupMatch.AGREES else "unsafe",
        "where": view.at(frame.path, frame.line) if frame else view.say("overlay-no-place"),
        "said": view.say("page-run-group", said=sentence(view, one, platform), n=len(one.made.ranks)),
        "more": [*details(view, one, platform, command), *([format_bug_report_line(view, one, found)] if one.bug else [])],
    }
