"""The report of ``apply``: the changes by their reasons, and each file's part of the patch."""

from __future__ import annotations

from collections.abc import Mapping

from ddp_codemod.model import FileChange
from ddp_codemod.report.view import View


def format_patch(view: View, changes: Mapping[str, FileChange], parts: Mapping[str, bytes]) -> list[str]:
    """The diff of each file."""
    block: list[str] = []
    for name in changes:
        source = view.survey.sources.get(name)
        encoding = source.encoding.removesuffix("-sig") if source else "utf-8"
        shown = parts[name].decode(encoding, "backslashreplace").replace("\r\n", "\n")
        block += [view.ink.diff(shown.rstrip("\n")), ""]
    return block
