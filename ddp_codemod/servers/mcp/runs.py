"""The tool that runs a command of the user's, where the server was started with leave to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddp_codemod.cli.from_run import decoded, written
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.watch import Seen, Wish, ended, observe
from ddp_codemod.machine.overlay import missed
from ddp_codemod.model import Survey
from ddp_codemod.report import overlay, trials
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.view import View
from ddp_codemod.servers.mcp.answer import Answer
from ddp_codemod.servers.mcp.asked import VerifyRun
from ddp_codemod.servers.mcp.machines import listener
from ddp_codemod.servers.mcp.pages import bounded
from ddp_codemod.servers.mcp.projects import Call
from ddp_codemod.servers.quoting import clean, document, named, quoted


def verify_run(call: Call, asked: VerifyRun, python: str | None = None) -> Answer:
    """Run the command in the project's folder, and hold its process groups against the code."""
    within = call.roots.project(asked.paths)
    paths = tuple(map(str, within.paths))
    settings = Settings("verify", paths=paths, platform=asked.platform, folders=call.rule_folders, lang=call.lang, quiet=True)
    record = _record(call, asked.record) if asked.record else None
    wish = Wish(asked.command, asked.stop, float(asked.limit_seconds), python, record)
    said = 0

    def tell(line: bytes) -> None:
        nonlocal said
        said += 1
        call.job.note(said, None, call.say("mcp-run-said", n=said))

    seen = observe(settings, listener(call), wish, tell, within.root)
    survey = seen.project.survey if seen.project else Survey(within.root, "", (), (), (), ())
    platform = seen.project.platform.id if seen.project else None
    view = View(survey, call.lang, Ink(False), survey.root)
    report = trials.dumps((), platform, call.lang, lambda _: None, overlay.entry(view, seen.laid, seen.ran))
    if record is not None:
        written(record, report)
    whole = json.loads(report)
    groups, left = bounded(document(whole["run"]), "groups", "not_reached")
    words = [call.say(_next(seen, asked)), *map(clean, ended(listener(call), seen.found, seen.ran, wish))]
    words += [call.say("mcp-left-out", n=left)] if left else []
    made = {"root": clean(str(survey.root)), "report": {**document({**whole, "run": {}}), "run": groups}}
    return Answer(made, tuple(words), (*map(_group, groups["groups"]), *_output(seen)))


def _record(call: Call, name: str) -> Path:
    """The file for the record: a new one in an open folder, or an earlier record. Raises Failure, OutsideRoots."""
    path = Path(name)
    path = call.roots.find(str(path.parent)) / path.name
    if os.path.lexists(path):
        path = call.roots.find(str(path))
        decoded(path)
    return path


def _next(seen: Seen, asked: VerifyRun) -> str:
    """What to do with the run."""
    if not seen.found.asked:
        return "mcp-todo-no-group"
    if seen.laid is not None and any(missed(seen.laid)):
        return "mcp-todo-recorded" if asked.record else "mcp-todo-missed"
    if seen.trains_apart:
        return "mcp-todo-apart"
    return "mcp-todo-verified" if seen.found.code == 0 else "mcp-todo-failed"


def _group(one: dict[str, Any]) -> str:
    where = f"{quoted(one['stack'][0]['path'])}:{one['stack'][0]['line']} " if one["stack"] else ""
    return f"{where}{named(one['call'])} {quoted(one['backend'] or '-')}: {one['verdict']}"


def _output(seen: Seen) -> Iterator[str]:
    """The end of what a command said that did not end well."""
    if seen.found.code != 0:
        yield from (quoted(line, 240) for line in seen.found.output.decode("utf-8", "replace").splitlines()[-8:])
