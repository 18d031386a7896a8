"""The tools that read a project, and the two that write into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ddp_codemod.api import Plan, plan_of, undo
from ddp_codemod.cli.from_run import read
from ddp_codemod.cli.settings import command_line
from ddp_codemod.health import Made
from ddp_codemod.messages import render, text
from ddp_codemod.model import Action, Applicability, Hop, Survey
from ddp_codemod.report.json import dumps
from ddp_codemod.report.view import View, shorten
from ddp_codemod.request import PlanError, look
from ddp_codemod.run.survey import about
from ddp_codemod.servers.mcp.answer import Answer, Refused
from ddp_codemod.servers.mcp.asked import Apply, Check, Diff, Explain, Kind, Paged, Project, Scan, Undo
from ddp_codemod.servers.mcp.pages import KINDS, bounded, page, patch_page
from ddp_codemod.servers.quoting import clean, document, guarded, named, quoted, told
from ddp_codemod.servers.roots import Roots, Within
from ddp_codemod.servers.work import Job

STEPS = 40  # of one line's explanation


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
    return _listed(call, asked, _look(call, asked), ("sites",))


def check(call: Call, asked: Check) -> Answer:
    """What would change."""
    return _listed(call, asked, _look(call, asked), ("edits", "skipped"))


def diff(call: Call, asked: Diff) -> Answer:
    """The patch, and the digest of the plan that apply takes."""
    found = _look(call, asked)
    plan = _planned(call, found, asked)
    report = json.loads(dumps(found, call.lang))
    lines = plan.patch.decode("utf-8", "backslashreplace").split("\n")[:-1]
    part = patch_page([clean(line.replace("\r", "\\r"), 1000) for line in lines], asked.patch_offset)
    taken, which = page(document(report), asked, ("edits",))
    todo = call.say("mcp-digest", digest=plan.digest) if plan.files else _todo(call, found)
    said = [todo, *_counts(call, found, plan)]
    if part["next"] is not None:
        said.append(call.say("mcp-patch-more", n=part["next"], total=part["total"]))
    made: dict[str, Any] = {"root": clean(str(found.root)), "report": taken, "page": which, "patch": part}
    made |= {"digest": plan.digest if plan.files else None, "files": len(plan.files)}
    return Answer(made, tuple(said), tuple(part["lines"]), shown=150)


def explain(call: Call, asked: Explain) -> Answer:
    """Why one line is changed, stays or needs review, step by step."""
    path = call.roots.find(asked.path)
    within = call.roots.project([asked.path])
    whole = _look(call, asked, Within((within.root, path), within.root))
    found = about(whole, path.relative_to(whole.root).as_posix(), asked.line)
    steps = [step for decision in found.decisions for step in _steps(call, found, decision.hops, decision.origins)]
    steps, unsaid = steps[:STEPS], len(steps[STEPS:])
    report, left = bounded(document(json.loads(dumps(found, call.lang))), *KINDS)
    said = [_todo(call, found), call.say("mcp-explained", n=len(found.decisions), platform=named(found.platform))]
    lines = [*_lines(call, report, ("sites", "edits", "advisories")), *(_step(call, one) for one in steps)]
    said += [call.say("mcp-left-out", n=left + unsaid)] if left + unsaid else []
    made = {"root": clean(str(found.root)), "report": report, **document({"steps": steps})}
    return Answer(made, tuple(said), tuple(lines))


def apply(call: Call, asked: Apply) -> Answer:
    """Write the plan that ``diff`` showed, and no other."""
    found = _look(call, asked)
    plan = _planned(call, found, asked)
    if plan.digest != asked.digest:
        raise Refused(call.say("mcp-other-plan"))
    with call.job.unbroken():
        try:
            names = plan.apply(allow_dirty=asked.allow_dirty)
        except PlanError as why:
            raise Refused(call.say("mcp-refused"), str(why)) from None
    back = {"tool": "undo", "arguments": {"path": str(found.root)}}
    command = command_line(["ddp-codemod", "undo", str(found.root)])
    made = {"root": clean(str(found.root)), "written": [*map(clean, names)], "digest": plan.digest}
    return Answer(
        {**made, "undo": {**back, "command": command}},
        (call.say("mcp-todo-written"), call.say("mcp-written", n=len(names)), call.say("mcp-take-back")),
        (quoted(command, 400), *map(quoted, names)),
    )


def take_back(call: Call, asked: Undo) -> Answer:
    """Give the files of the last apply their old bytes."""
    within = call.roots.project([asked.path] if asked.path else [])
    with call.job.unbroken():
        try:
            names = undo(within.paths[0], root=within.root)
        except PlanError as why:
            raise Refused(call.say("mcp-refused"), str(why)) from None
    made = {"root": clean(str(within.root)), "restored": [*map(clean, names)]}
    return Answer(made, (call.say("mcp-todo-restored"), call.say("mcp-restored", n=len(names))), tuple(map(quoted, names)))


def _look(call: Call, asked: Project, within: Within | None = None) -> Survey:
    """The survey that a request asks for, its sentences with the project's words quoted. Raises Refused."""
    within = within or call.roots.project(asked.paths)

    def progress(name: str, done: int, total: int) -> None:
        call.job.note(done, total, call.say("mcp-reading", done=done + 1, total=total))

    try:
        return guarded(
            look(
                within.paths,
                asked.platform,
                rules=asked.rules,
                rule_folders=call.rule_folders,
                torch_version=asked.torch_version,
                style=asked.style,
                env_in=asked.env_in,
                root=within.root,
                progress=progress,
                recorded=_recorded(call, asked, within),
            )
        )
    except PlanError as why:
        raise Refused(call.say("mcp-refused"), str(why)) from None


