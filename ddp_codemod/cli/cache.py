"""``cache path`` and ``cache clear``: where the answers of earlier runs are kept, and how to be rid of them."""

from __future__ import annotations

import os

import click

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.options import LANG, undo_options
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Group


@click.group("cache", cls=Group, help="help-cache")
@LANG
def command(lang: str | None) -> None:
    """Show or empty the folder of kept answers."""


@command.command("path", help="help-cache-path")
@undo_options
def path(settings: Settings) -> None:
    """Print the folder."""
    from ddp_codemod.run.answer_cache import answers_folder

    Console(settings.lang, settings.color).out(os.fspath(answers_folder()))


@command.command("clear", help="help-cache-clear")
@undo_options
def clear_answers(settings: Settings) -> None:
    """Delete every answer."""
    from ddp_codemod.run.answer_cache import answers_folder, clear_answers

    console = Console(settings.lang, settings.color, settings.quiet)
    console.say(console.text("cache-cleared", count=clear_answers(), folder=answers_folder()))
