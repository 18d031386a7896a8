"""The lines that earlier applies for a platform wrote: they are no sign that a project's authors know of its device."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.write.journal_folders import has_journal

if TYPE_CHECKING:
    from ddp_codemod.write.journal import Why


def find_ported_lines(root: Path, platform: str) -> dict[str, tuple[str, ...]]:
    """Those that may still be there, without what they are indented by, by the file."""
    if not has_journal(root):  # most projects have none, and need not wait for what reads it
        return {}
    from ddp_codemod.write.journal import find_ported_changes

    return list_written_lines(why for why in find_ported_changes(root) if why.platform == platform)


def list_written_lines(changes: Iterable[Why]) -> dict[str, tuple[str, ...]]:
    """The lines of some changes, by the file."""
    found: dict[str, dict[str, None]] = {}
    for why in changes:
        found.setdefault(why.name, {}).update(dict.fromkeys(line.strip() for _, line in why.lines))
    return {name: tuple(lines) for name, lines in found.items()}
