"""Reads launch files: which reader a file needs, and why one cannot be read."""

from __future__ import annotations

from ddp_codemod.discover.kinds import GUIDES, WINDOWS
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse.shell import GUIDE, MAX_BYTES, Script, ScriptParts


def parse_shell(source: Source) -> Script | Skipped:
    """Read a launch file, its kind by name or shebang; a file of no such kind has no commands."""
    from ddp_codemod.parse.shell_reader import read

    if len(source.data) > MAX_BYTES:
        if source.name.endswith(GUIDES):
            return Script(source, GUIDE, ScriptParts((), (), (), ()))  # a history of changes, say, which nobody types
        return Skipped(source.name, Reason.of("skipped-too-large", limit=f"{MAX_BYTES / 1_000_000:g}"))
    if (kind := WINDOWS.get(source.path.suffix.lower())) is not None:
        from ddp_codemod.parse import windows

        return Script(source, kind, windows.read(source, kind))
    from ddp_codemod.parse import shell_kinds

    kind = shell_kinds.kind(source)
    if kind is None:
        return Script(source, "", ScriptParts((), (), (), ()))
    try:
        return Script(source, kind, read(source, kind))
    except RecursionError as why:
        return Skipped(source.name, Reason.of("skipped-parser", Meaning.GIVEN_UP, why=type(why).__name__))


def read_script(source: Source) -> Script:
    """A text that a shell reads, whatever its name."""
    from ddp_codemod.parse.shell_reader import read

    try:
        return Script(source, "shell", read(source, "shell"))
    except RecursionError:
        return Script(source, "", ScriptParts((), (), (), ()))
