"""``mcp``: serve the tool to coding agents, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ddp_codemod.cli.errors import DONE, make_failure
from ddp_codemod.cli.options import server_options
from ddp_codemod.cli.run import existing_path
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option


@click.command("mcp", cls=Command, help="help-mcp")
@click.argument("paths", nargs=-1, metavar="[FOLDER...]")
@option("--allow-apply", "writes", is_flag=True, help="help-allow-apply")
@option("--allow-run", "commands", is_flag=True, help="help-allow-run")
@option("--python", metavar="EXE", help="help-python")
@server_options
def command(settings: Settings, writes: bool, commands: bool, python: str | None) -> int:
    """Answer a client until it closes standard input."""
    folders = tuple(existing_path(path).absolute() for path in settings.paths)
    for folder in folders:
        if not folder.is_dir():
            raise make_failure("servers-no-folder", path=folder)
    if find_spec("mcp") is None:
        raise make_failure("servers-missing", command="mcp", extra="mcp")
    from ddp_codemod.servers.mcp.server import Start, serve

    serve(Start(folders, writes, commands, python, settings.folders, settings.json_lang))
    return DONE
