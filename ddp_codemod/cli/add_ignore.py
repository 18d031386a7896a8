"""``check --add-ignore``: the comment that tells the tool to leave a line alone, written where something is still found."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.cli.errors import DONE, FOUND, refusal_failure
from ddp_codemod.cli.narrowing import survey_narrowed
from ddp_codemod.model import Advisory, FileChange, Replacement, Source, Survey
from ddp_codemod.parse.python import parse_tree

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.report.fingerprints import FingerprintedFinding

REASON = "TODO: say why"
_ROUNDS = 4


def add_ignore(job: Job, found: Survey) -> int:
    """Write a comment at the end of each line with a finding, look again, and say what no comment could quiet."""
    from ddp_codemod.write.apply import apply_changes
    from ddp_codemod.write.errors import WriteError

    console = job.console
    changes, again = _make_comments(job, found)
    try:
        apply_changes(job.root, changes, allow_dirty=True)
    except WriteError as why:
        raise refusal_failure(why, job.root) from None
    lines = sum(change.after.count(b"ddp-codemod: ignore") - change.before.count(b"ddp-codemod: ignore") for change in changes)
    view = job.view(again)
    left = [one for one in _select_findings(again) if one.line]
    if lines:
        console.out(console.text("add-ignore-written", n=lines, files=len(changes), reason=REASON))
        console.say(console.text("add-ignore-undo", command=f"ddp-codemod undo {' '.join(job.settings.paths[:1])}"))
    elif not left:
        console.out(console.text("add-ignore-nothing"))
    if left:
        console.out(console.text("add-ignore-left", n=len(left)))
        for one in left:
            console.out(f"  {view.at(one.name, one.line)}: {one.rule}: {view.reason(one.reason)}")
    return FOUND if left else DONE


def _make_comments(job: Job, found: Survey) -> tuple[list[FileChange], Survey]:
    """The files with their comments, and what is found in them: where one rule is quiet, another may have its say on the line."""
    from ddp_codemod.discover.unsaved import use_unsaved_texts

    wanted, again = _find_lines(job, found), found
    changes: list[FileChange] = []
    for _ in range(_ROUNDS if wanted else 0):
        changes = [
            change for name, lines in wanted.items() if (change := _make_change(found.sources.get(name), lines)) is not None
        ]
        with use_unsaved_texts({str((job.root / change.name).absolute()): change.after for change in changes}):
            again = survey_narrowed(replace(job, options=replace(job.options, cache=False)))
        more = [
            (name, line, rules - wanted[name][line])
            for name, lines in _find_lines(job, again).items()
            for line, rules in lines.items()
            if line in wanted.get(name, {})
        ]
        for name, line, rules in more:
            wanted[name][line] |= rules
        if not any(rules for _, _, rules in more):
            break
    return changes, again


def _select_findings(found: Survey) -> Iterator[FingerprintedFinding]:
    """What a user or ``apply`` has to do; a note is no finding that a comment quiets."""
    from ddp_codemod.report.fingerprints import fingerprint_findings

    yield from (one for one in fingerprint_findings(found) if not isinstance(one.item, Advisory))


def _find_lines(job: Job, found: Survey) -> dict[str, dict[int, set[str]]]:
    """The lines that get a comment, file by file, with the rules that it names."""
    from ddp_codemod.report.fingerprints import UNCOVERED

    asking = [fix.id for fix in job.options.wanted if fix.recipe == "replace-backend"]
    lines: dict[str, dict[int, set[str]]] = {}
    for one in _select_findings(found):
        if one.line and one.name:
            rules = asking if one.rule == UNCOVERED else [one.rule]
            lines.setdefault(one.name, {}).setdefault(one.line, set()).update(rules)
    return lines


def _make_change(source: Source | None, lines: dict[int, set[str]]) -> FileChange | None:
    """The file with the comments; None where none can be written."""
    if source is None or not source.name.endswith(_COMMENTED) or source.file is not source:
        return None
    ends = _find_line_ends(source) if source.name.endswith(_PYTHON) else None
    replacements: list[Replacement] = []
    for line, rules in sorted(lines.items()):
        start, after = source.line_span(source.line_starts[line - 1])
        text = source.text[start:after].rstrip("\r\n")
        if ends is not None and line not in ends:
            continue  # the line ends inside a text, or goes on
        end = start + len(text)
        replacements.append((end, end, f"  # ddp-codemod: ignore[{', '.join(sorted(rules))}] {REASON}"))
    if not replacements:
        return None
    written = source.written(replacements)
    if not isinstance(written, str) or not _is_equivalent(source, written):
        return None
    return FileChange(source.name, source.data, written.encode(source.encoding))


_PYTHON = (".py", ".pyi", ".pyw")
_COMMENTED = (*_PYTHON, ".yaml", ".yml", ".toml")


def _find_line_ends(source: Source) -> set[int]:
    """The lines of a program whose end is no part of a text, and that do not go on behind a backslash."""
    spans = [source.line_span(start) for start in source.line_starts]
    every = {number for number, span in enumerate(spans, 1) if not source.text[slice(*span)].rstrip().endswith("\\")}
    try:
        nodes = [*ast.walk(parse_tree(source.text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    for node in nodes:
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            every -= {*range(node.lineno, node.end_lineno or node.lineno)}
    return every


def _is_equivalent(source: Source, text: str) -> bool:
    """Whether the file with the comments is read as the one without."""
    if source.name.endswith(_PYTHON):
        try:
            return ast.dump(parse_tree(text)) == ast.dump(parse_tree(source.text))
        except (SyntaxError, ValueError):
            return False
    return _read_entries(source) == _read_entries(replace(source, text=text, data=text.encode(source.encoding)))


def _read_entries(source: Source) -> list[tuple[Iterable[str], str]] | None:
    from ddp_codemod.model import Skipped
    from ddp_codemod.parse.config import parse_config

    result = parse_config(source)
    return None if isinstance(result, Skipped) else [(one.path, result.text(one)) for one in result.entries]
