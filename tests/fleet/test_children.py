"""A repository costs itself only: whatever it does, there is an answer, and the next one is done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest
from conftest import NCCL, Make, command, limited
from generate import _endless, _endless_branches, _large_file

from ddp_codemod.fleet.children import Children
from ddp_codemod.fleet.model import Entry, Reply, Trouble, Work
from ddp_codemod.fleet.supervisor import Request


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    monkeypatch.setenv("TMPDIR", str(made))
    monkeypatch.setattr("tempfile.tempdir", None)
    return made


@pytest.fixture
def children(work: Work, scratch: Path) -> Iterator[Children]:
    yield from bound(limited(work, memory=400 << 20, size=32 << 20), scratch)


@pytest.fixture
def hasty(work: Work, scratch: Path) -> Iterator[Children]:
    yield from bound(limited(work, seconds=2), scratch)


def bound(work: Work, scratch: Path) -> Iterator[Children]:
    made = Children(work)
    yield made
    made.close()
    assert list(scratch.iterdir()) == [], "clones are removed"


def ask(children: Children, path: object, ref: str | None = None) -> Reply:
    return children.run(Entry(str(path), "rocm", ref), ())


def supervisor(children: Children) -> int:
    assert children._process is not None
    return children._process.pid


def test_poison_costs_itself_only(children: Children, make: Make, tmp_path: Path) -> None:
    good = make("good.git")
    _large_file(tmp_path / "large.git", tmp_path / "template.git")
    assert ask(children, good).outcome.trouble is None
    first = supervisor(children)
    troubles = [ask(children, tmp_path / name).outcome.trouble for name in ("large.git", "gone.git")]
    assert troubles == [Trouble.TOO_LARGE, Trouble.CLONE_FAILED]
    reply = ask(children, good)
    assert reply.outcome.edits == 1
    assert set(reply.files) == {"changes.patch", "report.json", "pull-request.md", "review.html"}
    assert supervisor(children) == first


def test_what_never_ends_is_ended_and_a_signal_gets_one_more_attempt(hasty: Children, make: Make, tmp_path: Path) -> None:
    """The process that reads the endless file is killed from outside: not at all, each time, and the first time only."""
    ask(hasty, make("good.git"))
    _endless(tmp_path / "endless.git", tmp_path / "template.git")
    outcomes = []
    for times in (0, 2, 1):
        killer = kill_what_it_forks(supervisor(hasty), times)
        outcomes.append(ask(hasty, tmp_path / "endless.git").outcome)
        killer.join()
    assert [(one.trouble, one.attempts) for one in outcomes] == [
        (Trouble.TIMED_OUT, 1), (Trouble.CRASHED, 2), (Trouble.TIMED_OUT, 2),
    ]  # fmt: skip
    assert "SIGSEGV" in outcomes[1].detail
    assert ask(hasty, tmp_path / "good.git").outcome.edits == 1


def kill_what_it_forks(supervisor: int, times: int) -> threading.Thread:
    def watch() -> None:
        seen: set[int] = set()
        while len(seen) < times:
            for one in psutil.Process(supervisor).children():
                if one.pid not in seen:
                    seen.add(one.pid)
                    one.send_signal(signal.SIGSEGV)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_a_supervisor_that_is_killed_is_replaced(children: Children, make: Make) -> None:
    path = make()
    assert ask(children, path).outcome.trouble is None
    os.kill(supervisor(children), signal.SIGKILL)
    assert children._process is not None
    children._process.wait()
    reply = ask(children, path)
    assert reply.outcome.trouble is None
    for left in Path(os.environ["TMPDIR"]).iterdir():  # the next one clears away what a killed one left
        assert f"-{supervisor(children)}-" in left.name


@pytest.mark.parametrize(("poison", "waits"), [(_endless, "checkout"), (_endless_branches, "upload-pack")])
def test_nothing_is_left_when_the_worker_dies(
    work: Work, scratch: Path, make: Make, tmp_path: Path, poison: Callable[[Path, Path], None], waits: str
) -> None:
    """Its input ends: the supervisor ends the child and what the child started, and removes the clone."""
    poison(tmp_path / "endless.git", make())
    request = Request(Entry(str(tmp_path / "endless.git"), "rocm"))
    words = [sys.executable, "-m", "ddp_codemod.fleet.supervisor"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(work) + b"\n" + msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
        family: list[psutil.Process] = []
        while not any(waits in command(one) for one in family):
            assert process.poll() is None
            family = psutil.Process(process.pid).children(recursive=True)
        process.stdin.close()
        assert process.wait() == 0
    psutil.wait_procs(family, timeout=10)
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert list(scratch.iterdir()) == []


def test_a_file_of_another_shape_is_its_own_trouble(children: Children, make: Make, tmp_path: Path) -> None:
    deep = b"(" * 1500 + b")" * 1500
    reply = ask(children, make("deep.git", train=NCCL + deep))
    assert reply.outcome.trouble is Trouble.UNPARSEABLE
    assert reply.outcome.commit is not None
    half = ask(children, make("half.git", train=NCCL, broken=NCCL + deep))
    assert half.outcome.trouble is None
    assert (half.outcome.edits, half.outcome.skipped) == (1, 1)


def test_a_folder_without_git_is_read_where_it_is(children: Children, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "train.py").write_bytes(NCCL)
    reply = ask(children, folder)
    assert reply.outcome.edits == 1
    assert reply.outcome.commit is not None
    assert reply.outcome.commit.startswith("files-")
    assert (folder / "train.py").read_bytes() == NCCL
    assert ask(children, folder, "main").outcome.trouble is Trouble.CLONE_FAILED


def test_what_is_known_is_not_done_again(children: Children, make: Make) -> None:
    entry = Entry(str(make()), "rocm")
    reply = children.run(entry, ())
    again = children.run(entry, (reply.outcome.folder,))
    assert again.unchanged
    assert again.outcome.folder == reply.outcome.folder
    assert again.files == {}
