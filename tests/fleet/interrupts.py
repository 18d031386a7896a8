"""Whoever is killed in a fleet run, nothing finished is lost, nothing finished is done again, and nobody is left running.

    python tests/fleet/interrupts.py [REPOSITORIES]      (a part of make proof-fleet)

Ctrl-C and kill -9 of the client with its own cluster; kill -9 of the scheduler and of a worker of a cluster that was there before.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))
from generate import harmless, template
from proof import START, begun_after_stored

SOME = 8  # results that are there when the blow falls
PATIENCE = 300.0  # seconds


def stored(out: Path) -> set[str]:
    """The repositories whose result is kept."""
    return {path.parent.parent.name for path in out.glob("repositories/*/*/result.json")}


def start(listing: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", START, "fleet", listing, "--platform", "rocm", "--out", out, "--workers", "2", *more]
    with (out.parent / "said.txt").open("ab") as said:
        return subprocess.Popen([*map(str, words)], stdout=said, stderr=said, start_new_session=True)


def wait_for(what: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "too late"
        time.sleep(0.05)


def ours(folder: Path) -> list[psutil.Process]:
    """The processes that this run started, whoever their parent is by now."""
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if (
                one.environ().get("FLEET_PROOF") == str(folder)
                and one.status() != psutil.STATUS_ZOMBIE
                and one.pid != os.getpid()
            ):
                found.append(one)
    return found


def blow(
    folder: Path, listing: Path, more: tuple[str, ...], strike: Callable[[subprocess.Popen[bytes]], object]
) -> tuple[int, int]:
    """Start a run and strike when some results are there; its exit code and how many results there were."""
    out = folder / "out"
    client = start(listing, out, *more)
    wait_for(lambda: len(stored(out)) >= SOME)
    strike(client)
    code = client.wait(PATIENCE)
    left = stored(out)
    assert len(left) >= SOME
    return code, len(left)


@contextlib.contextmanager
def machines(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """A scheduler and a nanny with two workers, as a user would start them; their address."""
    file = folder / "scheduler.json"
    talk = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    words = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    ]
    scheduler = subprocess.Popen(words, **talk)  # type: ignore[call-overload]
    wait_for(file.exists)
    words = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--scheduler-file",
        str(file),
        "--nworkers",
        "2",
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    workers = subprocess.Popen([*words, "--death-timeout", "60"], **talk)  # type: ignore[call-overload]
    try:
        yield json.loads(file.read_text())["address"], scheduler, workers
    finally:
        for process in (workers, scheduler):
            process.kill()
            process.wait()


def interrupt(client: subprocess.Popen[bytes]) -> None:
    """What the terminal does: all of its processes get the signal."""
    os.killpg(client.pid, signal.SIGINT)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the worker that a nanny looks after; or the process itself, if it has none."""
    children = psutil.Process(process.pid).children()
    workers = [one for one in children if "spawn_main" in " ".join(one.cmdline())]
    (workers[0] if workers else process).kill()


def prove(folder: Path, count: int) -> Iterator[str]:
    """Every blow in turn."""
    like = template(folder)
    listing = folder / "list.txt"
    listing.write_text("".join(f"{harmless(folder, number, like)}\n" for number in range(count)))
    for name in ("Ctrl-C", "kill -9 of the client", "kill -9 of the scheduler", "kill -9 of a worker"):
        home = folder / name.replace(" ", "-")
        home.mkdir()
        os.environ |= {"TMPDIR": str(home), "FLEET_PROOF": str(home)}
        with contextlib.ExitStack() as stack:
            if "client" in name or name == "Ctrl-C":
                code, left = blow(home, listing, (), interrupt if name == "Ctrl-C" else subprocess.Popen.kill)
            else:
                address, scheduler, workers = stack.enter_context(machines(home))
                one = scheduler if "scheduler" in name else workers
                code, left = blow(home, listing, ("--scheduler", address), lambda _, one=one: end(one))
        wait_for(lambda home=home: not ours(home))
        out = home / "out"
        before = {path: path.stat().st_mtime_ns for path in out.glob("repositories/*/*/result.json")}
        again = start(listing, out).wait(PATIENCE * 5)
        assert again == 0, (home / "said.txt").read_text()
        assert len(stored(out)) == count
        assert {path: path.stat().st_mtime_ns for path in before} == before, "what was finished is untouched"
        assert begun_after_stored(out / "log.jsonl") == []
        assert list(out.glob(".staging/*")) == []
        said = (home / "said.txt").read_text()
        assert "Traceback" not in said, said
        yield f"{name}: exit code {code}, {left} of {count} results there, all of them after the same command again; none done twice, nobody left running"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        for line in prove(Path(folder), count):
            print(line, flush=True)


if __name__ == "__main__":
    main()
