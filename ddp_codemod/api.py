"""The Python interface: ``plan(paths, platform)`` tells what a port would change and why; ``Plan.apply`` makes it.

The types say the same as ``--format json``, field for field. Nothing is printed, and no machine is asked which platform it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from ddp_codemod.discover.root import find_root
from ddp_codemod.edits.render import Rendered
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import FileChange, Survey
from ddp_codemod.request import AnyPath, EnvIn, Style, existing, look
from ddp_codemod.request import PlanError as PlanError

Action = Literal["edit", "keep", "review"]
Applicability = Literal["safe", "unsafe", "manual"]


@dataclass(frozen=True)
class Origin:
    """An expression that a value starts from."""

    path: str
    line: int
    column: int
    kind: str
    value: str


@dataclass(frozen=True)
class Site:
    """A place where a backend, init_method or store is chosen, and what becomes of it."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    surface: str
    parameter: str
    value: str | None  # source text; None where it is left out
    resolves_to: tuple[str, ...]  # on the platform
    origins: tuple[Origin, ...]
    action: Action
    applicability: Applicability
    rule: str | None
    reason: str


@dataclass(frozen=True)
class Edit:
    """One change of one stretch of text. ``applied``: it is in the patch."""

    path: str
    line: int
    end_line: int
    rule: str
    applicability: Applicability
    applied: bool
    before: str
    after: str | None
    reason: str


@dataclass(frozen=True)
class Note:
    """Something to know that no edit cures; line 0 is about the project."""

    path: str
    line: int
    rule: str
    message: str


@dataclass(frozen=True)
class Unaccounted:
    """A backend name that would be wrong, stands where a value can stand, and that no site, edit or note speaks of."""

    path: str
    line: int
    end_line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Skipped:
    """A file, or a change in one, that could not be handled."""

    path: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """What a port changes. ``path`` everywhere is relative to ``root``, with ``/``."""

    root: Path
    platform: str
    sites: tuple[Site, ...]
    edits: tuple[Edit, ...]
    advisories: tuple[Note, ...]
    unaccounted: tuple[Unaccounted, ...]
    skipped: tuple[Skipped, ...]
    files: Mapping[str, bytes]  # the new bytes of each file that changes
    patch: bytes  # as ``git apply`` takes it
    _changes: tuple[FileChange, ...] = field(repr=False)

    @property
    def reviews(self) -> tuple[Site, ...]:
        """The sites that a person has to look at."""
        return tuple(site for site in self.sites if site.action == "review")

    @property
    def digest(self) -> str:
        """What tells one plan from another: the platform, and each file's name and its bytes before and after."""
        known = hashlib.sha256(self.platform.encode())
        for change in sorted(self._changes, key=lambda change: change.name):
            for part in (change.name.encode("utf-8", "surrogateescape"), change.before, change.after):
                known.update(hashlib.sha256(part).digest())
        return known.hexdigest()[:32]

    def apply(self, *, allow_dirty: bool = False) -> tuple[str, ...]:
        """Write the patch and give the names of the files; ``ddp-codemod undo`` takes it back.

        Raises PlanError, with nothing written, for files that changed meanwhile or hold uncommitted work.
        """
        from ddp_codemod.write.apply import apply_changes
        from ddp_codemod.write.errors import WriteError

        try:
            apply_changes(self.root, self._changes, allow_dirty=allow_dirty)
        except WriteError as why:
            raise PlanError(" ".join([sentence(why.reason), *why.names])) from None
        return tuple(change.name for change in self._changes)


def plan(
    paths: AnyPath | Iterable[AnyPath],
    platform: str | None = None,
    *,
    rules: Iterable[str] = (),
    rule_folders: Iterable[AnyPath] = (),
    torch_version: str | None = None,
    style: Style = "pin",
    env_in: EnvIn = "python",
    unsafe: bool = False,
    cache: bool = True,
    lang: Literal["en", "zh"] = "en",
) -> Plan:
    """Look through a project and work out its port; nothing is written.

    ``paths`` are files and folders of one project, whose ``[tool.ddp-codemod]`` is heeded; it may name the platform too. ``rules``
    are ids beside those that the platform brings; ``torch_version`` counts more than what the project's files state;
    ``style``, ``env_in`` and ``unsafe`` are the options of those names; ``cache=False`` is ``--no-cache``. Raises PlanError.
    """
    found = look(
        paths,
        platform,
        rules=rules,
        rule_folders=rule_folders,
        torch_version=torch_version,
        style=style,
        env_in=env_in,
        cache=cache,
    )
    return plan_of(found, unsafe=unsafe, lang=lang)


def plan_of(found: Survey, *, unsafe: bool = False, lang: Literal["en", "zh"] = "en") -> Plan:
    """The plan that a survey comes to."""
    return _plan(found, rendered_edits(found, unsafe), lang)


def undo(path: AnyPath, *, root: Path | None = None) -> tuple[str, ...]:
    """Take back the last apply of the project that a path lies in, and give the names of the files. Raises PlanError.

    In a file that was edited since, only what the apply changed goes back; where that was edited itself, the file stays as it is.
    """
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.undo import undo as take_back

    try:
        undone = take_back(root or find_root([existing(Path(path))]))
    except WriteError as why:
        raise PlanError(" ".join([sentence(why.reason), *why.names])) from None
    return tuple(sorted((*undone.names, *undone.merged)))


def rendered_edits(found: Survey, unsafe: bool) -> Rendered:
    """The new bytes of a survey's edits; without an edit LibCST is not loaded."""
    from ddp_codemod.edits.render import render

    return render(found, unsafe) if found.edits else Rendered((), (), (), ())


class _Document(msgspec.Struct):
    """What ``--format json`` says."""

    sites: tuple[Site, ...]
    edits: tuple[Edit, ...]
    advisories: tuple[Note, ...]
    unaccounted: tuple[Unaccounted, ...]
    skipped: tuple[Skipped, ...]


def _plan(found: Survey, rendered: Rendered, lang: str) -> Plan:
    from ddp_codemod.report.json import dumps
    from ddp_codemod.write.repository import blobs

    made = tuple(edit for change in rendered.changes for edit in change.edits)
    edits = (*made, *rendered.left, *rendered.failed_edits)
    said = msgspec.json.decode(dumps(found, lang, edits, made, rendered.failed), type=_Document)
    patch = b""
    if rendered.changes:
        from ddp_codemod.patch.gitdiff import git_diff

        patch = git_diff(rendered.changes, blobs(found.root, [change.name for change in rendered.changes]))
    return Plan(
        found.root,
        found.platform,
        said.sites,
        said.edits,
        said.advisories,
        said.unaccounted,
        said.skipped,
        {change.name: change.after for change in rendered.changes},
        patch,
        rendered.changes,
    )
