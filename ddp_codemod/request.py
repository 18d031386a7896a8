"""Requests of the Python API, checked: paths, a platform, rules and the project's configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from msgspec.structs import replace

from ddp_codemod.catalog.files import RuleError
from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.discover.config import Config, ConfigError, check_ids, read
from ddp_codemod.discover.nested_projects import find_nested_platforms
from ddp_codemod.discover.root import find_root
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Reason, Survey
from ddp_codemod.run.options import Options, Progress
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import parse_stated
from ddp_codemod.write.ported_lines import find_ported_lines

if TYPE_CHECKING:
    from ddp_codemod.health import RecordedGroup

AnyPath = Union[str, os.PathLike[str]]
Style = Literal["pin", "portable"]
EnvIn = Literal["python", "shell"]


class PlanError(ValueError):
    """The reason why there is no plan, or why it cannot be written, as a sentence."""


def survey_request(
    paths: AnyPath | Iterable[AnyPath],
    platform: str | None,
    *,
    rules: Iterable[str] = (),
    rule_folders: Iterable[AnyPath] = (),
    torch_version: str | None = None,
    style: Style = "pin",
    env_in: EnvIn = "python",
    root: Path | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    recorded: tuple[RecordedGroup, ...] = (),
) -> Survey:
    """Survey a project for a plan. ``root`` overrides the root of the paths; ``progress`` runs before each file; ``cache`` as in ``plan``.

    ``recorded``: the groups that a run of the project created.
    """
    asked = make_options(
        paths,
        platform,
        rules=rules,
        rule_folders=rule_folders,
        torch_version=torch_version,
        style=style,
        env_in=env_in,
        root=root,
        cache=cache and not recorded,
    )
    return survey(replace(asked, progress=progress, recorded=recorded))


def make_options(
    paths: AnyPath | Iterable[AnyPath],
    platform: str | None,
    *,
    rules: Iterable[str] = (),
    rule_folders: Iterable[AnyPath] = (),
    torch_version: str | None = None,
    style: Style = "pin",
    env_in: EnvIn = "python",
    root: Path | None = None,
    cache: bool = True,
) -> Options:
    """A checked request for a survey. Raises PlanError."""
    where = tuple(map(existing_path, map(Path, (paths,) if isinstance(paths, (str, os.PathLike)) else paths)))
    if not where:
        raise PlanError("no path: pass at least one")
    try:
        root = root or find_root(where)
        config = read(root)
        known = load(config.all_folders(map(Path, rule_folders)))
        check_ids(config, known)
        named = [name for name, package in known.packages.items() if package.asked] if torch_version else []
        versions = {name: parse_stated(torch_version or "", name, "torch_version") for name in named}
    except (ConfigError, RuleError, ValueError) as why:
        raise PlanError(sentence(why.reason) if isinstance(why, ConfigError) else str(why)) from None
    fixes = tuple(dict.fromkeys((*config.rules, *rules)))
    for ident in fixes:
        _check_known("rule", ident, known.fixes)
    chosen = known.platforms[_check_platform(platform, config, known)]
    others = {} if platform else _find_others(root, where, config)
    return Options(
        where,
        chosen,
        known,
        fixes,
        root,
        style=style,
        env_in=env_in,
        cache=cache,
        scope=config.scope.without(others),
        versions=versions,
        others=others,
        ported=find_ported_lines(root, chosen.id),
    )


def _find_others(root: Path, where: Sequence[Path], config: Config) -> dict[str, str]:
    """The projects inside a project that name another platform, from its root, and which."""
    try:
        inside = find_nested_platforms(root, where, config.platform)
    except ConfigError as why:
        raise PlanError(sentence(why.reason)) from None
    home = os.path.normpath(root.absolute())
    return {os.path.relpath(os.path.normpath(at.absolute()), home).replace(os.sep, "/"): to for at, to in inside.items()}


def existing_path(path: Path) -> Path:
    if not path.exists():
        raise PlanError(f"{path}: no such file or folder")
    return path


def _check_platform(asked: str | None, config: Config, known: Rules) -> str:
    ident = asked or config.platform
    if ident is None:
        raise PlanError(f"no platform set; pass one of: {', '.join(sorted(known.platforms))}")
    return _check_known("platform", ident, known.platforms, known.other_names)


def _check_known(kind: str, ident: str, known: Mapping[str, Any], meant: Mapping[str, str] = {}) -> str:
    if ident not in known:
        near = [meant[ident]] if ident in meant else get_close_matches(ident, list(known), n=1)
        raise PlanError(sentence(Reason.of(f"api-{kind}", word=ident, near=near[0] if near else ", ".join(sorted(known)))))
    return ident
