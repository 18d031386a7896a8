"""The Python API: ``plan(paths, platform)`` returns what a port changes and why; ``Plan.apply`` writes it.

The types have the same fields as ``--format json``. The API prints nothing, and never detects the platform of the machine.
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
from ddp_codemod.request import AnyPath, EnvIn, Style, existing_path, survey_request
from ddp_codemod.request import PlanError as PlanError

Action = Literal["edit", "keep", "review"]
Applicability = Literal["safe", "unsafe", "manual"]


@dataclass(frozen=True)
class Origin:
    """An expression that a value comes from."""

    path: str
    line: int
    column: int
    kind: str
    value: str


@dataclass(frozen=True)
class Site:
    """A call site: where code chooses a backend, init_method or store, and what the port does there."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    surface: str
    parameter: str
    value: str | None  # source text; None if the argument is not passed
    resolves_to: tuple[str, ...]  # on the platform
    origins: tuple[Origin, ...]
    action: Action
    applicability: Applicability
    rule: str | None
    reason: str


@dataclass(frozen=True)
class Edit:
    """One change to one span of text. ``applied``: the patch contains it."""

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
    """A note about what no edit fixes; line 0 is about the whole project."""

    path: str
    line: int
    rule: str
    message: str


@dataclass(frozen=True)
class Uncovered:
    """A backend name that fails on the platform, and that no call site, edit or note covers."""

    path: str
    line: int
    end_line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Skipped:
    """A file, or a change in one, that the port skips."""

    path: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """What a port changes. Every ``path`` is relative to ``root``, with ``/``."""

    root: Path
    platform: str
    sites: tuple[Site, ...]
    edits: tuple[Edit, ...]
    advisories: tuple[Note, ...]
    uncovered: tuple[Uncovered, ...]
    skipped: tuple[Skipped, ...]
    files: Mapping[str, bytes]  # the new bytes of each file that changes
    patch: bytes  # as ``git apply`` takes it
    _changes: tuple[FileChange, ...] = field(repr=False)

    @property
    def reviews(self) -> tuple[Site, ...]:
        """The call sites that need review."""
        return tuple(site for site in self.sites if site.action == "review")

    @property
    def digest(self) -> str:
        """A hash of the platform and of each file's name, old bytes and new bytes."""
        known = hashlib.sha256(self.platform.encode())
        for change in sorted(self._changes, key=lambda change: change.name):
            for part in (change.name.encode("utf-8", "surrogateescape"), change.before, change.after):
                known.update(hashlib.sha256(part).digest())
        return known.hexdigest()[:32]

    def apply(self, *, allow_dirty: bool = False) -> tuple[str, ...]:
        """Write the patch and return the names of the files; ``ddp-codemod undo`` reverts it.

        Raises PlanError, and writes nothing, if a file changed in the meantime or has uncommitted changes.
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
    """Plan the port of a project; write nothing.

    ``paths`` are files and folders of one project, whose ``[tool.ddp-codemod]`` applies and may set the platform. ``rules`` are ids
    besides those that the platform enables; ``torch_version`` overrides the version in the project's files;
    ``style``, ``env_in`` and ``unsafe`` are the command-line options of these names, ``cache=False`` is ``--no-cache``. Raises PlanError.
    """
    found = survey_request(
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
    """The plan of a survey."""
    return _make_plan(found, rendered_edits(found, unsafe), lang)


def undo(path: AnyPath, *, root: Path | None = None) -> tuple[str, ...]:
    """Undo the last apply in the project that contains ``path``, and return the names of the files. Raises PlanError.

    In a file that you edited since, undo reverts only the changes of apply; if you edited those too, the file does not change.
    """
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.undo import undo as take_back

    try:
        undone = take_back(root or find_root([existing_path(Path(path))]))
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
    uncovered: tuple[Uncovered, ...]
    skipped: tuple[Skipped, ...]


def _make_plan(found: Survey, rendered: Rendered, lang: str) -> Plan:
    from ddp_codemod.report.json import dumps
    from ddp_codemod.write.repository import find_blobs

    result = tuple(edit for change in rendered.changes for edit in change.edits)
    edits = (*result, *rendered.left, *rendered.failed_edits)
    said = msgspec.json.decode(dumps(found, lang, edits, result, rendered.failed), type=_Document)
    patch = b""
    if rendered.changes:
        from ddp_codemod.patch.gitdiff import format_git_diff

        patch = format_git_diff(rendered.changes, find_blobs(found.root, [change.name for change in rendered.changes]))
    return Plan(
        found.root,
        found.platform,
        said.sites,
        said.edits,
        said.advisories,
        said.uncovered,
        said.skipped,
        {change.name: change.after for change in rendered.changes},
        patch,
        rendered.changes,
    )
