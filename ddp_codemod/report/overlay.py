"""The reports of a run that was held against the survey of its project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ddp_codemod import __version__
from ddp_codemod.health import Frame, GroupComparison, Overlay, StepAgreement
from ddp_codemod.kinds import GroupMatch
from ddp_codemod.model import Action, Decision, Place
from ddp_codemod.report.masked import Masked
from ddp_codemod.report.view import View

UNKNOWN = "?"
SHOWN = 10  # sites that were not reached; -v shows all
MISSED = (GroupMatch.PLACE, GroupMatch.OPEN, GroupMatch.VALUE)
_COLOURS = {GroupMatch.PLACE: "red", GroupMatch.VALUE: "red", GroupMatch.OPEN: "red", GroupMatch.OTHER_MACHINE: "yellow"}


class Ran(Struct, frozen=True):
    """A command that ran: its words, how it ended (None: time was up), how many ranks formed a group, what their steps show."""

    command: str
    code: int | None
    ranks: int
    in_step: StepAgreement | None = None
    imitated: int = 0  # ranks that a stand-in answered
    left: int = 0  # processes that the command left running
    files: dict[str, str] = {}  # the files that the groups were made from, with what they held


def format_overlay(view: View, found: Overlay, command: str, from_run: str = "") -> Iterator[str]:
    """What the run did, place by place; ``command`` is the one that changes the project, ``from_run`` that which reads the record."""
    yield view.ink(head(view, found), "bold")
    for one in found.held:
        yield from _format_group(view, one, found, command)
    if any(one.fails and one.seen in MISSED and not _has_edit(one) for one in found.held):
        key = "overlay-from-run" if from_run else "overlay-to-record"
        yield from view.folded(view.say(key, command=from_run), 2, 4)
    if found.not_reached:
        yield view.say("overlay-not-reached", n=len(found.not_reached))
        shown = found.not_reached if view.verbose else found.not_reached[:SHOWN]
        yield from (f"    {view.where(site.call)}  {view.site(site)}" for site in shown)
        if len(shown) < len(found.not_reached):
            yield "    " + view.say("overlay-more", n=len(found.not_reached) - len(shown))


def head(view: View, found: Overlay) -> str:
    """How many groups agree with the code."""
    agree = sum(one.seen is GroupMatch.AGREES for one in found.held)
    return view.say("overlay-head", platform=found.platform, n=len(found.held), agree=agree)


def _format_group(view: View, one: GroupComparison, found: Overlay, command: str) -> Iterator[str]:
    result, platform = one.made, found.platform
    where = _format_place(view, result.stack) if result.stack else view.say("overlay-no-place")
    text = view.say("overlay-group", where=where, said=sentence(view, one, platform), n=len(result.ranks))
    yield from _color_block(view, view.folded(text, 2, 6), one.seen)
    for told in details(view, one, platform, command):
        yield from view.folded(told, 6, 8)
    if one.bug:
        yield "        " + format_bug_report_line(view, one, found)


def sentence(view: View, one: GroupComparison, platform: str) -> str:
    """What a group got, and whether reading had it."""
    result = one.made
    value = view.say("overlay-no-backend") if result.backend is None else f'"{result.backend}"'
    read = view.say("list-comma").join(_format_predicted(view, one.predicted)) or view.say("gives-unknown")
    words = {"call": result.call, "value": value, "read": read, "caller": result.caller or "", "machine": one.machine}
    key = "text" if one.seen is GroupMatch.PLACE and (result.caller or "").startswith("<") else one.seen.value
    key = "library" if key == GroupMatch.PLACE.value and result.caller is not None else key
    key = "unreachable" if one.seen is GroupMatch.VALUE and _is_only_unreached(one) else key
    return view.say(f"overlay-{key}", platform=platform, **words)


def details(view: View, one: GroupComparison, platform: str, command: str) -> Iterator[str]:
    """Where its call site is, if elsewhere, and what to do."""
    result = one.made
    if len(one.settings) > 1:
        yield view.say("overlay-settings", n=len(one.settings), where=view.where(one.settings[0].call))
    elif one.site is not None and _find_line(view, one.site) not in [(frame.path, frame.line) for frame in result.stack[:1]]:
        yield view.say("overlay-site", where=view.where(one.site.call), name=view.site(one.site))
    if one.fails:
        failing = view.say("overlay-default", platform=platform) if result.backend is None else f'"{result.backend}"'
        key = "overlay-fails-mend" if _has_edit(one) else "overlay-fails"
        yield view.say(key, value=failing, platform=platform, command=command)
    if one.bug:
        yield view.say("overlay-bug")


def _has_edit(one: GroupComparison) -> bool:
    """Whether reading has an edit of the call site that gave the value: also one that replaces whichever value arrives there."""
    read = one.predicted
    return one.site is not None and one.site.action is Action.EDIT and (one.made.backend in (None, *read) or read == (UNKNOWN,))


def _format_predicted(view: View, predicted: tuple[str, ...]) -> Iterator[str]:
    yield from (view.say("gives-unknown") if value == UNKNOWN else f'"{value}"' for value in predicted)


def _is_only_unreached(one: GroupComparison) -> bool:
    """Whether it is not the value that differs, but that the call is reached at all."""
    return (one.made.backend or "").lower() in {value.lower() for value in one.predicted} or not one.predicted


def _color_block(view: View, block: list[str], seen: GroupMatch) -> Iterator[str]:
    colour = _COLOURS.get(seen)
    yield from (view.ink(line, colour) if colour else line for line in block)


def _format_place(view: View, stack: tuple[Frame, ...]) -> str:
    return view.at(stack[0].path, stack[0].line)


def _find_line(view: View, site: Decision) -> tuple[str, int]:
    return site.call.name, view.position(site.call)[0]


def format_bug_report_line(view: View, one: GroupComparison, found: Overlay, masked: Masked | None = None) -> str:
    """One line for a bug report, without names of the project's: what was read of a site, and what ran. The same in every language."""
    assert one.site is not None
    masked = masked or Masked(found.public)
    kinds = ",".join(dict.fromkeys(origin.kind.value for origin in one.site.origins))
    read = ",".join(value if value == UNKNOWN else masked.value(value) for value in one.predicted)
    ran = masked.value(one.made.backend) if one.made.backend is not None else None
    platform, site = masked.code(found.platform), masked.code(view.site(one.site))  # also of a project's own rules
    return f"ddp-codemod {__version__} {platform} {site} read={read} from={kinds} as={one.site.reason.key} ran={ran}"


