"""Measures a fleet run: two workers against one, what a repository costs beside its own work, and what each part could bear.

    python tests/fleet/bench.py [REPOSITORIES] [ROUNDS] [LIST]      (make bench-fleet)

Rounds are paired: one worker and two by turns, so that other load on the machine meets both. Small generated repositories are read
where they lie, and asked for as of a server (file://); LIST may name real ones. Processor time hangs less on other load than
seconds do: one more run of each kind tells it by process.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))
from generate import harmless, template
from proof import START

NAMES = ("changes.patch", "report.json", "pull-request.md", "review.html")


@dataclass(frozen=True)
class Run:
    """One run, as its log tells it."""

    wall: float
    steady: float  # seconds from the start of the first repository to the last result
    results: int
    own: float  # seconds that the median repository took in its process
    between: float  # seconds from one repository to the next on one worker, median


def start(listing: Path, out: Path, workers: int) -> subprocess.Popen[bytes]:
    """Start the command over the list with so many workers."""
    words = [sys.executable, "-c", START, "fleet", listing, "--platform", "rocm", "--out", out, "--workers", workers, "--quiet"]
    return subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL)


def fleet(listing: Path, out: Path, workers: int) -> Run:
    """Run it."""
    began = time.monotonic()
    assert start(listing, out, workers).wait() in (0, 1)  # 1: a repository of LIST failed
    wall = time.monotonic() - began
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    stored = [entry["time"] for entry in log if entry["event"] == "stored"]
    begun = min(entry["time"] for entry in log if entry["event"] == "begun")
    starts: dict[int, list[float]] = {}
    for entry in log:
        if entry["event"] == "stored":
            starts.setdefault(entry["pid"], []).append(entry["time"])
    gaps = [later - earlier for times in starts.values() for earlier, later in pairwise(times)]
    rows = json.loads((out / "summary.json").read_text())["repositories"]
    own = statistics.median(row["seconds"] for row in rows)
    return Run(wall, max(stored) - begun, len(stored), own, statistics.median(gaps))


def processors(listing: Path, out: Path, workers: int) -> dict[str, float]:
    """Processor milliseconds a repository, by process; without what it takes to start and to end."""
    process = start(listing, out, workers)
    log = out / "log.jsonl"
    seen: list[tuple[int, dict[str, float]]] = []
    while process.poll() is None:
        time.sleep(0.1)
        with contextlib.suppress(psutil.Error, OSError):
            seen.append((log.read_text().count('"stored"'), _used(psutil.Process(process.pid))))
    last = max(count for count, _ in seen)
    steady = [(count, used) for count, used in seen if last * 0.1 <= count <= last * 0.95]
    (before, first), (after, end) = steady[0], steady[-1]
    return {name: (end[name] - first[name]) * 1e3 / (after - before) for name in end}


def _used(client: psutil.Process) -> dict[str, float]:
    """Processor seconds so far; of what a supervisor started, only that which has ended."""
    used = dict.fromkeys(("client and scheduler", "workers", "supervisors", "repositories' own processes and git"), 0.0)
    used["client and scheduler"] = sum(client.cpu_times()[:2])
    for worker in client.children():
        used["workers"] += sum(worker.cpu_times()[:2])
        for supervisor in worker.children():
            times = supervisor.cpu_times()
            used["supervisors"] += times.user + times.system
            used["repositories' own processes and git"] += times.children_user + times.children_system
    return used


def scheduler(tasks: int) -> float:
    """Tasks a second that go through the client, the scheduler and two workers when they do nothing."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as local,
        Client(local) as client,
    ):
        entries = [b"x" * 300] * 64
        began = time.monotonic()
        for _ in range(tasks // len(entries)):
            client.gather(client.map(len, entries, pure=False))
        return tasks / (time.monotonic() - began)


def disk(folder: Path, results: int) -> float:
    """Results a second that the folder takes, each brought to the disk."""
    from ddp_codemod.write.results import publish

    files = {name: os.urandom(8000) for name in NAMES}
    began = time.monotonic()
    for number in range(results):
        publish(folder, f"r/{number}", files)
    return results / (time.monotonic() - began)


def compare(name: str, listing: Path, folder: Path, rounds: int) -> None:
    """One worker and two by turns."""
    print(f"{name}: {len(listing.read_text().splitlines())}")
    ratios = []
    for number in range(rounds):
        outs = {workers: folder / f"{number}-{workers}" for workers in ((1, 2) if number % 2 == 0 else (2, 1))}
        load = os.getloadavg()[0]
        runs = {workers: fleet(listing, out, workers) for workers, out in outs.items()}
        for workers, run in sorted(runs.items()):
            print(
                f"  {workers} workers: {run.wall:.1f} s in all, {run.results / run.steady:.2f} a second; a repository {run.own * 1e3:.0f} ms"
                f" in its process, {(run.between - run.own) * 1e3:.0f} ms beside it"
            )
        one, two = runs[1], runs[2]
        ratios.append((two.results / two.steady) / (one.results / one.steady))
        print(f"  two to one: {ratios[-1]:.2f} (load {load:.1f} before)", flush=True)
    used = processors(listing, folder / "used", 2)
    print("  processor ms a repository: " + ", ".join(f"{what} {spent:.1f}" for what, spent in used.items()))
    print(f"  two to one, median of {rounds}: {statistics.median(ratios):.2f}", flush=True)


def main(argv: Sequence[str]) -> None:
    count = int(argv[0]) if argv else 100
    rounds = int(argv[1]) if len(argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        like = template(folder)
        paths = [harmless(folder, number, like) for number in range(count)]
        for kind, prefix in (("small repositories, by path", ""), ("small repositories, as of a server", "file://")):
            listing = folder / "list.txt"
            listing.write_text("".join(f"{prefix}{path}\n" for path in paths))
            compare(kind, listing, folder / kind, rounds)
        if len(argv) > 2:
            compare("repositories of the list", Path(argv[2]), folder / "listed", rounds)
        print(f"results to the disk: {disk(folder / 'disk', 200):.0f} a second")
    print(f"scheduler: {scheduler(3000):.0f} tasks a second")


if __name__ == "__main__":
    main(sys.argv[1:])
