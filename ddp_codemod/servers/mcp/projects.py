"""The tools that read a project, and the two that write into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.api import Plan, plan_of, undo
from ddp_codemod.cli.from_run import read_record
from ddp_codemod.cli.settings import command_line
from ddp_codemod.health import RecordedGroup
from ddp_codemod.messages import render, text
from ddp_codemod.model import Action, Applicability, Step, Survey
from ddp_codemod.report.device_kinds import is_device_rule
from ddp_codemod.report.json import dumps
from ddp_codemod.report.view import View, shorten_text
from ddp_codemod.request import PlanError, survey_request
from ddp_codemod.run.survey import limit_to_line
from ddp_codemod.servers.mcp.answer import Answer, Refused
from ddp_codemod.servers.mcp.pages import KINDS, limit_report, select_page, select_patch_lines
from ddp_codemod.servers.mcp.requests import Apply, Check, Diff, Explain, Kind, Paged, Project, Scan, Undo
from ddp_codemod.servers.quoting import clean_report, clean_text, quote_foreign, quote_reason, quote_survey, quote_text
from ddp_codemod.servers.roots import ProjectPaths, Roots
from ddp_codemod.servers.work import Job

STEPS = 40  # of one line's explanation
_UNREACHED = 10  # files that nothing of the project starts, which are named
P = TypeVar("P", bound=Paged)


class Call(Struct, frozen=True):
    """One request: where it may look, the job that it is, and the reader's language."""

    roots: Roots
    job: Job[Answer]
    rule_folders: tuple[Path, ...] = ()  # that the server was started with
    lang: str = "en"

    def say(self, key: str, /, **args: object) -> str:
        """A sentence of the server's own."""
        return text(key, self.lang, **args)


def scan(call: Call, asked: Scan) -> Answer:
    """Every site, with what it gives and where that starts."""
    return _answer_with_page(call, asked, _survey_project(call, asked), ("sites",))


def check(call: Call, asked: Check) -> Answer:
    """What is for review first, then what would change."""
    return _answer_with_page(
        call, _ask_for_review(asked), _survey_project(call, asked), ("sites", "advisories", "skipped", "edits")
    )


def diff(call: Call, asked: Diff) -> Answer:
    """The patch, and the digest of the plan that apply takes."""
    found = _survey_project(call, asked)
    plan = _make_plan(call, found, asked)
    report = json.loads(dumps(found, call.lang))
    lines = plan.patch.decode("utf-8", "backslashreplace").split("\n")[:-1]
    part = select_patch_lines([clean_text(line.replace("\r", "\\r"), 1000) for line in lines], asked.patch_offset)
    # the patch says what changes; beside it is only what nothing changes
    taken, which = select_page(clean_report(report), _ask_for_review(asked), ("sites", "advisories", "skipped"))
    todo = [call.say("mcp-digest", digest=plan.digest)] if plan.files else [_suggest_next_step(call, found, asked)]
    if plan.files and (half := _describe_half_port(call, found, asked)):
        todo = [half, call.say("mcp-digest-half", digest=plan.digest)]
    said = [*todo, *_format_counts(call, found, plan)]
    if part["next"] is not None:
        said.append(call.say("mcp-patch-more", n=part["next"], total=part["total"]))
    result: dict[str, Any] = {"root": clean_text(str(found.root)), "report": taken, "page": which, "patch": part}
    result |= {"digest": plan.digest if plan.files else None, "files": len(plan.files)}
    beside = [] if asked.patch_offset else _format_entries(call, taken, asked.show or ("sites", "advisories", "skipped"))
    return Answer(result, tuple(said), (*beside, *part["lines"]), shown=150)


def explain(call: Call, asked: Explain) -> Answer:
    """Why one line is changed, stays or needs review, step by step."""
    path = call.roots.find(asked.path)
    project = call.roots.project([asked.path])
    whole = _survey_project(call, asked, ProjectPaths((project.root, path), project.root))
    found = limit_to_line(whole, path.relative_to(whole.root).as_posix(), asked.line)
    steps = [step for decision in found.decisions for step in _encode_trace(call, found, decision.steps, decision.origins)]
    steps, unsaid = steps[:STEPS], len(steps[STEPS:])
    report, left = limit_report(clean_report(json.loads(dumps(found, call.lang))), *KINDS)
    said = [
        _suggest_next_step(call, found, asked),
        call.say("mcp-explained", n=len(found.decisions), platform=quote_foreign(found.platform)),
    ]
    lines = [*_format_entries(call, report, ("sites", "edits", "advisories")), *(_format_step(call, one) for one in steps)]
    said += [call.say("mcp-left-out", n=left + unsaid)] if left + unsaid else []
    result = {"root": clean_text(str(found.root)), "report": report, **clean_report({"steps": steps})}
    return Answer(result, tuple(said), tuple(lines))


