"""The proof of a fleet run: many repositories, some poison, a worker killed every few seconds; then the same list again.

python tests/fleet/proof.py            1,000 repositories (make proof-fleet)
python tests/fleet/proof.py 40         what the tests run
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))
from generate import Poison, fleet

KILL_EVERY = 5.0
LIMITS = ("--timeout", "8", "--cpu-limit", "3", "--memory-limit", "400M", "--size-limit", "32M", "--workers", "2")
START = "import sys; from ddp_codemod.cli import main; sys.exit(main())"


@dataclass
class Watch:
    """Kills a worker now and then, and notes what the processes hold."""

    process: subprocess.Popen[bytes]
    kill_every: float
    kills: int
    out: Path
    killed: int = 0
    memory: list[int] = field(default_factory=list)  # bytes, of the client, the workers and their supervisors
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        chance = random.Random(7)
        client = psutil.Process(self.process.pid)
        last = time.monotonic()
        while not self.done.wait(0.5):
            try:
                workers = [one for one in client.children() if "spawn_main" in " ".join(one.cmdline())]
                family = [client, *workers, *(child for one in workers for child in one.children())]
                self.memory.append(sum(one.memory_info().rss for one in family))
                if self.killed < self.kills and time.monotonic() - last >= self.kill_every and workers:
                    last = time.monotonic()
                    victim = chance.choice(workers)
                    if victim.children():  # it is at work, and does not just start
                        victim.kill()
                        self.killed += 1
            except psutil.Error:
                continue


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    code: int
    seconds: float
    watch: Watch
    said: str


def run(listing: Path, out: Path, kill_every: float, kills: int) -> Ran:
    """Run the command over the list."""
    words = [sys.executable, "-c", START, "fleet", listing, "--platform", "rocm", "--out", out, *LIMITS]
    began = time.monotonic()
    with (out.parent / "said.txt").open("wb") as said:
        environ = {**os.environ, "TMPDIR": str(out.parent / "scratch")}
        process = subprocess.Popen([*map(str, words)], stdout=said, stderr=said, env=environ)
        watch = Watch(process, kill_every, kills, out)
        thread = threading.Thread(target=watch.run)
        thread.start()
        code = process.wait()
        seconds = time.monotonic() - began
        watch.done.set()
        thread.join()
    return Ran(code, seconds, watch, (out.parent / "said.txt").read_text("utf-8"))


def begun_after_stored(log: Path) -> list[str]:
    """The repositories that were begun again although a result of theirs was kept."""
    kept: set[str] = set()
    twice = []
    for line in log.read_text("utf-8").splitlines():
        entry = json.loads(line)
        place = "/".join(entry["what"].split("/")[:2])
        if entry["event"] == "stored":
            kept.add(place)
        elif place in kept:
            twice.append(place)
    return twice


def prove(folder: Path, count: int, kill_every: float = KILL_EVERY, kills: int = 1_000_000) -> dict[str, object]:
    """Run, check, run again; what was measured. Raises AssertionError."""
    repositories = folder / "repositories"
    repositories.mkdir()
    made: dict[str, Poison | None] = {str(path): kind for path, kind in fleet(repositories, count)}
    listing, out = folder / "list.txt", folder / "out"
    listing.write_text("".join(f"{path}\n" for path in made))
    scratch = folder / "scratch"
    scratch.mkdir()
    first = run(listing, out, kill_every, kills)
    assert first.code == 1, first.said
    rows = {row["repository"]: row for row in json.loads((out / "summary.json").read_text())["repositories"]}
    assert set(rows) == set(made), (set(made) ^ set(rows), first.said)
    for path, kind in made.items():
        state = rows[path]["state"]
        if kind is None:
            assert state in ("edited", "review", "nothing"), rows[path]
            assert (out / rows[path]["folder"] / "report.json").is_file(), rows[path]
            assert (out / rows[path]["folder"] / "changes.patch").is_file() == (state == "edited"), rows[path]
        else:
            assert state in kind.troubles, (kind.kind, rows[path])
    assert not (repositories / "was-run").exists(), "nothing that a repository says was run"
    assert begun_after_stored(out / "log.jsonl") == [], "nothing finished was done again"
    assert list(out.glob(".staging/*")) == [], "nothing half-made is left"
    begun = Counter(json.loads(line)["event"] for line in (out / "log.jsonl").read_text().splitlines())["begun"]
    patches = {path: path.read_bytes() for path in out.rglob("changes.patch")}
    second = run(listing, out, 0, 0)
    again = Counter(json.loads(line)["event"] for line in (out / "log.jsonl").read_text().splitlines())["begun"] - begun
    assert {path: path.read_bytes() for path in out.rglob("changes.patch")} == patches
    assert list(scratch.glob("ddp-codemod-*")) == [], "no clone is left"
    memory = first.watch.memory
    quarter = max(len(memory) // 4, 1)
    return {
        "repositories": count,
        "results": sum(kind is None for kind in made.values()),
        "errors": dict(Counter(rows[path]["state"] for path, kind in made.items() if kind)),
        "workers killed": first.watch.killed,
        "begun": begun,
        "first run, seconds": round(first.seconds, 1),
        "second run, seconds": round(second.seconds, 1),
        "begun again": again,
        "memory in the second quarter, MB": round(statistics.median(memory[quarter : 2 * quarter] or memory) / 1e6),
        "memory in the last quarter, MB": round(statistics.median(memory[-quarter:] or memory) / 1e6),
        "median seconds of a repository": statistics.median(rows[path]["seconds"] for path, kind in made.items() if kind is None),
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        measured = prove(Path(folder), count)
    for name, value in measured.items():
        print(f"{name}: {value}")
    assert float(str(measured["second run, seconds"])) < 0.1 * float(str(measured["first run, seconds"])) or count < 1000


if __name__ == "__main__":
    main()
