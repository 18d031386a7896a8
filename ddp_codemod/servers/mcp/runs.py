"""The tool that runs a command of the user's, where the server was started with leave to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddp_codemod.cli.from_run import decoded, write_record
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.watch import WatchedRun, WatchRequest, observe_command, report_end
from ddp_codemod.machine.overlay import find_missed_groups
from ddp_codemod.model import Survey
from ddp_codemod.report import overlay, trials
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.view import View
from ddp_codemod.servers.mcp.answer import Answer
from ddp_codemod.servers.mcp.machines import make_listener
from ddp_codemod.servers.mcp.pages import limit_report
from ddp_codemod.servers.mcp.projects import Call
from ddp_codemod.servers.mcp.requests import VerifyRun
from ddp_codemod.servers.quoting import clean_report, clean_text, quote_foreign, quote_text


def verify_run(call: Call, asked: VerifyRun, python: str | None = None) -> Answer:
    """Run the command in the project's folder, and hold its process groups against the code."""
    project = call.roots.project(asked.paths)
    paths = tuple(map(str, project.paths))
    settings = Settings("verify", paths=paths, platform=asked.platform, folders=call.rule_folders, lang=call.lang, quiet=True)
    record = _record(call, asked.record) if asked.record else None
    wish = WatchRequest(asked.command, asked.stop, float(asked.limit_seconds), python, record)
    said = 0

    def tell(line: bytes) -> None:
        nonlocal said
        said += 1
        call.job.note(said, None, call.say("mcp-run-said", n=said))

    seen = observe_command(settings, make_listener(call), wish, tell, project.root)
    survey = seen.project.survey if seen.project else Survey(project.root, "", (), (), (), ())
    platform = seen.project.platform.id if seen.project else None
    view = View(survey, call.lang, Ink(False), survey.root)
    report = trials.encode_trials((), platform, call.lang, lambda _: None, overlay.encode_run(view, seen.laid, seen.ran))
    if record is not None:
        write_record(record, report)
    whole = json.loads(report)
    groups, left = limit_report(clean_report(whole["run"]), "groups", "not_reached")
    words = [
        call.say(_suggest_next_step(seen, asked)),
        *map(clean_text, report_end(make_listener(call), seen.found, seen.ran, wish)),
    ]
    words += [call.say("mcp-left-out", n=left)] if left else []
    made = {"root": clean_text(str(survey.root)), "report": {**clean_report({**whole, "run": {}}), "run": groups}}
    return Answer(made, tuple(words), (*map(_format_group, groups["groups"]), *_format_output(seen)))


def _record(call: Call, name: str) -> Path:
    """The file for the record: a new one in an open folder, or an earlier record. Raises Failure, OutsideRoots."""
    path = Path(name)
    path = call.roots.find(str(path.parent)) / path.name
    if os.path.lexists(path):
        path = call.roots.find(str(path))
        decoded(path)
    return path


def _suggest_next_step(seen: WatchedRun, asked: VerifyRun) -> str:
    """What to do with the run."""
    if not seen.found.asked:
        return "mcp-todo-no-group"
    if seen.laid is not None and any(find_missed_groups(seen.laid)):
        return "mcp-todo-recorded" if asked.record else "mcp-todo-missed"
    if seen.trains_apart:
        return "mcp-todo-apart"
    return "mcp-todo-verified" if seen.found.code == 0 else "mcp-todo-failed"


def _format_group(one: dict[str, Any]) -> str:
    where = f"{quote_text(one['stack'][0]['path'])}:{one['stack'][0]['line']} " if one["stack"] else ""
    return f"{where}{quote_foreign(one['call'])} {quote_text(one['backend'] or '-')}: {one['verdict']}"


def _format_output(seen: WatchedRun) -> Iterator[str]:
    """The end of what a command said that did not end well."""
    if seen.found.code != 0:
        yield from (quote_text(line, 240) for line in seen.found.output.decode("utf-8", "replace").splitlines()[-8:])