def apply(call: Call, asked: Apply) -> Answer:
    """Write the plan that ``diff`` showed, and no other."""
    found = _survey_project(call, asked)
    plan = _make_plan(call, found, asked)
    if plan.digest != asked.digest:
        raise Refused(call.say("mcp-other-plan"))
    with call.job.unbroken():
        try:
            names = plan.apply(allow_dirty=asked.allow_dirty)
        except PlanError as why:
            raise Refused(call.say("mcp-refused"), str(why)) from None
    back = {"tool": "undo", "arguments": {"path": str(found.root)}}
    command = command_line(["ddp-codemod", "undo", str(found.root)])
    result = {"root": clean_text(str(found.root)), "written": [*map(clean_text, names)], "digest": plan.digest}
    part = not asked.unsafe and any(edit.applicability is Applicability.UNSAFE for edit in found.edits)
    todo = call.say("mcp-todo-unsafe" if part else "mcp-todo-written")  # a part of the changes need not train
    todo = _describe_half_port(call, found, asked) or todo
    return Answer(
        {**result, "undo": {**back, "command": command}},
        (todo, call.say("mcp-written", n=len(names)), call.say("mcp-take-back")),
        (quote_text(command, 400), *map(quote_text, names)),
    )


def take_back(call: Call, asked: Undo) -> Answer:
    """Give the files of the last apply their old bytes."""
    project = call.roots.project([asked.path] if asked.path else [])
    with call.job.unbroken():
        try:
            names = undo(project.paths[0], root=project.root)
        except PlanError as why:
            raise Refused(call.say("mcp-refused"), str(why)) from None
    result = {"root": clean_text(str(project.root)), "restored": [*map(clean_text, names)]}
    return Answer(result, (call.say("mcp-todo-restored"), call.say("mcp-restored", n=len(names))), tuple(map(quote_text, names)))


def _survey_project(call: Call, asked: Project, project: ProjectPaths | None = None) -> Survey:
    """The survey that a request asks for, its sentences with the project's words quoted. Raises Refused."""
    project = project or call.roots.project(asked.paths)

    def progress(name: str, done: int, total: int) -> None:
        call.job.note(done, total, call.say("mcp-reading", done=done + 1, total=total))

    try:
        return quote_survey(
            survey_request(
                project.paths,
                asked.platform,
                rules=asked.rules,
                rule_folders=call.rule_folders,
                torch_version=asked.torch_version,
                style=asked.style,
                env_in=asked.env_in,
                root=project.root,
                progress=progress,
                recorded=_recorded(call, asked, project),
            )
        )
    except PlanError as why:
        raise Refused(call.say("mcp-refused"), str(why)) from None


def _recorded(call: Call, asked: Project, project: ProjectPaths) -> tuple[RecordedGroup, ...]:
    """The groups of the run on record that a request names. Raises Failure for one of other files."""
    name = asked.from_run if isinstance(asked, (Diff, Apply)) else None
    return read_record(call.roots.find(name), project.root) if name else ()


def _make_plan(call: Call, found: Survey, asked: Project) -> Plan:
    call.job.note(1, 1, call.say("mcp-rendering"))
    return plan_of(found, unsafe=asked.unsafe, lang="zh" if call.lang == "zh" else "en")


def _answer_with_page(call: Call, asked: Paged, found: Survey, usual: Sequence[Kind]) -> Answer:
    report = clean_report(json.loads(dumps(found, call.lang)))
    taken, which = select_page(report, asked, usual)
    said = [_suggest_next_step(call, found, asked), *_format_counts(call, found, None)]
    if which["next"] is not None:
        said.append(call.say("mcp-next", returned=which["returned"], total=which["total"], next=which["next"]))
    if found.unreached and (found.edits or found.decisions):
        said.append(call.say("mcp-unreached", n=len(found.unreached)))
    if loads := report["unfollowed"]:
        said.append(call.say("mcp-unfollowed", n=len(loads)))
    result = {"root": clean_text(str(found.root)), "report": taken, "page": which}
    files = [f"{quote_text(one['path'])}:{one['line']}" for one in loads[:_UNREACHED]]
    files += map(quote_text, found.unreached[:_UNREACHED])
    return Answer(result, tuple(said), (*_format_entries(call, taken, asked.show or usual), *files))


