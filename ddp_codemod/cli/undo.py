"""``undo``: take the last ``apply`` back."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, Failure, make_failure, refusal_failure
from ddp_codemod.cli.options import completed_by_files, undo_options
from ddp_codemod.cli.recovery import recover_project
from ddp_codemod.cli.run import existing_path, find_project_root
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option


@click.command("undo", cls=Command, help="help-undo")
@click.argument("paths", nargs=1, default=".", metavar="[PATH]", shell_complete=completed_by_files)
@option("--keep", multiple=True, metavar="FILE", help="help-undo-keep")
@undo_options
def command(settings: Settings, keep: tuple[str, ...]) -> int:
    """Restore the bytes that the last apply replaced."""
    from ddp_codemod.report.view import format_typed_path
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.undo import undo

    console = Console(settings.lang, settings.color, settings.quiet)
    root = find_project_root([existing_path(str(settings.paths))])
    kept = [_journal_name(file, root) for file in keep]
    if recover_project(console, root):  # which is what was to be taken back
        return DONE
    try:
        undone = undo(root, kept)
    except WriteError as why:
        raise refusal_failure(why, root) from None

    def tell(key: str, name: str) -> None:
        if not settings.quiet:
            console.out(console.text(key, path=format_typed_path(root.absolute() / name, Path.cwd())))

    for name in undone.names:
        tell("undo-file", name)
    for name in undone.merged:
        tell("undo-merged", name)
    for name in undone.kept:
        tell("undo-kept", name)
    for one in undone.stay:
        lines = console.text("list-comma").join(map(str, one.lines))
        path = format_typed_path(root.absolute() / one.name, Path.cwd())
        console.error(console.text("undo-stays" if lines else "undo-gone", path=path, lines=lines, old=one.old))
    if undone.left and not settings.quiet:
        console.out(console.text("undo-more", n=undone.left))
    return FOUND if undone.stay else DONE


def _journal_name(file: str, root: Path) -> str:
    """A file as the journal names it. Raises Failure for one that the last apply did not write."""
    from ddp_codemod.write.journal import find_standing_entries

    name = Path(os.path.relpath(Path(file).absolute(), root.absolute())).as_posix()
    past = find_standing_entries(root)
    known = [kept.name for kept in past[-1].files] if past else [name]  # without an apply that is what is to be said
    if name not in known:
        raise _unknown_file(file, known)
    return name


def _unknown_file(file: str, known: list[str]) -> Failure:
    return make_failure("undo-keep-unknown", *known, path=file)
