"""What a codemod of LibCST's tool is asked to do, and what comes of it: one look at the project, before a file is touched."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from ddp_codemod.api import rendered_edits
from ddp_codemod.model import Action, FileChange, Survey
from ddp_codemod.request import Style, look

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
        found = self._look(self.scope)
        only = _of_python(found)
        _tell(found, only)
        return self._changes(only)

    def alone(self, path: str) -> FileChange | None:
        """What becomes of one file when no other may be changed."""
        return next(iter(self._changes(_of_python(self._look((path,)))).values()), None)

    def __getstate__(self) -> dict[str, object]:
        """What goes to the tool's processes; there some files are changed already when others are come to."""
        if self.scope:
            self.changes  # noqa: B018
        return self.__dict__

    def _look(self, paths: Iterable[str]) -> Survey:
        return look(paths, self.platform, rules=self.rules, style=self.style)

    def _changes(self, found: Survey) -> dict[str, FileChange]:
        rendered = rendered_edits(found, self.unsafe)
        return {str((found.root / change.name).resolve()): change for change in rendered.changes}


def _of_python(found: Survey) -> Survey:
    """The survey without the groups of edits that need another file than LibCST reads."""
    lost = {group for edit in found.edits if not edit.name.endswith(SUFFIX) for group in edit.groups}
    return replace(found, edits=tuple(edit for edit in found.edits if not lost & set(edit.groups)))


def _tell(found: Survey, only: Survey) -> None:
    files = sorted({edit.name for edit in found.edits} - {edit.name for edit in only.edits})
    if files:
        left = len(found.edits) - len(only.edits)
        sys.stderr.write(f"ddp-codemod: {left} edits left out, they need files that LibCST does not read: {', '.join(files)}\n")
    if reviews := sum(decision.action is Action.REVIEW for decision in found.decisions) + len(found.unaccounted):
        sys.stderr.write(f"ddp-codemod: {reviews} sites for review: ddp-codemod check . --platform {found.platform}\n")
