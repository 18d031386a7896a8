"""The tools that read a log, look at the machine, and run process groups on it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.signature import Cure
from ddp_codemod.cli.console import Console
from ddp_codemod.cli.diagnose import cure_command, find_code_cure, known_errors, usable_reading
from ddp_codemod.cli.doctor import examine_python, make_command
from ddp_codemod.cli.errors import Failure
from ddp_codemod.cli.run import configure_project, load_rules
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.verify import BOTH, Request, TrialRunner, find_trial_python
from ddp_codemod.discover.config import Config
from ddp_codemod.health import Diagnosis, Reading, VerifiedSite
from ddp_codemod.machine.diagnose import diagnose as read_log
from ddp_codemod.machine.locate import locate_frames
from ddp_codemod.machine.recognise import platforms_by_accelerator
from ddp_codemod.machine.trials import plan_trials
from ddp_codemod.machine.verify import LAUNCHES
from ddp_codemod.messages import in_language, render
from ddp_codemod.report import checkup as checkups
from ddp_codemod.report import diagnosis as diagnoses
from ddp_codemod.report import trials as tried
from ddp_codemod.report.json import dumps
from ddp_codemod.request import PlanError, make_options, survey_request
from ddp_codemod.run.survey import limit_to_line, survey
from ddp_codemod.servers.mcp.answer import Answer, Refused
from ddp_codemod.servers.mcp.pages import limit_report
from ddp_codemod.servers.mcp.projects import Call
from ddp_codemod.servers.mcp.requests import Diagnose, Doctor, Verify
from ddp_codemod.servers.quoting import (
    clean_report,
    clean_text,
    is_own_text,
    quote_foreign,
    quote_reason,
    quote_survey,
    quote_text,
)
from ddp_codemod.servers.roots import OutsideRoots, ProjectPaths


class Listener(Console):
    """A console that nobody reads: what is told of work that takes long becomes progress."""

    note: Callable[[str], None] = lambda said: None

    def out(self, line: str = "") -> None:
        """Nothing: standard output is the client's."""

    def raw(self, data: bytes) -> None:
        """Nothing either."""

    def error(self, line: str) -> None:
        """Nothing either."""

    def working(self, line: str) -> None:
        """Tell the client."""
        self.note(clean_text(line))


def diagnose(call: Call, asked: Diagnose) -> Answer:
    """What an error in a log means, why, and what to do."""
    if asked.text is None and asked.path is None and not asked.hang:
        raise Refused(call.say("mcp-diagnose-usage"))
    project = _find_project(call, asked)
    config, rules = _configure_project(call, project)
    settings = Settings("diagnose", folders=config.all_folders(call.rule_folders), lang=call.lang)
    with _open_log(call, asked) as stream:
        told_bytes = (lambda done: call.job.note(done, None, call.say("mcp-log", size=done >> 20))) if asked.path else None
        reading = usable_reading(read_log(stream, known_errors(settings), hang=asked.hang, progress=told_bytes), rules)
    sites = _find_sites(call, rules, reading, project)
    command = cure_command(rules, str(project.root) if project and asked.project else ".")
    whole = clean_report(json.loads(diagnoses.dumps(reading, asked.path or "", call.lang, command, sites)))
    report, left = limit_report(whole, "diagnoses", "sites")
    said, lines = _format_reading(call, reading, command)
    said += [call.say("mcp-left-out", n=left)] if left else []
    lines += [
        f"{quote_text(one['path'])}:{one['line']} {quote_foreign(one['surface'])}: {one['reason']}" for one in report["sites"]
    ]
    return Answer({"report": report}, tuple(said), tuple(lines))


