"""``undo``: take the last ``apply`` back."""

from __future__ import annotations

from pathlib import Path

import click

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, refused
from ddp_codemod.cli.mend import mend
from ddp_codemod.cli.options import Settings, talk_options
from ddp_codemod.cli.run import existing, root_of
from ddp_codemod.cli.translate import Command


@click.command("undo", cls=Command, help="help-undo")
@click.argument("paths", nargs=1, default=".", metavar="[PATH]")
@talk_options
def command(settings: Settings) -> int:
    """Put back the bytes that the last apply replaced."""
    from ddp_codemod.report.view import typed
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.undo import undo

    console = Console(settings.lang, settings.color)
    root = root_of([existing(str(settings.paths))])
    if mend(console, root):  # which is what was to be taken back
        return DONE
    try:
        undone = undo(root)
    except WriteError as why:
        raise refused(why, root) from None
    for name in undone.names:
        console.out(console.text("undo-file", path=typed(root.absolute() / name, Path.cwd())))
    if undone.left:
        console.out(console.text("undo-more", n=undone.left))
    return DONE
