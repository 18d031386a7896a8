"""Edits of launch files that choose devices by a variable which the platform's device ignores: ``CUDA_VISIBLE_DEVICES=0 python train.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct, field

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.values import ValueSet
from ddp_codemod.discover.kinds import is_aside, is_in_test_folder
from ddp_codemod.impact.advice_text import format_advice, format_left
from ddp_codemod.impact.advisories import PortedProject
from ddp_codemod.model import Action, Applicability
from ddp_codemod.parse.shell import GUIDE, Program, Script
from ddp_codemod.policy.findings import Finding, Splice
from ddp_codemod.sites.command_uses import CommandedUse

_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))(?:#|::|(?i:rem)\s).*$")
_SCRIPT = re.compile(r"[\w./-]*?([\w.-]+\.(?:sh|bash|slurm|sbatch))\b")
_ASSIGNED = {"make": r"\s*[:?+]?=[ \t]*", "docker": r"(?:=|[ \t]+)"}
# numbers of devices, or what only a run knows; no device at all, names of cards, and another order mean different things elsewhere
_VALUE = re.compile(r"""["']?(?:(?P<numbers>\d+(?:[ \t]*,[ \t]*\d+)*)(?![\w,-])|[^\s"';]*[$`(])""")


class LaunchVariables(Struct):
    """Looks through the launch files that start what is ported, or that are sourced or started by one that does."""

    whole: PortedProject
    _programs: dict[str, list[str]] = field(default_factory=dict)

    def find_edits(self, advice: Advice) -> Iterator[Finding]:
        """One finding a file: all its mentions of a variable change together; for review where one of them cannot."""
        pattern, device = advice.pattern, self.whole.context.platform.device
        if (
            pattern is None
            or pattern.use != "text"
            or device is None
            or advice.rewrite is None
            or advice.rewrite.recipe != "own-text"
        ):
            return
        project = self.whole.context.tracer.resolver.project
        for old in pattern.texts:
            new = device.visible.get(old, "")
            for script in (*project.scripts(old), *project.manifests(old)):
                if script.kind == GUIDE or is_in_test_folder(script.name) or is_aside(script.name):
                    continue  # what people read, or what checks the project on its makers' machines
                if (new and new in script.source.text) or not self._starts_ported(script):
                    continue  # the authors know the other device's variable
                places = list(_find_mentions(script, old))
                if any(_is_assigned(script, old, at) for at in places):
                    yield self._make_finding(advice, script, old, new, places)

    def _make_finding(self, advice: Advice, script: Script, old: str, new: str, places: list[int]) -> Finding:
        first = next(at for at in places if _is_assigned(script, old, at))
        word = Program(old, first, first + len(old), script.source.position(first)[0], first)
        use = CommandedUse(script, word, Surface(id=advice.id, names=(old,), source=advice.source))
        finding = Finding(use, "", None, ValueSet(), (), Action.KEEP, Applicability.SAFE, None, format_advice(advice))
        written = script.editable and script.source.file is script.source
        if not (new and self.whole.alone and written and all(_may_hold_elsewhere(script, old, at) for at in places)):
            return finding.review(advice.id, format_left(advice))
        changes = [Splice(script, at, new, length=len(old)) for at in places]
        return finding.edit(advice.id, False, format_advice(advice), changes)

    def _starts_ported(self, script: Script) -> bool:
        """Whether a launch file, or one that it names or that sources it, starts a program that is ported."""
        seen, todo = {script.name}, [script]
        while todo:  # two may name each other
            one = todo.pop()
            programs = self._find_programs(one)
            if any(map(self.whole.is_ported, programs)):
                return True
            related = [other for other in self._find_related(one, bool(programs)) if other.name not in seen]
            seen |= {other.name for other in related}
            todo += related
        return False

    def _find_programs(self, script: Script) -> list[str]:
        """The programs that a launch file starts."""
        if script.name not in self._programs:
            project = self.whole.context.tracer.resolver.project
            self._programs[script.name] = sorted({file for launch in script.launches for file in project.started(launch.program)})
        return self._programs[script.name]

    def _find_related(self, script: Script, starts: bool) -> Iterator[Script]:
        """The launch files that one names, and those that source one which starts nothing itself."""
        project, own = self.whole.context.tracer.resolver.project, PurePosixPath(script.name).name
        named = set(_SCRIPT.findall(_COMMENT.sub("", script.source.text))) - {own}
        others = map(project.script, (one for one in project.launchers if PurePosixPath(one).name in named))
        yield from (other for other in others if other is not None)
        if not starts:
            yield from (one for one in project.scripts(own) if any(PurePosixPath(name).name == own for name in one.sourced))


def _find_mentions(script: Script, name: str) -> Iterator[int]:
    """Where a file has the name outside of comments."""
    text = _COMMENT.sub(lambda found: " " * len(found[0]), script.source.text)
    yield from (found.start() for found in re.finditer(rf"\b{re.escape(name)}\b", text))


def _match_assignment(script: Script, name: str, at: int) -> re.Match[str] | None:
    """The sign between a name and the value that it gets there."""
    sign = re.compile(_ASSIGNED.get(script.kind, r"=") if script.source.text[at - 1 : at] not in ("$", "{") else r"(?!)")
    return sign.match(script.source.text, at + len(name))


def _is_assigned(script: Script, name: str, at: int) -> bool:
    """Whether a variable gets a value at a mention of it."""
    if script.kind == "manifest":  # a key or a word, whose value the reader sees
        return True
    return _match_assignment(script, name, at) is not None


def _may_hold_elsewhere(script: Script, name: str, at: int) -> bool:
    """Whether what a mention gives the variable, if it does, means the same to another device's."""
    sign = _match_assignment(script, name, at)
    if sign is None:
        return True
    value = _VALUE.match(script.source.text, sign.end())
    if value is None:
        return False
    numbers = [int(one) for one in (value["numbers"] or "").split(",") if one.strip()]
    return numbers == sorted(numbers)
