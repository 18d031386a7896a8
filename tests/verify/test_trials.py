"""Real ranks, real torch: groups that form, that fail, and that hang."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.health import Trial, VerifiedSite
from ddp_codemod.machine.processes import TOKEN, Crew
from ddp_codemod.machine.verify import attempt_trial
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.trials import format_site

KNOWN = load_diagnostics()
STEPS = ["import", "form", "all_reduce", "broadcast", "barrier", "ddp_step", "destroy"]


OURS = "TRIAL_OF_THIS_TEST"  # other tests have trials of their own at the same time


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(OURS, str(tmp_path))


def marked(token: str = "") -> list[int]:
    """Processes that descend from a trial of this test."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            environment = (folder / "environ").read_bytes()
            if f"{TOKEN}={token}".encode() in environment and f"{OURS}={os.environ[OURS]}\0".encode() in environment:
                found.append(int(folder.name))
    return [pid for pid in found if pid != os.getpid()]


@pytest.mark.parametrize("launch", ["spawn", "torchrun"])
def test_gloo_passes_every_step(launch: str) -> None:
    tried = attempt_trial(Trial("gloo", "env://?use_libuv=0"), launch, 2, python=sys.executable, seconds=60, known=KNOWN)
    assert tried.state == "passed", tried
    assert [name for name, _ in tried.steps] == STEPS


def test_the_meeting_point_of_another_machine_is_replaced_and_it_is_said(tmp_path: Path) -> None:
    for init_method in ("tcp://10.9.8.7:23456?use_libuv=0", (tmp_path / "meeting").as_uri()):
        tried = attempt_trial(Trial("gloo", init_method), "spawn", 2, python=sys.executable, seconds=60, known=KNOWN)
        assert (tried.state, tried.error) == ("elsewhere", init_method)
        (head, *_) = format_site(
            VerifiedSite("a.py", 3, "x", Trial("gloo", init_method), (tried,)), "a.py:3", "en", Ink(False), lambda _: None
        )[1:]
        assert f"{init_method} itself was not tried" in head
    assert not (tmp_path / "meeting").exists()


def test_the_loopback_is_no_other_machine() -> None:
    for init_method in ("tcp://127.0.0.1:29500?use_libuv=0", "tcp://localhost:29500?use_libuv=0"):
        assert (
            attempt_trial(Trial("gloo", init_method), "spawn", 1, python=sys.executable, seconds=60, known=KNOWN).state
            == "passed"
        )


def test_a_folder_that_is_not_there_is_no_meeting_point() -> None:
    tried = attempt_trial(Trial("gloo", "file:///nosuchdir/x"), "spawn", 2, python=sys.executable, seconds=60, known=KNOWN)
    assert tried.state == "failed"
    assert "/nosuchdir" in tried.error


def test_a_backend_that_is_not_built_in_fails_with_its_diagnosis() -> None:
    tried = attempt_trial(Trial("mpi", None), "spawn", 2, python=sys.executable, seconds=60, known=KNOWN)
    assert tried.state == "failed"
    assert tried.diagnosis is not None
    assert tried.diagnosis.signature is not None
    assert tried.diagnosis.signature.id == "backend-not-built-in"


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 1 never comes to the meeting point."""
    (tmp_path / "stuck").mkdir()
    (tmp_path / "stuck" / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if os.environ.get('RANK') == '1':\n"
        "    def hold(frame, event, argument):\n"
        "        if frame.f_code.co_name == 'init_process_group':\n"
        "            import threading\n"
        "            threading.Event().wait()\n"
        "    sys.setprofile(hold)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "stuck"))


@pytest.mark.usefixtures("stuck")
def test_a_hang_ends_at_the_limit_with_the_stacks() -> None:
    tried = attempt_trial(Trial("gloo", None), "spawn", 2, python=sys.executable, seconds=4, known=KNOWN)
    assert tried.state == "hung", tried
    assert "in init_process_group" in tried.output
    assert marked() == []


def test_nothing_is_left_of_processes_in_sessions_of_their_own(tmp_path: Path) -> None:
    child = "import subprocess, sys, threading; subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'], start_new_session=True); print('started', flush=True); threading.Event().wait()"
    with Crew(os.environ, tmp_path) as crew:
        lines: list[bytes] = []
        crew.start([sys.executable, "-c", child], listen=lines.append)
        assert not crew.wait(2)
        assert lines == [b"started\n"]
        assert len(marked(crew.token)) == 2
    assert marked(crew.token) == []


def listen_to_interrupts() -> None:
    """A shell starts its jobs in the background deaf to SIGINT, and what they start is deaf, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_nothing_stays_behind_when_verify_itself_is_ended(project, tmp_path: Path, number: signal.Signals) -> None:  # type: ignore[no-untyped-def]
    """The ranks of a hung trial end with it, whatever ends it."""
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (ranks / "sitecustomize.py").write_text(
        "import os, sys, threading\n"
        "def hold(frame, event, argument):\n"
        "    if frame.f_code.co_name == 'form':\n"
        "        open(os.path.join(os.path.dirname(__file__), 'at-form-' + os.environ['RANK']), 'w').close()\n"
        "        threading.Event().wait()\n"
        "if 'RANK' in os.environ:\n"
        "    sys.setprofile(hold)\n"
    )
    root = project('import torch.distributed as dist\n\ndist.init_process_group("gloo")\n')
    command = [
        sys.executable,
        "-m",
        "ddp_codemod",
        "verify",
        ".",
        "--platform",
        "cpu",
        "--launch",
        "spawn",
        "--python",
        sys.executable,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ranks), "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=listen_to_interrupts
    ) as process:
        while len(list(ranks.glob("at-form-*"))) < 2 and process.poll() is None:
            os.sched_yield()
        assert len(marked()) == 2
        process.send_signal(number)
        process.communicate(timeout=60)
    for pid in marked():
        with contextlib.suppress(OSError):
            os.pidfd_open(pid)
            os.waitid(os.P_PIDFD, os.pidfd_open(pid), os.WEXITED)
    while marked():
        os.sched_yield()
    if number is not signal.SIGKILL:
        assert process.returncode == 130
        assert list(temporary.iterdir()) == []


class _Ending:
    """A process that ends right after it was first seen to run."""

    def __init__(self) -> None:
        self._polls = 0

    def poll(self) -> int | None:
        self._polls += 1
        return None if self._polls == 1 else 0

    def wait(self, seconds: float) -> int:
        return 0


def test_a_process_may_end_between_two_looks_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Crew(os.environ, tmp_path) as crew:
        monkeypatch.setattr(crew, "_running", [_Ending()])
        assert crew.wait(10)
        monkeypatch.undo()
