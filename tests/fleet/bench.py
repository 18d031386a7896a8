"""Measures a fleet run: two workers against one, what a repository costs beside its own work, and what each part could bear.

    python tests/fleet/bench.py [REPOSITORIES] [ROUNDS]      (make bench-fleet)

Rounds are paired: one worker and two by turns, so that other load on the machine meets both.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generate import harmless, template
from proof import START

NAMES = ("changes.patch", "report.json", "pull-request.md", "review.html")


@dataclass(frozen=True)
class Run:
    """One run, as its log tells it."""

    wall: float
    steady: float  # seconds from the first result to the last
    results: int
    own: float  # seconds that the median repository took in its process
    between: float  # seconds from one repository to the next on one worker, median


def fleet(listing: Path, out: Path, workers: int) -> Run:
    """Run the command over the list with so many workers."""
    import subprocess

    words = [sys.executable, "-c", START, "fleet", listing, "--platform", "rocm", "--out", out, "--workers", workers, "--quiet"]
    began = time.monotonic()
    subprocess.run([*map(str, words)], check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - began
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    stored = [entry["time"] for entry in log if entry["event"] == "stored"]
    starts: dict[int, list[float]] = {}
    for entry in log:
        if entry["event"] == "stored":
            starts.setdefault(entry["pid"], []).append(entry["time"])
    gaps = [later - earlier for times in starts.values() for earlier, later in pairwise(times)]
    rows = json.loads((out / "summary.json").read_text())["repositories"]
    own = statistics.median(row["seconds"] for row in rows)
    return Run(wall, max(stored) - min(stored), len(stored), own, statistics.median(gaps))


def scheduler(tasks: int) -> float:
    """Tasks a second that go through the client, the scheduler and two workers when they do nothing."""
    from distributed import Client, LocalCluster, as_completed

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as local,
        Client(local) as client,
    ):
        entry = b"x" * 300
        began = time.monotonic()
        waiting = iter(range(tasks))
        running = as_completed([client.submit(len, entry, pure=False) for _ in range(64) if next(waiting, None) is not None])
        for future in running:
            future.release()
            if next(waiting, None) is not None:
                running.add(client.submit(len, entry, pure=False))
        return tasks / (time.monotonic() - began)


def disk(folder: Path, results: int) -> float:
    """Results a second that the folder takes, each brought to the disk."""
    from ddp_codemod.write.results import publish

    files = {name: os.urandom(8000) for name in NAMES}
    began = time.monotonic()
    for number in range(results):
        publish(folder, f"r/{number}", files)
    return results / (time.monotonic() - began)


def main(argv: Sequence[str]) -> None:
    count = int(argv[0]) if argv else 120
    rounds = int(argv[1]) if len(argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        like = template(folder)
        listing = folder / "list.txt"
        listing.write_text("".join(f"{harmless(folder, number, like)}\n" for number in range(count)))
        ratios = []
        for number in range(rounds):
            print(f"load {os.getloadavg()[0]:.1f}")
            one, two = (fleet(listing, folder / f"out-{number}-{workers}", workers) for workers in (1, 2))
            for workers, run in ((1, one), (2, two)):
                print(
                    f"  {workers} workers: {run.wall:.1f} s in all, {run.results / run.steady:.2f} a second; a repository {run.own * 1e3:.0f} ms"
                    f" in its process, {(run.between - run.own) * 1e3:.0f} ms beside it"
                )
            ratios.append((two.results / two.steady) / (one.results / one.steady))
            print(f"  two to one: {ratios[-1]:.2f}")
        print(f"two to one, median of {rounds}: {statistics.median(ratios):.2f}")
        print(f"results to the disk: {disk(folder / 'disk', 200):.0f} a second")
    print(f"scheduler: {scheduler(3000):.0f} tasks a second")


if __name__ == "__main__":
    main(sys.argv[1:])