def _ask_for_review(asked: P) -> P:
    """The request, of whose sites only those for review are wanted unless it names others."""
    return asked if asked.show or asked.action else replace(asked, action="review")


def _describe_half_port(call: Call, found: Survey, asked: Project) -> str:
    """That the safe changes alone leave the program on a device that the platform lacks, and the two ways to port it whole."""
    about = found.devices
    uses = {
        rule
        for edit in found.edits
        if edit.applicability is Applicability.UNSAFE
        for rule in (edit.rule,)
        if is_device_rule(rule)
    }
    if asked.unsafe or about is None or not about.new or not uses:
        return ""
    key = "mcp-todo-half-vendor" if about.vendor else "mcp-todo-half"
    return call.say(key, old=quote_foreign(about.old), new=quote_foreign(about.new), vendor=quote_foreign(about.vendor))


def _suggest_next_step(call: Call, found: Survey, asked: Project) -> str:
    """What to do with a finding next: what can be made, then what a user has to decide, else nothing."""
    if half := _describe_half_port(call, found, asked):
        return half
    if any(edit.applicability is Applicability.SAFE for edit in found.edits):
        return call.say("mcp-todo-diff")
    if found.edits:
        return call.say("mcp-todo-unsafe")
    review = any(one.action is Action.REVIEW for one in found.decisions) or found.uncovered
    if review or any(one.candidate for one in found.skipped):
        return call.say("mcp-todo-review")
    if found.unreached or found.without_entry_point:
        return call.say("mcp-todo-unreached", n=len(found.unreached) or found.without_entry_point)
    if found.advisories:
        return call.say("mcp-todo-notes")
    return call.say("mcp-todo-none")


def _format_counts(call: Call, found: Survey, plan: Plan | None) -> list[str]:
    """How much was found, in words that hold nothing of the project's."""
    review = sum(decision.action is Action.REVIEW for decision in found.decisions)
    edits = sum(edit.applied for edit in plan.edits) if plan else len(found.edits)
    counted = call.say(
        "mcp-counts",
        platform=quote_foreign(found.platform),
        sites=len(found.decisions),
        edits=edits,
        files=len(plan.files) if plan else len({edit.name for edit in found.edits}),
        review=review,
        skipped=sum(one.candidate for one in found.skipped),
    )
    left = len(plan.edits) - edits if plan else 0
    return [counted, *([call.say("mcp-left", n=left)] if left else [])]


def _format_entries(call: Call, report: dict[str, Any], kinds: Sequence[Kind]) -> list[str]:
    """A line for each entry, with all that is the project's in quotation marks."""
    lines = []
    for one in report["sites"] if "sites" in kinds else ():
        gives = ", ".join(call.say("gives-unknown") if value == "?" else quote_text(value) for value in one["resolves_to"])
        where = f"{quote_text(one['path'])}:{one['line']}"
        what = quote_foreign(one["surface"]) + (f"({quote_foreign(one['parameter'])})" if one["parameter"] else "")
        lines.append(f"{where} {what}{f' = {gives}' if gives else ''}: {one['action']}; {one['reason']}")
    for one in report["edits"] if "edits" in kinds else ():
        lines.append(
            f"{quote_text(one['path'])}:{one['line']} {quote_foreign(one['rule'])} ({one['applicability']}): {one['reason']}"
        )
    for one in report["advisories"] if "advisories" in kinds else ():
        where = f"{quote_text(one['path'])}:{one['line']} " if one["path"] else ""  # a note on the whole project
        lines.append(f"{where}{quote_foreign(one['rule'])}: {one['message']}")
    for one in report["skipped"] if "skipped" in kinds else ():
        lines.append(f"{quote_text(one['path'])}: {one['reason']}")
    return lines


def _encode_trace(call: Call, found: Survey, steps: tuple[Step, ...], origins: Sequence[Any]) -> list[dict[str, Any]]:
    from ddp_codemod.report.ink import Ink

    view = View(found, call.lang, Ink(False), found.root)
    encoded = []
    of_origins = [step for origin in origins for step in origin.steps]
    for step in (*(one for one in steps if one not in of_origins), *of_origins):
        line, _ = view.position(step.place)
        message = render(quote_reason(step.reason), call.lang)
        encoded.append(
            {"path": step.place.name, "line": line, "source": shorten_text(view.source_text(step.place)), "message": message}
        )
    return encoded


def _format_step(call: Call, one: dict[str, Any]) -> str:
    return f"{quote_text(one['path'])}:{one['line']} {quote_text(one['source'])}: {one['message']}"
