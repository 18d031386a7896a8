"""The group of all commands."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from ddp_codemod import __version__
from ddp_codemod.cli.options import LANG
from ddp_codemod.cli.translate import Group, option

COMMANDS = (
    "apply",
    "diff",
    "review",
    "check",
    "scan",
    "explain",
    "rules",
    "platforms",
    "doctor",
    "diagnose",
    "verify",
    "undo",
    "cache",
    "fleet",
    "mcp",
    "lsp",
)


class Commands(Group):
    """The commands, each in the module of its name, which is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"ddp_codemod.cli.{cmd_name}").command
        return command


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        sys.stdout.write(f"ddp-codemod {__version__}\n")
        context.exit()


@click.group(cls=Commands, help="help-app")
@LANG
@option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="help-version")
def app(lang: str | None) -> None:
    """Port PyTorch distributed code between platforms."""