def doctor(call: Call, asked: Doctor, python: str | None = None) -> Answer:
    """Which platform this machine is, and what is wrong with it."""
    settings = Settings("doctor", folders=call.rule_folders, lang=call.lang)
    stated = _find_stated_platform(call) if asked.platform is None else None
    found = examine_python(settings, make_listener(call), python, asked.platform or stated)
    line = make_command(found, load_rules(settings.folders))
    report = clean_report(json.loads(checkups.encode_checkup(found, call.lang, line)))
    states = [check.state for check in found.checks]
    key = "mcp-doctor" if found.platform else "mcp-doctor-unsure"
    if found.asked is not None:
        key = "mcp-doctor-named" if stated is None else "mcp-doctor-stated"
    text = call.say(
        key,
        platform=quote_foreign(found.asked or found.platform or ""),
        problems=states.count("problem"),
        warnings=states.count("warning"),
    )
    lines = [
        f"{check.state}: {' '.join(render(quote_reason(part), call.lang) for part in (check.said, check.why, check.todo) if part)}"
        for check in found.checks
        if check.state != "ok"
    ]
    platform = found.asked or found.platform
    todo = call.say("mcp-todo-platform", platform=quote_foreign(platform)) if platform else call.say("mcp-todo-unsure")
    if found.asked is not None and (lacking := checkups.count_lacking(found)):
        todo = call.say("doctor-asked-lacking", platform=quote_foreign(found.asked), n=lacking)
    known = found.asked is not None and found.platform is None  # then it is no news that the machine does not show it
    because = () if known else (render(quote_reason(found.because), call.lang),)
    return Answer({"report": report}, (todo, text), (*lines, *because))


def _find_stated_platform(call: Call) -> str | None:
    """The platform that the one project states which the client has open."""
    try:
        return _configure_project(call, call.roots.project(()))[0].platform
    except (OutsideRoots, ValueError, Failure):
        return None  # no project, several, or one with settings that other tools refuse


def verify(call: Call, asked: Verify, python: str | None = None) -> Answer:
    """Form each process group for real, in processes of its own."""
    project = call.roots.project(asked.paths)
    try:
        job = make_options(project.paths, asked.platform, root=project.root, rule_folders=call.rule_folders)
    except PlanError as why:
        raise Refused(call.say("mcp-refused"), str(why)) from None
    quiet = make_listener(call)
    exe = python or find_trial_python(quiet, project.root)
    launches = LAUNCHES if asked.launch == BOTH else (asked.launch,)
    known = known_errors(
        Settings("verify", folders=_configure_project(call, project)[0].all_folders(call.rule_folders), lang=call.lang)
    )
    stores = tuple(ident for ident, fix in job.rules.fixes.items() if fix.recipe == "init-method-query")
    found = quote_survey(survey(replace(job, fixes=stores)))
    device = next(
        (name for name, ident in platforms_by_accelerator(job.rules.platforms).items() if ident == job.platform.id), None
    )
    request = Request(exe, (asked.ranks,), launches, float(asked.seconds))
    attempts = TrialRunner(quiet, request, known, device, job.platform, job.rules.platforms)
    done: list[VerifiedSite] = []
    for one in plan_trials(found, job.rules.surfaces, job.platform):
        trial = one.trial
        outcome = tuple(attempts(trial)) if trial is not None else ()
        done.append(replace(one, tried=outcome))
    command = cure_command(job.rules, str(project.root))
    report, more = limit_report(clean_report(json.loads(tried.encode_trials(done, job.platform.id, call.lang, command))), "sites")
    states = [attempt.state for one in done for attempt in one.tried]
    text = call.say(
        "mcp-verified",
        platform=quote_foreign(job.platform.id),
        passed=states.count("passed"),
        failed=states.count("failed") + states.count("hung"),
        left=sum(one.trial is None for one in done) + states.count("skipped"),
    )
    said_more = (call.say("mcp-left-out", n=more),) if more else ()
    result = {"root": clean_text(str(found.root)), "report": report}
    trouble = states.count("failed") + states.count("hung")
    todo = call.say("mcp-todo-failed" if trouble else "mcp-todo-verified" if done else "mcp-todo-none")
    return Answer(result, (todo, text, *said_more), tuple(map(_format_trial, report["sites"])))


def _format_trial(one: dict[str, Any]) -> str:
    outcome = ", ".join(
        f"{each['launch']} {each['ranks']}: {each['state']}" + (f" {quote_text(each['error'])}" if each["error"] else "")
        for each in one["trials"]
    )
    return f"{quote_text(one['path'])}:{one['line']} {quote_foreign(one['surface'])} {quote_text(one['backend'] or '')}: {outcome or one['reason']}"


