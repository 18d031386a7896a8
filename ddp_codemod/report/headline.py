"""The first sentences about a run: what was done, what does not work yet, and what the run did not look at."""

from __future__ import annotations

from msgspec.structs import replace

from ddp_codemod.model import Action, Applicability
from ddp_codemod.report.change_summary import summarize_changes
from ddp_codemod.report.device_kinds import format_device_count, is_device_rule, launched, list_apart
from ddp_codemod.report.fixes import format_fixes, lead_fixes
from ddp_codemod.report.outcome import Left, Outcome, format_remaining
from ddp_codemod.report.view import NAMED, View, name_first

UNKNOWN = "?"  # among what a site resolves to


def format_headline(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What was done, and whether that is all."""
    block = [*report_broken_state(view, outcome, left), *report_done(view, outcome, left)]
    if remains := report_remaining(view, left):
        return [*block, *remains]
    return [*block, *report_completion(view, outcome)]


def report_done(view: View, outcome: Outcome, left: Left) -> list[str]:
    """What was done."""
    survey = view.survey
    if outcome.made:
        files = len({edit.name for edit in outcome.made})
        key = {"written": "summary-written", "shown": "summary-shown"}.get(outcome.done, "summary-found")
        what = summarize_changes(view, outcome.made)
        fixes = format_fixes(view, outcome.made)
        line = view.say(f"{key}-as" if what else key, fixes=fixes, files=files, platform=survey.platform, what=what)
    elif survey.elsewhere:
        return _elsewhere(view)
    elif outcome.base and not outcome.left and not format_remaining(view, left):
        line = view.say("summary-no-lines", platform=survey.platform, base=outcome.base)
    elif survey.hidden:
        line = view.say("summary-nothing-here", platform=survey.platform)
    elif not survey.decisions and not outcome.left and not survey.uncovered and not any(note.open for note in survey.advisories):
        line = view.say("summary-nothing-read" if left.skipped else "summary-no-sites", platform=survey.platform)
    else:
        none = "summary-none-made" if format_remaining(view, replace(left, skipped=0)) else "summary-nothing"
        none = "summary-nothing-read" if none == "summary-nothing" and left.skipped else none
        none = none if not outcome.left else "summary-none-written" if outcome.done == "written" else "summary-no-safe"
        line = view.say(none, platform=survey.platform)
    return [
        *_elsewhere(view),
        *(view.ink(one, "bold") for one in view.folded(line, 0, 2)),
        *_report_unsafe_changes(view, outcome),
        *_launched(view, outcome),
        *(view.folded(view.say("summary-part"), 0, 2) if is_nothing_in_part(outcome) else ()),
    ]


def is_nothing_in_part(outcome: Outcome) -> bool:
    """Whether nothing changes in what the run was about, which is not the whole project: a fix may begin elsewhere in it."""
    return bool(outcome.whole) and not outcome.made and not outcome.left


def _elsewhere(view: View) -> list[str]:
    """That an earlier apply moved the code to a device which the platform lacks; [] where none did."""
    survey = view.survey
    if not survey.elsewhere:
        return []
    line = view.say("summary-elsewhere", platform=survey.platform, other=survey.elsewhere)
    return [view.ink(one, "bold") for one in view.folded(line, 0, 2)]


def report_remaining(view: View, left: Left) -> list[str]:
    """What remains to be done; [] where nothing does."""
    if not (remains := format_remaining(view, left)):
        return []
    key = "summary-left" if left.device or left.unsafe else "summary-left-by-hand"
    return [view.ink(one, "bold", "yellow") for one in view.folded(view.say(key, what=remains), 0, 2)]


def report_completion(view: View, outcome: Outcome) -> list[str]:
    """Where nothing remains: that nothing else is to be done, as far as that is known."""
    survey = view.survey
    if outcome.made and outcome.done != "scanned" and not survey.hidden and not survey.elsewhere:
        return view.folded(_format_completion(view), 0, 2)
    if not outcome.made and (notes := len(survey.advisories)) and outcome.done != "scanned":
        return view.folded(view.say("summary-notes", n=notes), 0, 2)
    return []


def is_half_port(view: View, outcome: Outcome, left: Left) -> bool:
    """Whether the code asks for a device which the machine lacks until the rest of the changes is made."""
    return lacks_device(view, left) and outcome.done in ("written", "shown")


def lacks_device(view: View, left: Left) -> bool:
    """Whether the code still uses a device in whose place the machine has another one."""
    about = view.survey.devices
    return bool(left.device and about is not None and about.new)


def report_broken_state(view: View, outcome: Outcome, left: Left, short: bool = False) -> list[str]:
    """That the code asks for a device which the machine lacks until the rest is done, and the commands that do all of it.

    ``short``: without the commands, which are among the steps below.
    """
    about = view.survey.devices
    if about is None or not is_half_port(view, outcome, left):
        return []
    words = {"old": about.old, "new": about.new, "platform": view.survey.platform}
    vendor = find_vendor_command(view, outcome)
    text = view.say("screen-half" if short else "summary-half-ways" if vendor else "summary-half", **words)
    head = [view.ink(one, "bold", "yellow") for one in view.folded(text, 0, 2)]
    if short:
        return head
    whole = outcome.again("apply", "--unsafe")
    if vendor:
        return [*head, *(f"  {mark} {view.ink(one, 'bold')}" for mark, one in (("a.", vendor), ("b.", whole)))]
    return [*head, f"  {view.ink(whole, 'bold')}"] if whole else head


def find_vendor_command(view: View, outcome: Outcome) -> str:
    """The command that imports the vendor's module in place of moving each use of the device; "" where there is no such way."""
    about = view.survey.devices
    if about is None or not about.entries or not any(is_device_rule(decision.rule) for decision in view.survey.decisions):
        return ""
    return outcome.again("apply", "--rule", about.vendor, "--unsafe")


def _report_unsafe_changes(view: View, outcome: Outcome) -> list[str]:
    """What to do about the fixes that are unsafe, with their places where they are few; the list of changes marks all."""
    unsafe = lead_fixes(outcome.made, view.survey, Applicability.UNSAFE)
    if not unsafe:
        return []
    places = list(dict.fromkeys(view.at(edit.name, view.edit_line(edit)) for edit in unsafe))
    if len(unsafe) > NAMED or len(unsafe) == len(lead_fixes(outcome.made, view.survey)):
        return view.folded(view.say("summary-unsafe"), 0, 2)
    return view.folded(view.say("summary-unsafe-at", n=len(unsafe), which=view.say("list-comma").join(places)), 0, 2)


def _launched(view: View, outcome: Outcome) -> list[str]:
    """How many processes there will be where the changes take that number from a launcher."""
    apart, lines = list_apart(view), list[str]()
    for variable, found in launched(view, outcome.made).items():
        said = view.say("summary-launched", which=name_first(view, found), variable=variable)
        if apart:
            said = view.say(
                "summary-launched-apart", which=name_first(view, found), variable=variable, apart=name_first(view, apart)
            )
        lines += view.folded(said, 0, 2)
    return lines


def _format_completion(view: View) -> str:
    """That nothing else is to be done, as far as that is known."""
    result = (site for site in view.survey.decisions if site.action is Action.EDIT)
    # a safe edit is at the call then, and takes whatever comes in
    if open_ := sum(UNKNOWN in site.resolves_to and site.applicability is Applicability.UNSAFE for site in result):
        return view.say("summary-open", n=open_)
    notes = len(view.survey.advisories)
    key = "summary-complete-training" if view.survey.unreached else "summary-complete"  # what else uses the device stays as it is
    if view.survey.unfollowed or view.survey.without_entry_point:
        key = "summary-complete-seen"  # code that was not looked at may run
    return view.say(f"{key}-notes" if notes else key, n=notes)


def report_coverage(view: View, short: bool = False) -> list[str]:
    """How many files were read, how many call sites were looked at, and how many of them need nothing: the others are fixes, or listed."""
    survey = view.survey
    sites = [site for site in survey.decisions if not is_device_rule(site.rule)]  # uses of a device have a count of their own
    if short or not sites:
        return view.folded(view.say("summary-files", n=survey.files_seen), 0, 2)
    kept = sum(site.action is Action.KEEP for site in sites)
    line = view.say("summary-counts" if kept else "summary-sites", files=survey.files_seen, sites=len(sites), kept=kept)
    return view.folded(line, 0, 2)


def report_exclusions(view: View) -> list[str]:
    """What was omitted of the count, or left alone, and why."""
    survey = view.survey
    lines: list[str] = []
    if survey.ignored:
        lines += view.folded(view.say("summary-ignored", n=survey.ignored), 0, 2)
    if survey.hidden:
        lines += view.folded(view.say("summary-hidden", n=survey.hidden), 0, 2)
    if survey.unfollowed:
        which = name_first(view, dict.fromkeys(map(view.where, survey.unfollowed)))
        lines += view.folded(view.say("summary-unfollowed", n=len(survey.unfollowed), which=which), 0, 2)
    if survey.unreached:
        files = name_first(view, map(view.path, survey.unreached), len(survey.unreached) if view.verbose else NAMED)
        lines += view.folded(format_device_count(view, "summary-unreached", len(survey.unreached), files), 0, 2)
    if survey.without_entry_point:
        lines += view.folded(view.say("summary-without-entry-point", n=survey.without_entry_point), 0, 2)
    for told, key in ((True, "version-unstated-option"), (False, "version-unstated")):
        packages = [name for name, asked in survey.unstated if asked is told] if survey.decisions else []
        lines += view.folded(view.say(key, package=view.say("list-comma").join(packages)), 0, 2) if packages else []
    if survey.excluded:
        lines += view.folded(view.say("summary-excluded", n=survey.excluded), 0, 2)
    return lines
