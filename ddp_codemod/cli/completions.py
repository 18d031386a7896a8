"""What a shell is offered for the values of options."""

from __future__ import annotations

from click.shell_completion import CompletionItem


def complete_ids(kind: str, incomplete: str) -> list[CompletionItem]:
    """The ids of platforms or rules that begin so."""
    from ddp_codemod.catalog.load import load

    known = load().platforms if kind == "platforms" else load().fixes
    return [CompletionItem(ident) for ident in sorted(known) if ident.startswith(incomplete)]


def complete_files(incomplete: str) -> list[CompletionItem]:
    """Let the shell offer its files."""
    return [CompletionItem(incomplete, type="file")]
