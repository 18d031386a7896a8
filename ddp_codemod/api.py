"""The Python interface: ``plan(paths, platform)`` tells what a port would change and why; ``Plan.apply`` makes it.

The types say the same as ``--format json``, field for field. Nothing is printed, and no machine is asked which platform it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Union

import msgspec

from ddp_codemod.discover.config import Config, ConfigError, check, read
from ddp_codemod.discover.root import find_root
from ddp_codemod.edits.render import Rendered
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import FileChange, Reason, Survey
from ddp_codemod.pipeline import Options, survey
from ddp_codemod.rules.files import RuleError
from ddp_codemod.rules.load import Rules, load
from ddp_codemod.versions import given

AnyPath = Union[str, os.PathLike[str]]
Action = Literal["edit", "keep", "review"]
Applicability = Literal["safe", "unsafe", "manual"]
Style = Literal["pin", "portable"]
EnvIn = Literal["python", "shell"]


class PlanError(ValueError):
    """What stands in the way, as a sentence: a path, a platform, a rule, the configuration, a file that may not be written."""


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
    lang: Literal["en", "zh"] = "en",
) -> Plan:
    """Look through a project and work out its port; nothing is written.

    ``paths`` are files and folders of one project, whose ``[tool.ddp-codemod]`` is heeded; it may name the platform too. ``rules``
    are ids beside those that the platform brings; ``torch_version`` counts more than what the project's files state;
    ``style``, ``env_in`` and ``unsafe`` are the options of those names. Raises PlanError.
    """
    found = look(paths, platform, rules=rules, rule_folders=rule_folders, torch_version=torch_version, style=style, env_in=env_in)
    rendered = rendered_edits(found, unsafe)
    return _plan(found, rendered, lang)


def look(
    paths: AnyPath | Iterable[AnyPath],
    platform: str | None,
    *,
    rules: Iterable[str] = (),
    rule_folders: Iterable[AnyPath] = (),
    torch_version: str | None = None,
    style: Style = "pin",
    env_in: EnvIn = "python",
) -> Survey:
    """The survey behind a plan."""
    where = tuple(map(Path, (paths,) if isinstance(paths, (str, os.PathLike)) else paths))
    for path in where:
        if not path.exists():
            raise PlanError(f"{path}: no such file or folder")
    if not where:
        raise PlanError("no path is given")
    try:
        root = find_root(where)
        config = read(root)
        known = load(config.all_folders(map(Path, rule_folders)))
        check(config, known)
        named = [name for name, package in known.packages.items() if package.asked] if torch_version else []
        versions = {name: given(torch_version or "", name, "torch_version") for name in named}
    except (ConfigError, RuleError, ValueError) as why:
        raise PlanError(sentence(why.reason) if isinstance(why, ConfigError) else str(why)) from None
    fixes = tuple(dict.fromkeys((*config.rules, *rules)))
    for ident in fixes:
        _known("rule", ident, known.fixes)
    chosen = known.platforms[_platform(platform, config, known)]
    asked = Options(where, chosen, known, fixes, root, style=style, env_in=env_in, scope=config.scope, versions=versions)
    return survey(asked)


def rendered_edits(found: Survey, unsafe: bool) -> Rendered:
    """The new bytes of a survey's edits; without an edit LibCST is not loaded."""
    from ddp_codemod.edits.render import render

    return render(found, unsafe) if found.edits else Rendered((), (), (), ())


def _platform(asked: str | None, config: Config, known: Rules) -> str:
    ident = asked or config.platform
    if ident is None:
        raise PlanError(f"which platform is meant? One of: {', '.join(sorted(known.platforms))}")
    return _known("platform", ident, known.platforms)


def _known(kind: str, ident: str, known: Mapping[str, Any]) -> str:
    if ident not in known:
        near = get_close_matches(ident, list(known), n=1)
        raise PlanError(sentence(Reason.of(f"api-{kind}", word=ident, near=near[0] if near else ", ".join(sorted(known)))))
    return ident


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