def report(view: View, found: Overlay) -> str:
    """The predictions that a run shows to be wrong, for a bug report: the way from each call to its value, in masked code; "" for none."""
    return "\n".join(line for one in found.held if one.bug for line in (*_reported(view, one, found), ""))


def _reported(view: View, one: GroupComparison, found: Overlay) -> Iterator[str]:
    assert one.site is not None
    masked = Masked(found.public)
    yield format_bug_report_line(view, one, found, masked)
    through = [masked.name(package) if package.isidentifier() else "<text>" for package in one.made.through]
    yield f"  ran   {one.made.call} through={','.join(through)} typed={one.made.typed} frames={len(one.made.stack)}"
    yield f"  call  {masked.code(_source(view, one.site.call))}"
    for step in one.site.steps:
        yield f"  step  {step.reason.key}: {masked.code(_source(view, step.place))}"
    for origin in one.site.origins:
        yield f"  from  {origin.kind.value} known={origin.known}: {masked.code(_source(view, origin.place))}"
        for step in origin.steps:
            yield f"    step  {step.reason.key}: {masked.code(_source(view, step.place))}"


def _source(view: View, place: Place) -> str:
    source = view.survey.sources.get(place.name)
    return source.text[place.start : place.end] if source else ""


def encode_run(view: View, found: Overlay | None, ran: Ran) -> dict[str, Any]:
    """The run for programs: trials.schema.json says what it holds."""
    held, left = (found.held, found.not_reached) if found else ((), ())
    return {
        "command": ran.command,
        "exit_code": ran.code,
        "ranks": ran.ranks,
        "sync_check": _encode_agreement(ran.in_step) if ran.in_step else None,
        "simulated_ranks": ran.imitated,
        "killed_processes": ran.left,
        "files": ran.files,
        "groups": [_encode_group(view, one, found) for one in held] if found else [],
        "not_reached": [_encode_site(view, site) for site in left],
    }


def _encode_group(view: View, one: GroupComparison, found: Overlay) -> dict[str, Any]:
    result = one.made
    return {
        "call": result.call,
        "backend": result.backend,
        "via": list(result.through),
        "ranks": list(result.ranks),
        "stack": _encode_stack(result.stack),
        "span": list(result.span) if result.span else None,
        "passed": {"positional": result.passed[0], "keywords": list(result.passed[1])},
        "library_parameters": [{"parameter": name, "position": position} for name, position in result.taken],
        "string_line": result.text_line or None,
        "set_at_launch": result.typed,
        "verdict": one.seen.value,
        "site": _encode_site(view, one.site) if one.site and len(one.settings) < 2 else None,
        "predicted": list(one.predicted),
        "fails": one.fails,
        "machine_platform": one.machine or None,
        "bug_report": format_bug_report_line(view, one, found) if one.bug else None,
    }


def _encode_agreement(found: StepAgreement) -> dict[str, Any]:
    return {
        "step": found.number,
        "ranks": found.ranks,
        "diverged": found.apart,
        "gradients": list(found.sums),
        "stack": _encode_stack(found.stack),
    }


def _encode_stack(frames: tuple[Frame, ...]) -> list[dict[str, Any]]:
    return [{"path": frame.path, "line": frame.line} for frame in frames]


def _encode_site(view: View, site: Decision) -> dict[str, Any]:
    name, line = _find_line(view, site)
    return {"path": name, "line": line, "surface": site.surface, "parameter": site.parameter}
