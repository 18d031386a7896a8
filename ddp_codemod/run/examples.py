"""Runs the examples of the rule data: each is a small program that has to become its ``after``, or stay as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct

from ddp_codemod.catalog.advisory import AdviceExample
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Example, Platform, Surface
from ddp_codemod.parse.python import parse_tree
from ddp_codemod.versions import Stated

FILE = "example.py"
SCRIPT = "run.sh"
SETTINGS = "settings.yaml"
Fault = Literal["noisy", "missing", "wrong"]  # changed what had to stay; changed nothing; changed it to something else


class Case(Struct, frozen=True):
    """One example and where it is: ``id`` is ``KIND:ENTRY:NUMBER``, counted from 1 in the file's order."""

    id: str
    platform: str
    example: Example | AdviceExample


class Result(Struct, frozen=True):
    """What one example came to; ``diff`` shows expected against got, "" where it is as it should be."""

    id: str
    title: str
    fault: Fault | None = None
    diff: str = ""

    @property
    def ok(self) -> bool:
        """Whether the example turned into what it says."""
        return self.fault is None


def find_cases(rules: Rules, without: Rules | None = None) -> Iterator[Case]:
    """Every example of the rules, in a stable order, leaving out the entries whose ids are also in ``without``.

    Raises ValueError where a surface's or rule's example names no platform and the rule assumes none.
    """
    for kind, entries, known in (
        ("platform", rules.platforms.values(), without.platforms if without else ()),
        ("surface", rules.surfaces.values(), without.surfaces if without else ()),
        ("rule", rules.fixes.values(), without.fixes if without else ()),
    ):
        for entry in entries:
            if entry.id in known:
                continue
            for number, example in enumerate(entry.examples, 1):
                yield Case(f"{kind}:{entry.id}:{number}", _find_platform(entry, example), example)
    for advice in rules.advice.values():
        for number, said in enumerate(advice.examples if without is None or advice.id not in without.advice else (), 1):
            yield Case(f"advice:{advice.id}:{number}", said.platform, said)


def run_cases(rules: Rules, without: Rules | None = None) -> list[Result]:
    """Run every case; see ``cases`` for ``without``."""
    return [run_case(case, rules) for case in find_cases(rules, without)]


def run_case(case: Case, rules: Rules) -> Result:
    """Port the example twice in a folder of its own: the second time nothing may change, and the result has to parse."""
    example = case.example
    if isinstance(example, AdviceExample):
        return _run_advice(case, example, rules)
    before = example.before.removeprefix("\n")
    wanted = before if example.after is None else example.after.removeprefix("\n")
    with TemporaryDirectory(prefix="ddp-codemod-") as temporary:
        folder = Path(temporary).resolve()  # on macOS the temporary folder lies behind a link
        got, unread = _port(before, folder, case, rules)
        again = got if unread else _port(got, folder, case, rules)[0]
    if unread:
        return Result(case.id, example.title, "wrong", unread)
    if got != wanted:
        fault: Fault = "noisy" if wanted == before else "missing" if got == before else "wrong"
        return Result(case.id, example.title, fault, _make_diff(wanted, got, "expected", "got"))
    if again != got:
        return Result(case.id, example.title, "noisy", _make_diff(got, again, "first run", "second run"))
    try:
        parse_tree(got if example.file.endswith(".py") else "")
    except SyntaxError as why:
        return Result(case.id, example.title, "wrong", f"line {why.lineno}: {why.msg}\n")
    return Result(case.id, example.title)


def _find_platform(entry: Platform | Surface | Fix, example: Example) -> str:
    assumed = entry.id if isinstance(entry, Platform) else entry.platform if isinstance(entry, Fix) else None
    platform = example.platform or assumed
    if platform is None:
        raise ValueError(f'the example {example.title!r} of {entry.id!r} has no platform; add platform = "ID" to it')
    return platform


