"""What of a survey a run is about: some rules, the lines of a branch, what a baseline does not know yet."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.cli.errors import fail, refused, unknown
from ddp_codemod.cli.recorded import elsewhere
from ddp_codemod.model import NOTES, Action, Decision, Edit, Survey

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.report.known import Known

VERSION = 1


def look(job: Job) -> Survey:
    """The survey of a job, with what its options leave out counted and no longer in it."""
    from ddp_codemod.run.survey import survey

    settings = job.settings
    _check(job)
    found = survey(job.options)
    found = replace(found, elsewhere=elsewhere(job.root, job.options.rules, job.options.platform))
    if settings.select or settings.ignore:
        found = _only(found, lambda one: _asked(one.rule, settings.select, settings.ignore))
    if settings.diff_base is not None:
        found = _of_branch(job, found, settings.diff_base)
    if settings.baseline is not None:
        found = _beyond(found, settings.baseline, job)
    return found


def _check(job: Job) -> None:
    from ddp_codemod.report.known import REVIEW, UNACCOUNTED

    rules, settings = job.options.rules, job.settings
    warnings = (warning.id for platform in rules.platforms.values() for warning in platform.warnings)
    known = {*rules.fixes, *rules.advice, *NOTES, *warnings, REVIEW, UNACCOUNTED}
    for option, idents in (("--select", settings.select), ("--ignore", settings.ignore)):
        for ident in idents:
            if ident not in known:
                raise unknown("select-unknown", ident, known, option=option)


def _asked(rule: str, select: Container[str], ignore: Container[str]) -> bool:
    return rule not in ignore and (not select or rule in select)


def _only(found: Survey, wanted: Callable[[Known], bool]) -> Survey:
    """The survey with the findings that are wanted: edits of a group stay together, and with their sites."""
    from ddp_codemod.report.known import findings
    from ddp_codemod.report.touching import sites_of

    out = [one for one in findings(found) if not wanted(one)]
    if not out:
        return found
    gone = {id(one.item) for one in out}
    groups = {group for edit in found.edits if id(edit) in gone for group in edit.groups}
    edits = tuple(edit for edit in found.edits if not _left_out(edit, gone, groups))
    alone = tuple(replace(edit, group=own[0], also=tuple(own[1:])) for edit in edits if (own := _other(edit, groups)))
    dropped = [edit for edit in found.edits if _left_out(edit, gone, groups)]
    sites = {id(site) for site in sites_of(dropped, found)}
    still = {id(site) for site in sites_of(alone, found)}

    def stays(site: Decision) -> bool:
        if site.action is Action.EDIT:
            return id(site) not in sites or id(site) in still
        return id(site) not in gone

    return replace(
        found,
        decisions=tuple(site for site in found.decisions if stays(site)),
        edits=alone,
        unaccounted=tuple(one for one in found.unaccounted if id(one) not in gone),
        advisories=tuple(one for one in found.advisories if id(one) not in gone),
        hidden=found.hidden + len(out),
    )


def _other(edit: Edit, groups: Container[int]) -> list[int]:
    return [group for group in edit.groups if group not in groups]


def _left_out(edit: Edit, gone: Container[int], groups: Container[int]) -> bool:
    return id(edit) in gone or not _other(edit, groups)


def _of_branch(job: Job, found: Survey, base: str) -> Survey:
    """Only what stands on lines that the branch changed: the place itself, or a call or origin that belongs to it."""
    from ddp_codemod.report.known import findings
    from ddp_codemod.report.touching import touching
    from ddp_codemod.write.branch import changed_since
    from ddp_codemod.write.errors import WriteError

    names = {one.name for one in findings(found) if one.line} | {site.call.name for site in found.decisions}
    try:
        files = {name: source.file.data for name in names if (source := found.sources.get(name)) is not None}
        lines = changed_since(job.root, base, files)
    except WriteError as why:
        raise refused(why, job.root) from None

    def new(name: str, start: int, end: int) -> bool:
        source, changed = found.sources.get(name), lines.get(name, ())
        if source is None:
            return False
        return any(line in changed for line in range(source.position(start)[0], source.position(end)[0] + 1))

    def wanted(one: Known) -> bool:
        if one.line in lines.get(one.name, ()):
            return True
        if isinstance(one.item, Edit):
            return any(new(site.call.name, site.call.start, site.call.end) for site in touching(one.item, found))
        return isinstance(one.item, Decision) and new(one.item.call.name, one.item.call.start, one.item.call.end)

    return _only(found, wanted)


def _beyond(found: Survey, path: Path, job: Job) -> Survey:
    """Only what the baseline does not hold; with --update-baseline it is written anew."""
    from ddp_codemod.report.known import findings

    if job.settings.update_baseline:
        from ddp_codemod.write.document import write_document

        listed = [{"rule": one.rule, "path": one.name, "line": one.line, "mark": one.mark} for one in findings(found)]
        import json  # a baseline is rare

        text = json.dumps({"version": VERSION, "platform": found.platform, "findings": listed}, indent=1) + "\n"
        try:
            write_document(path, text)
        except OSError as why:
            raise fail("output-failed", path=path, why=why.strerror or why) from None
        job.console.say(job.console.text("baseline-written", path=path, n=len(listed)))
    marks = _marks(path, job)
    return _only(found, lambda one: one.mark not in marks)


def _marks(path: Path, job: Job) -> set[str]:
    try:
        import json  # a baseline is rare

        said = json.loads(path.read_bytes())
        if said["version"] != VERSION:
            raise ValueError(said["version"])
        if said["platform"] != job.options.platform.id:
            raise fail("baseline-platform", path=path, platform=said["platform"], wanted=job.options.platform.id)
        return {str(one["mark"]) for one in said["findings"]}
    except FileNotFoundError:
        command = job.settings.again("check", "--baseline", str(path), "--update-baseline", platform=job.options.platform.id)
        raise fail("baseline-missing", path=path, command=command) from None
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise fail("baseline-bad", path=path, why=why) from None
