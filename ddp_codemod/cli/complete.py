"""Shell completion: what click has for it, in the reader's language."""

from __future__ import annotations

import click
from click.shell_completion import shell_complete

from ddp_codemod.cli.app import app
from ddp_codemod.cli.translate import Reader


def answer_completion(variable: str, instruction: str, lang: str) -> int:
    """Answer a shell that set a variable: its script (``bash_source``), or the words that can come next (``bash_complete``)."""
    code = shell_complete(app, {"obj": Reader(lang)}, "ddp-codemod", variable, instruction)
    if code:
        click.echo(f"{variable}: bash_source, zsh_source, fish_source", err=True)
    return code
