"""Runs the tools on the small projects of tests/traps, whose right outcome is written down, and counts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "traps"))
from test_traps import CASES, Case
from tools import Tool


@dataclass(frozen=True)
class Score:
    """Over all cases: places to change that came out right, of how many; cases that had to stay and were edited, of how many; others."""

    right: int
    places: int
    spoilt: int
    to_stay: int
    wrong: int  # cases with something to change in which a line came out as it should not


def cases() -> list[Case]:
    """The cases that any of the tools could be asked: GPUs without NCCL, no rule beside the platform's, Python files among them."""
    return [
        case for case in CASES if case.settings.get("platform", "rocm") == "rocm" and not set(case.settings) & {"rules", "xfail"}
    ]


def score(tool: Tool) -> Score:
    """What a tool makes of the cases."""
    chosen = cases()
    with TemporaryDirectory() as folder:
        top = Path(folder)
        for number, case in enumerate(chosen):
            for name, text in case.before.items():
                path = top / f"case{number:04}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
        if tool.ours:
            for number, case in enumerate(chosen):  # each is a project of its own, whose files it may look into
                _ours(top / f"case{number:04}", bool(case.settings.get("unsafe")))
        else:
            assert tool.rewrite is not None
            subprocess.run(tool.rewrite(top), check=False, capture_output=True)
        return _counted(chosen, top)


def _ours(root: Path, unsafe: bool) -> None:
    from ddp_codemod import plan

    for name, data in plan(root, "rocm", unsafe=unsafe).files.items():
        (root / name).write_bytes(data)


def _counted(chosen: Iterable[Case], top: Path) -> Score:
    right = places = spoilt = to_stay = wrong = 0
    for number, case in enumerate(chosen):
        after = {name: (top / f"case{number:04}" / name).read_bytes().decode("utf-8", "replace") for name in case.before}
        if case.untouched:
            to_stay += 1
            spoilt += after != case.before
            continue
        wanted = list(_changed(case.before, case.after))
        made = list(_changed(case.before, after))
        places += len(wanted)
        right += sum(change in made for change in wanted)
        wrong += any(change not in wanted for change in made)
    return Score(right, places, spoilt, to_stay, wrong)


def _changed(before: dict[str, str], after: dict[str, str]) -> Iterator[tuple[str, int, tuple[str, ...], tuple[str, ...]]]:
    """The stretches of lines that differ; quotes count as the same, as tools write the ones they were given."""
    from difflib import SequenceMatcher

    for name, text in before.items():
        old, new = (part.replace("'", '"').splitlines() for part in (text, after[name]))
        for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield name, a, tuple(old[a:b]), tuple(new[c:d])