def _recorded(call: Call, asked: Project, within: Within) -> tuple[Made, ...]:
    """The groups of the run on record that a request names. Raises Failure for one of other files."""
    name = asked.from_run if isinstance(asked, (Diff, Apply)) else None
    return read(call.roots.find(name), within.root) if name else ()


def _planned(call: Call, found: Survey, asked: Project) -> Plan:
    call.job.note(1, 1, call.say("mcp-rendering"))
    return plan_of(found, unsafe=asked.unsafe, lang="zh" if call.lang == "zh" else "en")


def _listed(call: Call, asked: Paged, found: Survey, usual: Sequence[Kind]) -> Answer:
    report = document(json.loads(dumps(found, call.lang)))
    taken, which = page(report, asked, usual)
    said = [_todo(call, found), *_counts(call, found, None)]
    if which["next"] is not None:
        said.append(call.say("mcp-next", returned=which["returned"], total=which["total"], next=which["next"]))
    made = {"root": clean(str(found.root)), "report": taken, "page": which}
    return Answer(made, tuple(said), tuple(_lines(call, taken, asked.show or usual)))


def _todo(call: Call, found: Survey) -> str:
    """What to do with a finding next: what can be made, then what a person has to decide, else nothing."""
    if any(edit.applicability is Applicability.SAFE for edit in found.edits):
        return call.say("mcp-todo-diff")
    if found.edits:
        return call.say("mcp-todo-unsafe")
    review = any(one.action is Action.REVIEW for one in found.decisions) or found.unaccounted
    if review or any(one.candidate for one in found.skipped):
        return call.say("mcp-todo-review")
    return call.say("mcp-todo-none")


def _counts(call: Call, found: Survey, plan: Plan | None) -> list[str]:
    """How much was found, in words that hold nothing of the project's."""
    review = sum(decision.action is Action.REVIEW for decision in found.decisions)
    edits = sum(edit.applied for edit in plan.edits) if plan else len(found.edits)
    counted = call.say(
        "mcp-counts",
        platform=named(found.platform),
        sites=len(found.decisions),
        edits=edits,
        files=len(plan.files) if plan else len({edit.name for edit in found.edits}),
        review=review,
        skipped=sum(one.candidate for one in found.skipped),
    )
    left = len(plan.edits) - edits if plan else 0
    return [counted, *([call.say("mcp-left", n=left)] if left else [])]


def _lines(call: Call, report: dict[str, Any], kinds: Sequence[Kind]) -> list[str]:
    """A line for each entry, with all that is the project's in quotation marks."""
    lines = []
    for one in report["sites"] if "sites" in kinds else ():
        gives = ", ".join(call.say("gives-unknown") if value == "?" else quoted(value) for value in one["resolves_to"])
        where = f"{quoted(one['path'])}:{one['line']}"
        what = named(one["surface"]) + (f"({named(one['parameter'])})" if one["parameter"] else "")
        lines.append(f"{where} {what}{f' = {gives}' if gives else ''}: {one['action']}; {one['reason']}")
    for one in report["edits"] if "edits" in kinds else ():
        lines.append(f"{quoted(one['path'])}:{one['line']} {named(one['rule'])} ({one['applicability']}): {one['reason']}")
    for one in report["advisories"] if "advisories" in kinds else ():
        lines.append(f"{quoted(one['path'])}:{one['line']} {named(one['rule'])}: {one['message']}")
    for one in report["skipped"] if "skipped" in kinds else ():
        lines.append(f"{quoted(one['path'])}: {one['reason']}")
    return lines


def _steps(call: Call, found: Survey, hops: tuple[Hop, ...], origins: Sequence[Any]) -> list[dict[str, Any]]:
    from ddp_codemod.report.ink import Ink

    view = View(found, call.lang, Ink(False), found.root)
    steps = []
    of_origins = [hop for origin in origins for hop in origin.hops]
    for hop in (*(one for one in hops if one not in of_origins), *of_origins):
        line, _ = view.position(hop.place)
        said = render(told(hop.reason), call.lang)
        steps.append({"path": hop.place.name, "line": line, "source": shorten(view.source_text(hop.place)), "message": said})
    return steps


def _step(call: Call, one: dict[str, Any]) -> str:
    return f"{quoted(one['path'])}:{one['line']} {quoted(one['source'])}: {one['message']}"
