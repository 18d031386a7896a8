"""``lsp``: serve findings and edits to an editor, over the Language Server Protocol on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ddp_codemod.cli.errors import DONE, make_failure
from ddp_codemod.cli.options import server_options
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command


@click.command("lsp", cls=Command, help="help-lsp")
@server_options
def command(settings: Settings) -> int:
    """Answer an editor until it closes standard input."""
    if find_spec("pygls") is None:
        raise make_failure("servers-missing", command="lsp", extra="lsp")
    from ddp_codemod.servers.lsp.server import serve

    serve(settings.lang, settings.folders)
    return DONE