def make_listener(call: Call) -> Listener:
    """A console whose words become progress."""
    count = 0

    def note(said: str) -> None:
        nonlocal count
        count += 1
        call.job.note(count, None, said)

    return Listener(call.lang, quiet=True, note=note)


def _open_log(call: Call, asked: Diagnose) -> BinaryIO:
    if asked.path is None:
        return io.BytesIO((asked.text or "").encode("utf-8", "surrogatepass"))
    path = call.roots.find(asked.path)
    if not path.is_file():
        raise Refused(call.say("mcp-no-log"))
    return path.open("rb")


def _find_project(call: Call, asked: Diagnose) -> ProjectPaths | None:
    if asked.project is not None:
        return call.roots.project([asked.project])
    return call.roots.project([]) if len(call.roots.folders) == 1 else None


def _configure_project(call: Call, project: ProjectPaths | None) -> tuple[Config, Rules]:
    if project is None:
        return Config(Path()), load_rules(call.rule_folders)
    return configure_project(project.root, call.rule_folders)


def _find_sites(call: Call, rules: Rules, reading: Reading, project: ProjectPaths | None) -> dict[str, Any] | None:
    """The sites that the leading error's traceback goes through."""
    cure = find_code_cure(reading)
    frames = reading.diagnoses[0].first.frames if reading.diagnoses else ()
    if project is None or cure is None or not frames:
        return None
    platform = cure.platform or next((rules.fixes[rule].platform for rule in cure.rules), None)
    if platform is None:
        return None
    places = locate_frames(frames, project.root)[:3]
    if not places:
        return None
    whole = quote_survey(
        survey_request([project.root], platform, rules=cure.rules, root=project.root, rule_folders=call.rule_folders)
    )
    for path, line in places:
        found = limit_to_line(whole, path.relative_to(whole.root).as_posix(), line)
        if found.decisions:
            document: dict[str, Any] = json.loads(dumps(found, call.lang))
            return document
    return None


def _format_reading(call: Call, reading: Reading, command: Callable[[Cure], str | None]) -> tuple[list[str], list[str]]:
    """Our own words about a log, and quoted lines of it; what a rule file of the project's says is the project's."""
    if not reading.diagnoses:
        return [call.say("mcp-nothing-known", n=reading.lines)], []
    lead = reading.diagnoses[0]
    said, lines = [call.say("mcp-todo-cure" if lead.cures else "mcp-todo-above")], list[str]()
    for number, one in enumerate(reading.diagnoses[:5]):
        title, more = _describe_diagnosis(call, one, command if number == 0 else None)
        known = one.signature or one.outside
        if known is None or is_own_text(known.title):
            said += [title, *more]
        else:
            lines += [quote_text(title), *map(quote_text, more)]
        lines.append(call.say("mcp-log-line", line=one.first.line, n=one.first.count) + " " + quote_text(one.first.text, 240))
    return said, lines


def _describe_diagnosis(call: Call, one: Diagnosis, command: Callable[[Cure], str | None] | None) -> tuple[str, list[str]]:
    known = one.signature or one.outside
    title = (f"[{known.id}] " if known else "") + diagnoses.title_of(one, call.lang)
    if command is None:
        return title, []
    cause = diagnoses.explain_cause(one, call.lang)
    cures = []
    for number, cure in enumerate(one.cures, 1):
        words = [in_language(cure, "text", call.lang)]
        if command(cure) is not None:
            fixes = load_rules(()).fixes
            platform = cure.platform or next((fixes[rule].platform for rule in cure.rules if rule in fixes), None)
            key = f"mcp-cure{'-rules' if cure.rules else ''}{'' if platform else '-alone'}"
            words.append(call.say(key, platform=platform, rules=", ".join(cure.rules)))
        cures.append(f"{number}. " + " ".join(filter(None, words)))
    return title, [cause, *cures]
