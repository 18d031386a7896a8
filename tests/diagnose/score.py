"""Scores ``diagnose`` on a folder of log texts that lies outside the project.

``python tests/diagnose/score.py FOLDER [--expected FILE] [--show KIND]``. Each line of ``FOLDER/*.jsonl`` is a case: ``id``, ``kind``
(``distributed`` or ``not distributed``), ``text``, ``truth`` for people; ``options`` (``--hang``) and ``first_rank`` may be left out.

FILE holds what a person holds for right, a JSON object a line: ``id``, ``named`` (ids of signatures that name the cause) and ``vague``
(those that are right and do not name it). Whatever else leads is misleading. Without FILE the answers of distributed cases are counted as
*claimed*, to be read against the truth that ``--show all`` prints.
"""

from __future__ import annotations

import argparse
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.health import Diagnosis, Reading
from ddp_codemod.machine.diagnose import diagnose

Case = dict[str, Any]


def cases(folder: Path) -> Iterator[Case]:
    """All cases of a folder, in the order of its files."""
    for path in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


def read(case: Case) -> Reading:
    """What ``diagnose`` makes of a case."""
    return diagnose(io.BytesIO(case["text"].encode()), load_diagnostics(), hang="--hang" in (case.get("options") or ""))


def judge(case: Case, lead: Diagnosis | None, expected: dict[str, Case]) -> str:
    """One word for an answer."""
    claimed = lead is not None and lead.signature is not None
    if case["kind"] != "distributed":
        return "claimed, wrongly" if claimed else "nothing claimed, rightly"
    if not claimed:
        if lead is not None and lead.outside is not None:
            return "told as an error of the program or the machine"
        return "the line quoted" if lead is not None else "nothing said"
    right = expected.get(case["id"])
    if right is None:
        return "claimed"
    assert lead is not None
    assert lead.signature is not None
    if lead.signature.id in right.get("named", ()):
        return "named"
    return "vague but right" if lead.signature.id in right.get("vague", ()) else "misleading"


def main() -> None:
    """Print the counts, and the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--expected", type=Path)
    parser.add_argument("--show", default="", help="a word of the outcomes whose cases are printed, or all")
    given = parser.parse_args()
    lines = given.expected.read_text("utf-8").splitlines() if given.expected else []
    expected = {entry["id"]: entry for entry in map(json.loads, lines)}
    counts: Counter[tuple[str, str]] = Counter()
    ranks: Counter[bool] = Counter()
    for case in cases(given.folder):
        reading = read(case)
        lead = reading.diagnoses[0] if reading.diagnoses else None
        outcome = judge(case, lead, expected)
        counts[case["kind"], outcome] += 1
        rank = case.get("first_rank")
        if rank is not None and lead is not None:
            ranks[str(rank) == next(iter(lead.first.ranks), "")] += 1
        if given.show and (given.show == "all" or given.show in outcome):
            print(f"{case['id']}: {outcome}\n    true: {case['truth']}")
            for one in reading.diagnoses:
                name = one.signature.id if one.signature else f"({one.outside.id})" if one.outside else "-"
                print(f"    {name} at {one.first.line}, ranks {','.join(one.first.ranks) or '-'}: {one.first.text[:110]}")
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {outcome}: {count}")
    print(f"first rank: {ranks[True]} of {ranks.total()} right")


if __name__ == "__main__":
    main()
