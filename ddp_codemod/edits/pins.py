"""Requirements pinned to releases that a rule names: torch and what is built for it, in step, in every file that states them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.discover.files import read_text, walk_files
from ddp_codemod.model import Advisory, Applicability, Edit, Reason, Source
from ddp_codemod.policy.limits import Limits
from ddp_codemod.versions import LOCAL, Stated, holds

if TYPE_CHECKING:
    from ddp_codemod.parse.requirements import Requirement

_SUFFIXES = (".txt", ".in", ".toml", ".cfg", ".py", ".yml", ".yaml", ".lock", "Pipfile")


class PinResult(Struct, frozen=True):
    """The edits, the texts that they are of, and what only the project's own tools can do."""

    edits: tuple[Edit, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    notes: tuple[Advisory, ...] = ()


Meant = Callable[[Source, "Requirement"], bool]


def pin_versions(root: Path, fixes: Iterable[Fix], limits: Limits, others: Sequence[Edit], meant: Meant) -> PinResult:
    """What the pinning rules of a run do; the edits of one rule belong together, for half of them would not install.

    ``meant``: whether a statement is for the machines in question.
    """
    edits: list[Edit] = []
    sources: dict[str, Source] = {}
    notes: list[Advisory] = []
    for fix in (fix for fix in fixes if fix.recipe == "pin-requirements"):
        group = 1 + max((edit.group for edit in (*others, *edits)), default=0)
        stated = False
        for source, one in _find_statements(root, fix, limits, meant):
            stated = stated or one.kind != "lock"
            made = _make_pin_edit(fix, source, one, group)
            if isinstance(made, Edit):
                edits.append(made)
                sources[source.name] = source
            elif isinstance(made, Advisory):
                notes.append(made)
        if not stated:
            wanted = (f'"{name}=={version}"' for name, version in fix.pins.items() if name not in fix.pin_conda)
            command = "pip install " + " ".join(wanted)
            notes.append(Advisory("", 0, fix.id, Reason.of("pin-nowhere", command=command)))
    return PinResult(tuple(edits), sources, tuple(notes))


def _find_statements(root: Path, fix: Fix, limits: Limits, meant: Meant) -> Iterable[tuple[Source, Requirement]]:
    from ddp_codemod.parse.requirements import find_requirements, may_state_versions

    for path in walk_files(root, [root], _SUFFIXES):
        name = path.relative_to(root).as_posix()
        if may_state_versions(name) and limits.bar(name, fix.id, name) is None:
            source = read_text(path, root)
            if isinstance(source, Source):
                yield from ((source, one) for one in find_requirements(source) if one.package in fix.pins and meant(source, one))


def _make_pin_edit(fix: Fix, source: Source, one: Requirement, group: int) -> Edit | Advisory | None:
    """The pin of one statement; a note where the file is made by a tool; None where every version that it admits is old enough."""
    wanted, line = fix.pins[one.package], source.position(one.start)[0]
    if one.specifier and holds(f"<={wanted}", Stated(one.package, LOCAL.sub("", one.specifier), source.name)) is True:
        return None
    start, end = source.line_span(one.start)
    if one.kind == "lock" or "--hash" in source.text[start:end]:
        return Advisory(source.name, line, fix.id, Reason.of("pin-locked", package=one.package, version=wanted))
    build = re.search(r"\+([\w.]+)", one.specifier)
    exact = wanted + (f"+{build[1]}" if build and build[1] in fix.pin_builds else "")
    text = exact if one.kind == "poetry" else f"=={exact}"
    space = " " if source.text[one.start : one.end][:1].isspace() else ""
    reason = Reason.of("edit-pin", package=one.package, version=wanted)
    return Edit(source.name, one.start, one.end, space + text, fix.id, Applicability.UNSAFE, reason, group)
