"""Writes every decision, edit and note of a collection of projects, a file each, so that a change of the engine can be compared.

``python benchmarks/decisions.py REPOSITORIES OUT [PLATFORM...]`` (make decisions): REPOSITORIES is a folder of plain trees; the small
projects of tests/traps are beside them. OUT/PLATFORM/NAME holds one line for each, sorted. ``diff -r`` of two such folders is what a
change does. Exit code: 0, or 1 where a project could not be read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).parent.parent
PLATFORMS = ("rocm", "windows", "ascend", "cpu", "single-gpu")
TOOL = [sys.executable, "-m", "ddp_codemod", "scan", "--format", "json", "-q", "--platform"]


def lines(found: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """What a report says, a line each; the kind of entry stands first."""
    for kind in ("sites", "edits", "advisories", "uncovered", "skipped"):
        yield from (f"{kind} {json.dumps(entry, ensure_ascii=False, sort_keys=True)}" for entry in found[kind])


def write(tree: Path, platform: str, out: Path) -> bool:
    """Write the file of one project on one platform; whether the tool came to an end."""
    ended = subprocess.run([*TOOL, platform, str(tree)], capture_output=True, check=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        said = "\n".join(sorted(lines(json.loads(ended.stdout))))
    except ValueError:
        said = ended.stderr.decode("utf-8", "replace")
        out.write_text(f"FAILED\n{said}", "utf-8")
        return False
    out.write_text(f"{said}\n", "utf-8")
    return True


def traps(folder: Path) -> Path:
    """The small projects of the tests, written out."""
    sys.path.insert(0, str(TOP))
    from tests.traps.test_traps import CASES

    for case in CASES:
        for name, text in case.before.items():
            path = folder / case.name.replace("/", "+") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
    return folder


def main() -> int:
    """Write all of them."""
    given, out, *platforms = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        roots = (Path(given), traps(Path(scratch)))
        trees = sorted(tree for root in roots for tree in root.iterdir() if tree.is_dir())
        todo = [(tree, platform, Path(out, platform, tree.name)) for platform in platforms or PLATFORMS for tree in trees]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            ended = list(pool.map(lambda one: write(*one), todo))
    print(f"{sum(ended)} of {len(ended)} projects written to {out}")
    return 0 if all(ended) else 1


if __name__ == "__main__":
    raise SystemExit(main())
