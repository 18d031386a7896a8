"""A few repositories are done without a cluster, a second run does what is missing, and an interrupt leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from conftest import Make, command
from generate import _endless
from proof import START

from ddp_codemod.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fleet needs process groups")
GOOD = "repositories/*good-*/*/result.json"
WORDS = ("fleet", "list.txt", "--platform", "rocm", "--out", "out", "--workers", "2", "--lang", "en")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setitem(sys.modules, "distributed", None)


def states(out: Path) -> dict[str, str]:
    rows = json.loads((out / "summary.json").read_text())["repositories"]
    return {Path(row["repository"]).name: row["state"] for row in rows}


def test_what_is_done_stays_and_what_could_not_be_had_is_tried_again(make: Make, tmp_path: Path) -> None:
    """Of the broken one the commit is known, and not what is in it."""
    broken, good = make("broken.git"), make("good.git")
    whole = {path: path.read_bytes() for path in broken.glob("objects/??/*")}
    for path in whole:
        path.write_bytes(b"")
    Path("list.txt").write_text(f"{broken}\n{good}\n")
    assert main(list(WORDS)) == 1
    assert states(Path("out")) == {"broken.git": "clone-failed", "good.git": "edited"}
    kept = {path: path.stat().st_mtime_ns for path in Path("out").glob("repositories/*good-*/*/*")}
    assert len(kept) == 5
    for path, data in whole.items():
        path.write_bytes(data)
    summaries = []
    for _ in range(2):
        assert main(list(WORDS)) == 0
        assert states(Path("out")) == {"broken.git": "edited", "good.git": "edited"}
        summaries.append([Path("out", name).read_bytes() for name in ("summary.json", "summary.csv", "index.html")])
    assert summaries[0] == summaries[1]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    events = [json.loads(line)["event"] for line in Path("out/log.jsonl").read_text().splitlines()]
    assert events.count("stored") == 2
    assert list(Path("out").glob(".staging/*")) == []


@pytest.mark.parametrize(("blow", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupt_ends_what_runs_and_keeps_what_is_finished(make: Make, tmp_path: Path, blow: int, code: int) -> None:
    lines = [make("good.git")]
    for number in range(3):
        lines.append(tmp_path / f"endless{number}.git")
        _endless(lines[-1], tmp_path / "template.git")
    Path("list.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "scratch").mkdir()
    words = [sys.executable, "-c", START, *WORDS]
    environ = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    with subprocess.Popen(words, stderr=subprocess.PIPE, env=environ, start_new_session=True, text=True) as client:
        family: list[psutil.Process] = []
        while sum("checkout" in command(one) for one in family) < 2 or not list(Path("out").glob(GOOD)):
            assert client.poll() is None
            family = psutil.Process(client.pid).children(recursive=True)
        os.killpg(client.pid, blow)
        assert client.stderr is not None
        said = client.stderr.read()
    assert client.returncode == code, said
    assert "Traceback" not in said
    psutil.wait_procs(family, timeout=10)
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert list((tmp_path / "scratch").iterdir()) == []
    assert len(list(Path("out").glob(GOOD))) == 1
    assert blow == signal.SIGKILL or set(states(Path("out"))) <= {"good.git"}