def _run_advice(case: Case, example: AdviceExample, rules: Rules) -> Result:
    """Look what is reported of which line; once it is ported, nothing that an edit can cure is reported any more."""
    ident = case.id.split(":")[1]
    before = example.before.removeprefix("\n")
    with TemporaryDirectory(prefix="ddp-codemod-") as temporary:
        folder = Path(temporary).resolve()
        got, unread, lines = _port_with_lines(before, folder, case, rules, ident)
        written = [(folder / name).read_text("utf-8") if after else "" for name, after in _list_beside(example)]
        again, _, left = _port_with_lines(got, folder, case, rules, ident)
    marked = {
        number
        for text in (before, *(held.removeprefix("\n") for held in (example.script, example.settings, example.requirements)))
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# said")
    }
    if unread:
        return Result(case.id, example.title, "wrong", unread)
    if lines != marked:
        difference = f"lines marked {sorted(marked)}, spoken of {sorted(lines)}\n"
        return Result(case.id, example.title, "noisy" if lines - marked else "missing", difference)
    for (_, after), held in zip(_list_beside(example), written, strict=True):
        if held != after.removeprefix("\n"):
            return Result(case.id, example.title, "wrong", _make_diff(after, held, "expected", "got"))
    if example.after is not None and (got != example.after.removeprefix("\n") or again != got or left):
        wanted = example.after.removeprefix("\n")
        return Result(
            case.id,
            example.title,
            "wrong",
            _make_diff(wanted, got, "expected", "got") or _make_diff(got, again, "first", "second"),
        )
    return Result(case.id, example.title)


def _list_beside(example: AdviceExample) -> tuple[tuple[str, str], ...]:
    """The files beside the program, and what becomes of them."""
    return (SCRIPT, example.script_after), (SETTINGS, example.settings_after)


def _port(text: str, folder: Path, case: Case, rules: Rules) -> tuple[str, str]:
    """The text as the pipeline leaves it, and the reasons why it could not read it, one a line."""
    got, unread, _ = _port_with_lines(text, folder, case, rules, "")
    return got, unread


def _port_with_lines(text: str, folder: Path, case: Case, rules: Rules, ident: str) -> tuple[str, str, set[int]]:
    """As ``_port``, with the lines that a rule speaks of."""
    # the pipeline is after this stage: only running the examples needs it
    from ddp_codemod.edits.render import render
    from ddp_codemod.run.options import Options
    from ddp_codemod.run.survey import survey

    if case.platform not in rules.platforms:
        raise ValueError(f"the example {case.id} asks for the platform {case.platform!r}, which no file defines")
    name = FILE if isinstance(case.example, AdviceExample) else case.example.file
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    if isinstance(case.example, Example) and case.example.beside:
        (folder / FILE).write_bytes(case.example.beside.encode("utf-8"))
    if isinstance(case.example, AdviceExample):
        one = case.example
        for beside, held in ((SCRIPT, one.script), (SETTINGS, one.settings), (one.requirements_file, one.requirements)):
            if held:
                (folder / beside).write_bytes(held.removeprefix("\n").encode("utf-8"))
    versions = {name: Stated(name, specifier, case.id) for name, specifier in case.example.versions.items()}
    found = survey(
        Options(
            (folder,),
            rules.platforms[case.platform],
            rules,
            fixes=_rules_of(rules, ident, case.platform) if isinstance(case.example, AdviceExample) else case.example.rules,
            root=folder,
            versions=versions,
            style=case.example.style,
        )
    )
    rendered = render(found, isinstance(case.example, AdviceExample) or case.example.unsafe)
    unread = _join_lines(f"{one.name}: {one.reason.key} {dict(one.reason.args)}" for one in (*found.skipped, *rendered.failed))
    for change in rendered.changes:
        if change.name == name:
            text = change.after.decode("utf-8")
        elif change.name in (SCRIPT, SETTINGS):
            (folder / change.name).write_bytes(change.after)
    said = {note.line or 1 for note in found.advisories if note.rule == ident}
    for decision in found.decisions:
        if decision.rule == ident:
            said.add(found.sources[decision.call.name].position(decision.call.start)[0])
    return text, unread, said


def _rules_of(rules: Rules, ident: str, platform: str) -> tuple[str, ...]:
    """The rule that has to be in force for an advice, where it is one that is asked for by its name."""
    rule = rules.fixes.get(rules.advice[ident].rule or "")
    return (rule.id,) if rule is not None and rule.platform == platform and rule.id not in rules.platforms[platform].rules else ()


def _join_lines(parts: Iterable[str]) -> str:
    return "".join(f"{part}\n" for part in parts)


def _make_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
