"""One project: its survey as patch, JSON, pull-request text and page, and the counts of them."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from ddp_codemod.catalog.files import RuleError
from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.discover.config import Config, ConfigError, check_ids, read
from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.edits.units import Unit, build_units
from ddp_codemod.fleet.model import PLACES, STYLES, Count, Entry, Outcome, Trouble, Work
from ddp_codemod.kinds import Meaning
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Action, Applicability, Decision, Survey
from ddp_codemod.patch.gitdiff import format_git_diff
from ddp_codemod.report.edit_sites import leading_edits
from ddp_codemod.report.html import Choices, render_page
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.json import dumps
from ddp_codemod.report.markdown import format_pull_request
from ddp_codemod.report.view import View
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import Stated, parse_stated
from ddp_codemod.write.repository import find_blobs

PATCH, JSON, TEXT, PAGE = "changes.patch", "report.json", "pull-request.md", "review.html"


class Unparseable(Exception):
    """None of the files that speak of process groups can be read, or not what the project says about itself."""


@dataclass(frozen=True)
class Known:
    """The rule data of a run, loaded, and the folders of the user's own."""

    rules: Rules
    folders: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folders: tuple[Path, ...]) -> Known:
        """Load it."""
        return cls(load(folders), folders)


def rewrite_project(root: Path, entry: Entry, work: Work, known: Known) -> tuple[Outcome, dict[str, bytes]]:
    """Survey a work tree and render what is found; nothing in it is changed. Raises Unparseable."""
    config, rules = _configure_project(root, work, known)
    asked = tuple(dict.fromkeys((*config.rules, *entry.rules)))
    found = survey(
        Options(
            paths=(root,),
            platform=rules.platforms[entry.platform],
            rules=rules,
            fixes=asked,
            root=root,
            style="portable" if entry.style == "portable" else "pin",
            env_in="shell" if entry.env_in == "shell" else "python",
            scope=config.scope,
            versions=_find_versions(entry, rules),
        )
    )
    unread = [one for one in found.skipped if one.candidate and one.reason.means is not Meaning.APART]
    if unread and not found.decisions:
        raise Unparseable(f"{unread[0].name}: {sentence(unread[0].reason, work.lang)}")
    rendered = render(found, entry.unsafe) if found.edits else Rendered((), (), (), ())
    offer = _make_offer(found, rendered)
    after = offer.after if offer else {}
    names = dict.fromkeys((*(change.name for change in rendered.changes), *after))
    held = find_blobs(root, list(names)) if names else {}
    result = tuple(edit for change in rendered.changes for edit in change.edits)
    view = View(found, work.lang, Ink(False), root)
    files = {
        JSON: dumps(found, work.lang, (*result, *rendered.left, *rendered.failed_edits), (), rendered.failed),
        TEXT: format_pull_request(view, rules, result, rendered.left, format_command(entry)).encode("utf-8", "replace"),
    }
    if rendered.changes:
        files[PATCH] = format_git_diff(rendered.changes, held)
    if offer:
        shown = View(found, work.page_lang, Ink(False), root)
        before = {name: held[name] for name in after if name in held}
        files[PAGE] = render_page(Choices(shown, rules, offer.units, after, before, entry.unsafe))
    outcome = Outcome(
        repository=entry.repository,
        platform=entry.platform,
        ref=entry.ref,
        edits=len(result),
        files=len(rendered.changes),
        review=sum(decision.action is Action.REVIEW for decision in found.decisions) + len(found.uncovered),
        not_applied=len(leading_edits(rendered.left, found)),
        notes=len(found.advisories),
        skipped=sum(one.candidate for one in (*found.skipped, *rendered.failed)),
        python_files=found.files_seen,
        page=PAGE in files,
        sites=_count_sites(found, rules),
    )
    return outcome, files


def _configure_project(root: Path, work: Work, known: Known) -> tuple[Config, Rules]:
    """What the project says about itself; the platform is not for it to say. Raises Unparseable."""
    try:
        config = read(root)
        rules = load((*config.folders, *known.folders)) if config.folders else known.rules
        check_ids(config, rules)
    except ConfigError as why:
        raise Unparseable(sentence(why.reason, work.lang)) from None
    except RuleError as why:
        raise Unparseable(str(why)) from None
    return config, rules


@dataclass(frozen=True)
class _Offer:
    """The changes to choose from, unsafe ones too, and the files with all of them made."""

    units: list[Unit]
    after: dict[str, bytes]


def _make_offer(found: Survey, rendered: Rendered) -> _Offer | None:
    """What the page offers; None where there is nothing to choose."""
    offered = [unit for unit in build_units(found) if unit.applicability is not Applicability.MANUAL]
    offered = _select_complete_units(offered, rendered)
    if not offered:
        return None
    safe = all(unit.applicability is Applicability.SAFE for unit in offered)
    every = rendered if safe else render(found, unsafe=True)
    offered = _select_complete_units(offered, every)
    return _Offer(offered, {change.name: change.after for change in every.changes}) if offered else None


def _select_complete_units(offered: list[Unit], rendered: Rendered) -> list[Unit]:
    """Those of which no edit failed."""
    broken = {id(edit) for edit in rendered.failed_edits}
    return [unit for unit in offered if not any(id(edit) in broken for edit in unit.edits)]


def _find_versions(entry: Entry, rules: Rules) -> dict[str, Stated]:
    """The version of torch that the list knows."""
    if entry.torch_version is None:
        return {}
    asked = (package.name for package in rules.packages.values() if package.asked)
    return {name: parse_stated(entry.torch_version, name, "--torch-version") for name in asked}


def format_command(entry: Entry) -> str:
    """The command that makes the same changes in a work tree of the repository."""
    words = ["ddp-codemod", "apply", ".", "--platform", entry.platform]
    for rule in entry.rules:
        words += ["--rule", rule]
    for name, value, usual in (
        ("--torch-version", entry.torch_version, None), ("--env-in", entry.env_in, PLACES[0]), ("--style", entry.style, STYLES[0]),
    ):  # fmt: skip
        if value != usual:
            words += [name, str(value)]
    return shlex.join([*words, "--unsafe"] if entry.unsafe else words)


def _count_sites(found: Survey, rules: Rules) -> tuple[Count, ...]:
    counted = Counter(_classify_decision(decision, rules) for decision in found.decisions)
    return tuple(Count(*what, sites) for what, sites in sorted(counted.items()))


def _classify_decision(decision: Decision, rules: Rules) -> tuple[str, str, str]:
    surface = rules.surfaces.get(decision.surface)
    roles: dict[str, str] = {parameter.name: parameter.role for parameter in surface.parameters} if surface else {}
    # a call of the project's own that hands a value on has names of its own
    kind = roles.get(decision.parameter) or next(iter(roles.values()), decision.parameter or "environment")
    framework = (surface.names if surface and surface.names else (decision.surface,))[0].split(".")[0]
    return framework, kind, decision.action.value


def failed_outcome(entry: Entry, trouble: Trouble, detail: str, work: Work, commit: str | None = None) -> Outcome:
    """The outcome of a repository that has no result."""
    return replace(
        Outcome(entry.repository, entry.platform, entry.ref, commit),
        trouble=trouble, detail=" ".join(detail.split())[-500:], limits=work.limits,
    )  # fmt: skip
