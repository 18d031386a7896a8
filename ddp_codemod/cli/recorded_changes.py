"""The changes that applies on record made below a path: what ``explain`` lists where no line is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.cli.run import find_project_root
from ddp_codemod.cli.settings import Settings
from ddp_codemod.model import Survey
from ddp_codemod.write.journal_folders import has_journal

if TYPE_CHECKING:
    from ddp_codemod.write.journal import Why


def list_changes(settings: Settings, path: Path) -> list[str]:
    """Each reason once, with its lines, the last platform first; [] where nothing is on record."""
    root = find_project_root([path])
    if not has_journal(root):
        return []
    from ddp_codemod.report.finding_groups import Finding, list_findings
    from ddp_codemod.report.ink import Ink
    from ddp_codemod.report.view import View
    from ddp_codemod.write.journal import find_ported_changes

    inside = Path(os.path.relpath(path.absolute(), root.absolute()))
    platforms: dict[str, list[Why]] = {}
    for why in find_ported_changes(root):
        if Path(why.name).is_relative_to(inside):
            platforms.setdefault(why.platform, []).append(why)
    block: list[str] = []
    for platform, changes in reversed(platforms.items()):
        view = View(Survey(root, platform, (), (), (), ()), settings.lang, Ink(False), Path.cwd(), verbose=True)
        found = (Finding(one.rule, one.reason, one.name, min((line for line, _ in one.lines), default=0)) for one in changes)
        block += [view.say("explain-changes", n=len(changes), platform=platform), *list_findings(view, found, 0).lines]
    return block
