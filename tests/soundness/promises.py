"""What the tool promises of every program, tried on one."""

from __future__ import annotations

import difflib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soundness.programs import Program
from tests.soundness.runs import Ran, listed, port, run, write


@dataclass(frozen=True)
class Fault:
    """A promise that a program shows broken."""

    promise: str
    detail: str


def supported(group: dict[str, Any]) -> bool:
    """Whether the machine can make it: None is for torch to choose, or the default group's."""
    backend = group["backend"]
    if backend is None:
        return bool(group["asked"] == "new_group")
    return "nccl" not in backend.lower()


def kept(before: Ran, after: Ran) -> bool:
    """Whether every group that was supported is asked for as before."""
    pairs = zip(before.asked, after.asked, strict=False)
    return all(one == two for one, two in pairs if supported(one))


class Trial:
    """One program in a folder of its own: run, ported, run again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.faults: list[Fault] = []
        self.said: list[str] = []
        self.diff = ""
        with tempfile.TemporaryDirectory() as name:
            self.root = Path(name).resolve()
            write(self.root, program.files)
            self.before = run(self.root)
            self.typed = run(self.root, program.argv, program.environ)
            try:
                self._all()
            except Exception as why:
                self._note("the tool does not raise", f"{type(why).__name__}: {why}")

    def _note(self, promise: str, detail: object) -> None:
        self.faults.append(Fault(promise, str(detail)))

    def _all(self) -> None:
        found, rendered = port(self.root)
        self.said = listed(found, rendered)
        self.decisions = [
            f"{d.action.value} {d.applicability.value} {d.place.name} {d.value} -> {d.resolves_to}" for d in found.decisions
        ]
        self.safe = bool(rendered.changes)
        if rendered.failed:
            self._note("an edit that is offered can be made", [why.reason.key for why in rendered.failed])
        everything = port(self.root, unsafe=True)[1]
        write(self.root, {change.name: change.after for change in rendered.changes})
        self.diff = self._diff()
        self._after_safe()
        if port(self.root)[1].changes:
            self._note("a second run changes nothing", self._diff())
        if everything.changes != rendered.changes:
            write(self.root, self.program.files)
            write(self.root, {change.name: change.after for change in everything.changes})
            self._after_unsafe()

    def _after_safe(self) -> None:
        after = self.after = run(self.root)
        before = self.before
        if after.error and not before.error:
            return self._note("safe edits raise nothing", after.error)
        if after.others != before.others:
            self._note("safe edits change nothing but backends", f"{before.others} -> {after.others}")
        if after.noise != before.noise:
            self._note("safe edits leave other things alone", f"{before.noise} -> {after.noise}")
        if not kept(before, after):
            self._note("supported backends stay", f"{before.backends} -> {after.backends}")
        if not self.said and not all(map(supported, after.asked)):
            self._note("silence means that all is supported", f"{before.backends} -> {after.backends}")
        typed = run(self.root, self.program.argv, self.program.environ)
        if not kept(self.typed, typed):
            self._note("what a person types stays", f"{self.typed.backends} -> {typed.backends}")
        return None

    def _after_unsafe(self) -> None:
        after = run(self.root)
        if after.error and not self.before.error:
            self._note("unsafe edits raise nothing", f"{after.error}\n{self._diff()}")
        elif len(after.asked) != len(self.before.asked):
            self._note("unsafe edits keep the groups", self._diff())

    def _diff(self) -> str:
        lines: list[str] = []
        for name, text in sorted(self.program.files.items()):
            now = (self.root / name).read_text("utf-8")
            lines += difflib.unified_diff(text.splitlines(), now.splitlines(), name, name, n=0, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "@@")))

    def __str__(self) -> str:
        faults = "\n".join(f"BROKEN: {fault.promise}: {fault.detail}" for fault in self.faults)
        parts = {
            "asked before": self.before.backends,
            "the tool decided": getattr(self, "decisions", None),
            "it lists": self.said,
            "it changed": f"\n{self.diff}" if self.diff else "nothing",
        }
        told = "\n".join(f"{head}: {text}" for head, text in parts.items())
        return f"\n{self.program}\n{faults}\n{told}"
