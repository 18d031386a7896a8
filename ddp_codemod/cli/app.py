"""The group of all commands."""

from __future__ import annotations

import sys

import click

from ddp_codemod import __version__
from ddp_codemod.cli import apply, check, diagnose, diff, doctor, explain, platforms, review, rules, scan, undo, verify
from ddp_codemod.cli.options import LANG
from ddp_codemod.cli.translate import Group, option


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        sys.stdout.write(f"ddp-codemod {__version__}\n")
        context.exit()


@click.group(cls=Group, help="help-app")
@LANG
@option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="help-version")
def app(lang: str | None) -> None:
    """Port PyTorch distributed code between platforms."""


for module in (apply, diff, review, check, scan, explain, rules, platforms, doctor, diagnose, verify, undo):
    app.add_command(module.command)
