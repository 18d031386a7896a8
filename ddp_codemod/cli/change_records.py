"""Why lines were changed, as ``apply`` puts it on record and ``explain`` reads it back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Edit, FileChange, Survey

if TYPE_CHECKING:
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.catalog.model import Platform
    from ddp_codemod.cli.console import Console
    from ddp_codemod.report.view import View
    from ddp_codemod.write.journal import Why

_BESIDE = frozenset({Meaning.IMPORT, Meaning.HELPER, Meaning.UNUSED, Meaning.CHOICES, Meaning.WARNING})  # no changes of their own
_TELLING = 4  # characters that a line must have to be known again by them


def make_change_records(found: Survey, changes: Sequence[FileChange], portable: bool = False) -> list[Why]:
    """The reasons of written changes, each with the lines by which it is found again."""
    from ddp_codemod.edits.lines import MARK, preview_lines
    from ddp_codemod.report.line_shift import make_line_mapper
    from ddp_codemod.write.journal import Why

    line_now = make_line_mapper(changes)

    def why(change: FileChange, edit: Edit) -> Why:
        source = found.sources[change.name]
        result = preview_lines(source, edit)
        after = (result.after or "").splitlines()
        first = line_now(change.name, result.line)
        old = set(result.before.splitlines())
        # of a line that is too long, what is around the edit
        new = ((first + at, line.strip(MARK) if result.cut else line) for at, line in enumerate(after) if line not in old)
        lines = [(number, line) for number, line in new if len(line.strip()) >= _TELLING]
        if not result.cut:  # as the file has them: other edits of the same lines are in there too
            final = change.after.decode("utf-8", "replace").splitlines()
            lines += [(number, final[number - 1]) for number, line in lines if number <= len(final) and final[number - 1] != line]
        at = edit.start if edit.anchor is None else edit.anchor
        start, end = source.line_span(at)
        text = source.text[start:end].rstrip("\r\n")
        if text in after:  # the line that readers are sent to stays as it is
            lines.append((line_now(change.name, source.position(at)[0]), text))
        return Why(
            change.name,
            edit.rule,
            found.platform,
            edit.reason,
            result.before,
            result.after or "",
            tuple(lines),
            portable=portable,
        )

    return [why(change, edit) for change in changes for edit in change.edits if change.name in found.sources]


def find_change_records(root: Path, path: Path, line: int) -> list[Why]:
    """What applies that are on record did to a line: for the last platform, each change once."""
    from ddp_codemod.edits.lines import LONGEST
    from ddp_codemod.write.journal import find_ported_changes
    from ddp_codemod.write.journal_folders import has_journal

    if not has_journal(root):
        return []
    name = Path(os.path.relpath(path.absolute(), root.absolute())).as_posix()
    text = _read_line(path, line)
    known = [
        (abs(number - line), at, why)
        for at, why in enumerate(find_ported_changes(root, newest_first=True))
        if why.name == name
        for number, marked in why.lines
        if marked.strip() == text or (len(text) > LONGEST and marked.strip() in text)
    ]
    if not known:
        return []
    nearest, _, first = min(known, key=lambda one: one[:2])
    found = {
        (why.rule, why.before, why.after): why for away, _, why in known if away == nearest and why.platform == first.platform
    }
    return list(found.values())


def list_ported_platforms(root: Path) -> set[str]:
    """The platforms for which applies on record changed the tree."""
    from ddp_codemod.write.journal_folders import has_journal

    if not has_journal(root):
        return set()
    from ddp_codemod.write.journal import find_ported_changes

    return {why.platform for why in find_ported_changes(root)}


def is_ported_portably(root: Path, platform: str) -> bool:
    """Whether applies on record ported the tree to a platform, and each so that the code still runs elsewhere."""
    known = [why.portable for why in _find_standing_changes(root) if why.platform == platform]
    return bool(known) and all(known)


def count_earlier_ports(root: Path, platform: str) -> dict[str, tuple[int, int]]:
    """How many changes for other platforms an apply on record left in the tree, and in how many files, by the platform."""
    found: dict[str, dict[tuple[object, ...], str]] = {}
    for why in _find_standing_changes(root):
        found.setdefault(why.platform, {})[why.name, why.rule, why.lines] = why.name
    return {other: (len(names), len({*names.values()})) for other, names in found.items() if other != platform}


def find_other_platform(root: Path, rules: Rules, platform: Platform) -> str:
    """The platform that an apply on record ported the tree to alone, and whose device this one lacks; "" where there is none."""
    known = {why.platform for why in _find_standing_changes(root) if not why.portable}
    others = (rules.platforms[name] for name in sorted(known) if name in rules.platforms)
    devices = ((one.id, one.device.type) for one in others if one.device is not None and one.device.module)
    return next((name for name, kind in devices if kind not in platform.device_types), "")


def _find_standing_changes(root: Path) -> Iterator[Why]:
    """The changes on record that are still in their files: another branch, or an older state, holds none of their lines.

    Imports and helpers are no changes of their own.
    """
    from ddp_codemod.write.journal_folders import has_journal

    if not has_journal(root):
        return
    from ddp_codemod.write.journal import find_ported_changes

    held: dict[str, set[str]] = {}
    for why in (why for why in find_ported_changes(root) if why.reason.means not in _BESIDE):
        if why.name not in held:
            try:
                text = (root / why.name).read_bytes().decode("utf-8", "replace")
            except OSError:
                text = ""
            held[why.name] = {line.strip() for line in text.splitlines()}
        old = {line.strip() for line in why.before.splitlines()}
        new = {line.strip() for _, line in why.lines} - old
        here = any(len(line) >= _TELLING for line in new & held[why.name])
        if here or (not new and not old <= held[why.name]):  # or it took lines out
            yield why


def tell_earlier_ports(console: Console, root: Path, platform: str, paths: Sequence[str]) -> None:
    """Say that the tree is not what its authors wrote but what an apply for another platform left, and what takes that back."""
    from ddp_codemod.cli.settings import command_line

    undo = command_line(["ddp-codemod", "undo", *paths])
    for other, (changes, files) in count_earlier_ports(root, platform).items():
        text = console.text("platform-earlier", platform=other, changes=changes, files=files)
        console.say(console.folded(text, sys.stderr))
        console.say(f"  {console.ink(sys.stderr)(undo, 'bold')}")


def tell_needless_rule(console: Console, root: Path, rules: Rules, platform: str, asked: Sequence[str]) -> None:
    """Say that a rule which imports the maker's module is not needed in a tree whose uses of the device are rewritten."""
    from ddp_codemod.report.device_kinds import is_device_rule
    from ddp_codemod.write.journal_folders import has_journal

    vendor = next((ident for ident in asked if rules.fixes[ident].recipe == "import-at-entries"), None)
    if vendor is None or not has_journal(root):
        return
    from ddp_codemod.write.journal import find_ported_changes

    known = {why.rule for why in find_ported_changes(root) if why.platform == platform}
    if any(map(is_device_rule, known)) and vendor not in known:
        console.say(console.folded(console.text("platform-both-ways", platform=platform, rule=vendor), sys.stderr))


def format_change_record(view: View, path: Path, line: int, why: Why) -> Iterator[str]:
    """Why an apply changed a line, with the text before and after."""
    name = Path(os.path.relpath(path.absolute(), view.survey.root.absolute())).as_posix()
    text = view.say("explain-changed", place=view.at(name, line), rule=why.rule, platform=why.platform)
    yield from (view.ink(part, "bold") for part in view.folded(text, 0, 2))
    yield from view.folded(view.reason(why.reason), 4, 4)
    yield from (view.ink(f"    - {part}", "red") for part in why.before.splitlines())
    yield from (view.ink(f"    + {part}", "green") for part in why.after.splitlines())
    yield ""


def _read_line(path: Path, line: int) -> str:
    try:
        lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
