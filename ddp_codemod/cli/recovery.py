"""What a command does first in a project whose last ``apply`` or ``undo`` was cut off."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import refusal_failure
from ddp_codemod.write.journal_folders import has_journal


def recover_project(console: Console, root: Path) -> bool:
    """Move the files to one side and say so in one line; whether they have their old text again."""
    if not has_journal(root):
        return False
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.recover import recover_project

    try:
        result = recover_project(root)
    except WriteError as why:
        raise refusal_failure(why, root) from None
    if result is None:
        return False
    key = "write-recovered-done" if result.done else "write-recovered-changed" if result.changed else "write-recovered-back"
    names = console.text("list-comma").join(result.changed)
    console.error(console.text(key, count=len(result.changed or result.names), journal=result.journal, names=names))
    return not result.done


def tell_interrupted(console: Console, root: Path) -> None:
    """Say in one line that there is something to be fixed; a command that only looks writes nothing."""
    if not has_journal(root):
        return
    from ddp_codemod.write.recover import find_interrupted

    if names := find_interrupted(root):
        console.say(console.text("write-cut-off", count=len(names)))
