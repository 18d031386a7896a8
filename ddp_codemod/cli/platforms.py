"""``platforms``: what can be chosen with --platform."""

from __future__ import annotations

import click

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.options import talk_options
from ddp_codemod.cli.run import load_local_rules
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command
from ddp_codemod.messages import in_language


@click.command("platforms", cls=Command, help="help-platforms")
@talk_options
def command(settings: Settings) -> None:
    """Print the platforms, the backend that each wants, and what has to be imported for it."""
    from ddp_codemod.report.table import format_table

    console = Console(settings.lang, settings.color)
    rules = load_local_rules(settings)
    rows = [
        (
            one.id,
            one.backend.wanted,
            f"import {one.required_import}" if one.required_import else "",
            in_language(one, "title", settings.lang),
        )
        for _, one in sorted(rules.platforms.items())
    ]
    for line in format_table(rows):
        console.out(line)
    console.say(console.text("platform-one-gpu"))
