"""The report of ``apply``: each file's part of the patch under the reasons for its changes."""

from __future__ import annotations

from collections.abc import Mapping

from ddp_codemod.model import FileChange
from ddp_codemod.report import text
from ddp_codemod.report.view import View


def patch(view: View, changes: Mapping[str, FileChange], parts: Mapping[str, bytes]) -> list[str]:
    """For each file its edits with their reasons, then its diff."""
    block: list[str] = []
    for name, change in changes.items():
        for edit in sorted(change.edits, key=view.edit_line):
            block += text.change(view, edit)
        source = view.survey.sources.get(name)
        encoding = source.encoding.removesuffix("-sig") if source else "utf-8"
        shown = parts[name].decode(encoding, "backslashreplace").replace("\r\n", "\n")
        block += [view.ink.diff(shown.rstrip("\n")), ""]
    return block
