"""Turns edits into new file bytes: whole groups only, checked before anything is shown or written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.edits.recipes import RecipeError
from ddp_codemod.edits.splice import SpliceError, compute_replacements, render_edit
from ddp_codemod.model import Applicability, Edit, FileChange, Reason, Replacement, Skipped, Source, Survey, replace_stretches
from ddp_codemod.parse.python import parse_tree

_PYTHON = (".py", ".pyi", ".pyw", ".ipynb")


class Rendered(Struct, frozen=True):
    """The new bytes of every file that changes, and what became of every edit.

    ``left``: edits that were not asked for. ``failed``: the groups that could not be made, an entry each, and ``failed_edits``
    what belongs to them.
    """

    changes: tuple[FileChange, ...]
    applied: tuple[Edit, ...]
    left: tuple[Edit, ...]
    failed: tuple[Skipped, ...]
    failed_edits: tuple[Edit, ...] = ()


def render(survey: Survey, unsafe: bool) -> Rendered:
    """Make the survey's safe edits, with ``unsafe`` the unsafe ones too, all or none of each group; manual ones never.

    A group that overlaps an earlier one, that a recipe refuses, or that gives a text which does not parse or encode, is left
    out with its reason and the others are made. In the changes' edits ``after`` is filled in, also where a recipe made it.
    """
    allowed = {Applicability.SAFE, Applicability.UNSAFE} if unsafe else {Applicability.SAFE}
    groups: dict[int, list[Edit]] = {}
    for edit in survey.edits:
        for number in edit.groups:
            groups.setdefault(number, []).append(edit)
    wanted = [group for group in groups.values() if all(edit.applicability in allowed for edit in group)]
    texts, taken, failed = _apply_groups(survey, wanted)
    done = {id(edit) for group in taken for edit in group}
    broken = {id(edit) for _, group in failed for edit in group} - done
    changes = []
    for name in sorted(texts):
        source = survey.sources[name]
        data = texts[name].encode(source.encoding)
        if data != source.data:
            mine = (edit for edit in survey.edits if id(edit) in done and edit.name == name)
            changes.append(FileChange(name, source.data, data, tuple(_fill_text(source, edit) for edit in mine)))
    return Rendered(
        changes=tuple(changes),
        applied=tuple(edit for edit in survey.edits if id(edit) in done),
        left=tuple(edit for edit in survey.edits if id(edit) not in done | broken),
        failed=tuple(why for why, _ in failed),
        failed_edits=tuple(edit for edit in survey.edits if id(edit) in broken),
    )


def _fill_text(source: Source, edit: Edit) -> Edit:
    """The edit with the text that it puts in by itself; none where it works only on top of another."""
    try:
        return replace(edit, after=render_edit(source, edit))
    except RecipeError:
        return edit


Group = Sequence[Edit]


def _apply_groups(survey: Survey, groups: Sequence[Group]) -> tuple[dict[str, str], list[Group], list[tuple[Skipped, Group]]]:
    """The new texts, the groups in them, and those that do not go in, each with the reason."""
    all_at_once = _render_texts(survey, groups, {edit.name for group in groups for edit in group})
    if not isinstance(all_at_once, Skipped):
        return all_at_once, list(groups), []
    texts: dict[str, str] = {}
    taken: list[Group] = []
    failed: list[tuple[Skipped, Group]] = []
    for group in groups:  # in their order, so that of two that collide the later one is left
        new = _render_texts(survey, [*taken, group], {edit.name for edit in group})
        if isinstance(new, Skipped):
            failed.append((new, group))
        else:
            texts.update(new)
            taken.append(group)
    return texts, taken, failed


def _render_texts(survey: Survey, groups: Sequence[Group], names: set[str]) -> dict[str, str] | Skipped:
    """The new text of each of these files, or the first file that fails and why."""
    edits: dict[str, list[Edit]] = {name: [] for name in sorted(names)}
    for group in groups:
        for edit in group:
            if edit.name in edits:
                edits[edit.name].append(edit)
    texts: dict[str, str] = {}
    for name, mine in edits.items():
        source = survey.sources.get(name)
        if source is None:
            return Skipped(name, Reason.of("edit-without-source"))
        try:
            replacements = compute_replacements(source, mine)
        except SpliceError as why:
            return Skipped(name, why.reason)
        text = _check_text(source, replacements)
        if isinstance(text, Reason):
            return Skipped(name, text)
        texts[name] = text
    return texts


def _check_text(source: Source, replacements: Sequence[Replacement]) -> str | Reason:
    """The file's new text, or why it cannot be written."""
    text = source.written(replacements)
    if isinstance(text, Reason):
        return text
    try:
        if source.file.text.encode(source.encoding) != source.data:
            return Reason.of("edit-no-round-trip", encoding=source.encoding)
        data = text.encode(source.encoding)
        if data.decode(source.encoding) != text:
            return Reason.of("edit-no-round-trip", encoding=source.encoding)
    except (UnicodeError, LookupError):
        return Reason.of("edit-does-not-encode", encoding=source.encoding)
    if not source.name.endswith(_PYTHON):
        return text
    try:
        parse_tree(replace_stretches(source.text, replacements))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
        line = getattr(why, "lineno", None) or 1
        return Reason.of("edit-does-not-parse", line=line, why=getattr(why, "msg", None) or type(why).__name__)
    return text
