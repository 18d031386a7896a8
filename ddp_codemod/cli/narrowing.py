"""What of a survey a run is about: some rules, the lines of a branch, what a baseline does not know yet."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.cli.base_comparison import note_changed_backends
from ddp_codemod.cli.change_records import find_other_platform
from ddp_codemod.cli.errors import make_failure, refusal_failure, unknown_word
from ddp_codemod.model import NOTES, Action, Decision, Edit, Survey

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.report.fingerprints import FingerprintedFinding

VERSION = 1


def survey_narrowed(job: Job) -> Survey:
    """The survey of a job, with what its options omit counted and no longer in it."""
    from ddp_codemod.run.survey import survey

    settings = job.settings
    _check_rules(job)
    found = survey(job.options)
    found = replace(found, elsewhere=find_other_platform(job.root, job.options.rules, job.options.platform))
    if settings.select or settings.ignore:
        found = _select_findings(found, lambda one: _is_selected(one.rule, settings.select, settings.ignore))
    if settings.diff_base is not None:
        found = _limit_to_branch(job, found, settings.diff_base)
    if settings.baseline is not None:
        found = _subtract_baseline(found, settings.baseline, job)
    return found


def _check_rules(job: Job) -> None:
    from ddp_codemod.report.fingerprints import REVIEW, UNCOVERED

    rules, settings = job.options.rules, job.settings
    warnings = (warning.id for platform in rules.platforms.values() for warning in platform.warnings)
    known = {*rules.fixes, *rules.advice, *NOTES, *warnings, REVIEW, UNCOVERED}
    for option, idents in (("--select", settings.select), ("--ignore", settings.ignore)):
        for ident in idents:
            if ident not in known:
                raise unknown_word("select-unknown", ident, known, option=option)


def _is_selected(rule: str, select: Container[str], ignore: Container[str]) -> bool:
    return rule not in ignore and (not select or rule in select)


def _select_findings(found: Survey, wanted: Callable[[FingerprintedFinding], bool]) -> Survey:
    """The survey with the findings that are wanted: edits of a group stay together, and with their sites."""
    from ddp_codemod.report.edit_sites import sites_of_edits
    from ddp_codemod.report.fingerprints import fingerprint_findings

    out = [one for one in fingerprint_findings(found) if not wanted(one)]
    if not out:
        return found
    gone = {id(one.item) for one in out}
    groups = {group for edit in found.edits if id(edit) in gone for group in edit.groups}
    edits = tuple(edit for edit in found.edits if not _is_excluded(edit, gone, groups))
    alone = tuple(replace(edit, group=own[0], also=tuple(own[1:])) for edit in edits if (own := _find_other_groups(edit, groups)))
    dropped = [edit for edit in found.edits if _is_excluded(edit, gone, groups)]
    sites = {id(site) for site in sites_of_edits(dropped, found)}
    still = {id(site) for site in sites_of_edits(alone, found)}

    def stays(site: Decision) -> bool:
        if site.action is Action.EDIT:
            return id(site) not in sites or id(site) in still
        return id(site) not in gone

    return replace(
        found,
        decisions=tuple(site for site in found.decisions if stays(site)),
        edits=alone,
        uncovered=tuple(one for one in found.uncovered if id(one) not in gone),
        advisories=tuple(one for one in found.advisories if id(one) not in gone),
        hidden=found.hidden + len(out),
    )


def _find_other_groups(edit: Edit, groups: Container[int]) -> list[int]:
    return [group for group in edit.groups if group not in groups]


def _is_excluded(edit: Edit, gone: Container[int], groups: Container[int]) -> bool:
    return id(edit) in gone or not _find_other_groups(edit, groups)


def _limit_to_branch(job: Job, found: Survey, base: str) -> Survey:
    """Only what is on lines that the branch changed: the place itself, or a call or origin that belongs to it."""
    from ddp_codemod.report.edit_sites import sites_of_edit
    from ddp_codemod.report.fingerprints import fingerprint_findings
    from ddp_codemod.report.view import name_first
    from ddp_codemod.write.branch import find_branch_changes
    from ddp_codemod.write.errors import WriteError

    names = {one.name for one in fingerprint_findings(found) if one.line} | {site.call.name for site in found.decisions}
    names |= {place.name for site in found.decisions for place in (site.place, *(origin.place for origin in site.origins))}
    try:
        files = {name: source.file.data for name in names if (source := found.sources.get(name)) is not None}
        changes = find_branch_changes(job.root, base, files)
    except WriteError as why:
        raise refusal_failure(why, job.root) from None
    lines = changes.lines
    if changes.unread:
        listed = name_first(job.view(found), changes.unread)
        job.console.say(job.console.text("diff-base-unread", base=base, n=len(changes.unread), names=listed))

    def new(name: str, start: int, end: int) -> bool:
        source, changed = found.sources.get(name), lines.get(name, ())
        if source is None:
            return False
        return any(line in changed for line in range(source.position(start)[0], source.position(end)[0] + 1))

    def is_near(one: Decision) -> bool:
        places = (one.place, one.call, *(origin.place for origin in one.origins))
        return any(new(place.name, place.start, place.end) for place in places)

    def wanted(one: FingerprintedFinding) -> bool:
        if one.line in lines.get(one.name, ()):
            return True
        if isinstance(one.item, Edit):
            return any(is_near(site) for site in sites_of_edit(one.item, found))
        return isinstance(one.item, Decision) and is_near(one.item)

    kept = [one for one in found.decisions if one.action is Action.KEEP and not is_near(one)]
    found = _select_findings(found, wanted)
    gone = {id(one) for one in kept}
    notes = (*found.advisories, *note_changed_backends(job, found, changes.old, base))
    return replace(found, decisions=tuple(one for one in found.decisions if id(one) not in gone), advisories=notes)


def _subtract_baseline(found: Survey, path: Path, job: Job) -> Survey:
    """Only what the baseline does not hold; with --update-baseline it is written anew."""
    from ddp_codemod.report.fingerprints import fingerprint_findings

    if job.settings.update_baseline:
        from ddp_codemod.write.document import write_document

        listed = [{"rule": one.rule, "path": one.name, "line": one.line, "mark": one.mark} for one in fingerprint_findings(found)]
        import json  # a baseline is rare

        text = json.dumps({"version": VERSION, "platform": found.platform, "findings": listed}, indent=1) + "\n"
        try:
            write_document(path, text)
        except OSError as why:
            raise make_failure("output-failed", path=path, why=why.strerror or why) from None
        job.console.say(job.console.text("baseline-written", path=path, n=len(listed)))
    marks = _read_baseline(path, job)
    return _select_findings(found, lambda one: one.mark not in marks)


def _read_baseline(path: Path, job: Job) -> set[str]:
    try:
        import json  # a baseline is rare

        arguments = json.loads(path.read_bytes())
        if arguments["version"] != VERSION:
            raise ValueError(arguments["version"])
        if arguments["platform"] != job.options.platform.id:
            raise make_failure("baseline-platform", path=path, platform=arguments["platform"], wanted=job.options.platform.id)
        return {str(one["mark"]) for one in arguments["findings"]}
    except FileNotFoundError:
        command = job.settings.again("check", "--baseline", str(path), "--update-baseline", platform=job.options.platform.id)
        raise make_failure("baseline-missing", path=path, command=command) from None
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise make_failure("baseline-bad", path=path, why=why) from None
