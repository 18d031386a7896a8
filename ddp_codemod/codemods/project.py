"""What a codemod of LibCST's tool is asked to do, and what comes of it: one look at the project, before a file is touched."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from ddp_codemod.api import rendered_edits
from ddp_codemod.model import Action, FileChange, Survey
from ddp_codemod.request import Style, survey_request

SUFFIX = ".py"  # LibCST's tool reads nothing else


@dataclass  # which is sent to the tool's processes with what it has worked out
class Project:
    """The options of one run of the tool."""

    platform: str | None = None
    scope: tuple[str, ...] = ()  # none: each file stands for itself
    rules: tuple[str, ...] = ()
    unsafe: bool = False
    style: Style = "pin"

    @cached_property
    def changes(self) -> dict[str, FileChange]:
        """What becomes of the files of the scope, by absolute path."""
        found = self._survey_files(self.scope)
        only = _keep_python_groups(found)
        _report_left_out(found, only)
        return self._render_changes(only)

    def alone(self, path: str) -> FileChange | None:
        """What becomes of one file when no other may be changed."""
        return next(iter(self._render_changes(_keep_python_groups(self._survey_files((path,)))).values()), None)

    def __getstate__(self) -> dict[str, object]:
        """What goes to the tool's processes; there some files are changed already when others are come to."""
        if self.scope:
            self.changes  # noqa: B018
        return self.__dict__

    def _survey_files(self, paths: Iterable[str]) -> Survey:
        return survey_request(paths, self.platform, rules=self.rules, style=self.style)

    def _render_changes(self, found: Survey) -> dict[str, FileChange]:
        rendered = rendered_edits(found, self.unsafe)
        return {str((found.root / change.name).resolve()): change for change in rendered.changes}


def _keep_python_groups(found: Survey) -> Survey:
    """The survey without the groups of edits that need another file than LibCST reads."""
    lost = {group for edit in found.edits if not edit.name.endswith(SUFFIX) for group in edit.groups}
    return replace(found, edits=tuple(edit for edit in found.edits if not lost & set(edit.groups)))


def _report_left_out(found: Survey, only: Survey) -> None:
    files = sorted({edit.name for edit in found.edits} - {edit.name for edit in only.edits})
    if files:
        left = len(found.edits) - len(only.edits)
        sys.stderr.write(f"ddp-codemod: {left} edits left out, they need files that LibCST does not read: {', '.join(files)}\n")
    if reviews := sum(decision.action is Action.REVIEW for decision in found.decisions) + len(found.uncovered):
        sys.stderr.write(f"ddp-codemod: {reviews} sites for review: ddp-codemod check . --platform {found.platform}\n")
