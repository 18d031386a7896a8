"""Edits that several changes need: the same edit made twice becomes one that belongs to both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Applicability, Edit

K = TypeVar("K")


def is_import(edit: Edit) -> bool:
    """Whether the edit adds a name that a change beside it uses."""
    return edit.reason.means in (Meaning.IMPORT, Meaning.HELPER)


def merge_edits(known: Edit, other: Edit) -> Edit:
    """One edit in place of two that do the same: it belongs to the groups of both."""
    also = (*known.also, *(group for group in other.groups if group not in known.groups))
    applicability = known.applicability
    if other.applicability is not applicability:  # what a safe change needs is safe, what two sites disagree on is not
        applicability = Applicability.SAFE if is_import(other) else Applicability.UNSAFE
    return replace(known, also=also, applicability=applicability)


def deduplicate_imports(result: Mapping[K, Edit]) -> dict[K, Edit]:
    """The edits, with each import at its first place in a file only: it is at the top level, so it has run before the later ones."""
    first: dict[tuple[str, str], K] = {}
    kept = dict(result)
    for key, edit in sorted(result.items(), key=lambda item: item[1].start):
        if is_import(edit):
            earlier = first.setdefault((edit.name, (edit.after or "").strip()), key)
            if earlier is not key:
                kept[earlier] = merge_edits(kept[earlier], edit)
                del kept[key]
    return kept


def guard_import(edit: Edit) -> Edit | None:
    """The import of a plugin that other platforms do not have; None where the line has no room for it."""
    statement = (edit.after or "").strip()
    if not (edit.after or "").startswith(statement) or (edit.after or "").count(statement) != 1 or ";" in (edit.after or ""):
        return None
    ending = (edit.after or "")[len(statement) :]
    newline = "\r\n" if "\r\n" in ending else "\n"
    return replace(edit, after=newline.join(guard_statements([statement])) + ending)


def guard_statements(imports: Iterable[str]) -> tuple[str, ...]:
    """The lines of imports that go on without what is imported."""
    return ("try:", *(f"    {statement}" for statement in imports), "except ImportError:", "    pass")
