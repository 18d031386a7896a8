"""Logs as they come: coloured, interleaved, cut anywhere, in any encoding, of any size."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.health import Reading
from ddp_codemod.machine import logs
from ddp_codemod.machine.diagnose import diagnose
from ddp_codemod.machine.ranks import rank_of

KNOWN = load_diagnostics()
NO_NCCL = "RuntimeError: Distributed package doesn't have NCCL built in"
LIBUV = "RuntimeError: use_libuv was requested but PyTorch was build without libuv support"


def read(log: str | bytes) -> Reading:
    return diagnose(io.BytesIO(log if isinstance(log, bytes) else log.encode()), KNOWN)


def ids(log: str | bytes) -> list[str | None]:
    return [one.signature and one.signature.id for one in read(log).diagnoses]


class Dribble(io.RawIOBase):
    """A pipe that gives its bytes in pieces of these sizes."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.data, self.sizes = data, sizes

    def read1(self, _: int) -> bytes:
        size = self.sizes.pop() if self.sizes else 7
        piece, self.data = self.data[:size], self.data[size:]
        return piece


def test_colours_inside_the_message_do_not_hide_it() -> None:
    log = "\x1b[31m\x1b[1mRuntimeError\x1b[0m: Distributed package \x1b[4mdoesn't\x1b[0m have NCCL built in\x1b[K\n"
    (one,) = read(log).diagnoses
    assert one.first.text == NO_NCCL


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_and_line_endings(encoding: str, newline: str) -> None:
    head = "é\n" if encoding == "latin-1" else "训练开始\n"
    log = (head + NO_NCCL + "\n").replace("\n", newline).encode(encoding)
    (one,) = read(log).diagnoses
    assert (one.first.line, one.first.text) == (2, NO_NCCL)


def test_progress_bars_that_return_without_a_new_line() -> None:
    log = "\r".join(f"{at}%|###" for at in range(5000)) + "\r" + NO_NCCL
    (one,) = read(log).diagnoses
    assert one.first.text == NO_NCCL


def test_interleaved_ranks_keep_their_own_stacks() -> None:
    log = "\n".join(
        [
            "[rank0]: Traceback (most recent call last):",
            "[rank1]: Traceback (most recent call last):",
            '[rank0]:   File "/home/u/p/train.py", line 10, in main',
            '[rank1]:   File "/home/u/p/data.py", line 99, in load',
            '[rank0]:   File "/env/lib/python3.10/site-packages/torch/distributed/c10d_logger.py", line 81, in wrapper',
            "[rank1]: KeyError: 'speaker'",
            f"[rank0]: {NO_NCCL}",
        ]
    )
    known, unknown = read(log).diagnoses
    assert known.signature is not None
    assert known.first.ranks == ("0",)
    assert [(frame.path, frame.line) for frame in known.first.frames] == [("/home/u/p/train.py", 10)]
    assert unknown.signature is None
    assert unknown.first.ranks == ("1",)
    assert unknown.first.text == "KeyError: 'speaker'"
    assert [frame.path for frame in unknown.first.frames] == ["/home/u/p/data.py"]


def test_near_text_of_another_rank_does_not_count() -> None:
    log = "\n".join(
        [
            '[rank1]:   File "C:\\env\\torch\\distributed\\elastic\\rendezvous\\static_tcp_rendezvous.py", line 66, in next',
            f"[rank0]: {LIBUV}",
        ]
    )
    assert ids(log) == ["libuv-missing"]


def test_the_launcher_is_told_from_the_script() -> None:
    log = '  File "/env/torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py", line 66, in next\n' + LIBUV
    assert ids(log) == ["libuv-missing-launcher"]


def test_the_first_cause_in_time_leads_and_consequences_follow() -> None:
    log = "\n".join(
        ["RuntimeError: Connection closed by peer", "[x/gloo/transport/tcp/pair.cc:5] Connection closed by peer", NO_NCCL, LIBUV]
    )
    assert ids(log) == ["nccl-not-built-in", "libuv-missing", "store-lost", "gloo-peer-gone"]


def test_an_error_of_the_program_comes_before_its_consequences() -> None:
    log = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: bad wav\nbye\n[1] RuntimeError: [../gloo/transport/tcp/pair.cc:5] Connection closed by peer\n'
    assert ids(log) == [None, "gloo-peer-gone"]


def test_errors_that_only_hand_on_are_no_cause() -> None:
    log = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\ntorch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n  File "b.py", line 4, in g\n'
        + NO_NCCL
    )
    (one,) = read(log).diagnoses
    assert one.first.ranks == ("1",)
    assert one.first.frames[0].path == "b.py"


def test_every_rank_is_counted() -> None:
    log = "".join(f"[rank{rank}]: {NO_NCCL}\n" for rank in (3, 1, 3, 0))
    (one,) = read(log).diagnoses
    assert (one.first.ranks, one.first.count) == (("3", "1", "0"), 4)


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[rank12]:[E519 ProcessGroupNCCL.cpp:616]", "12"),
        ("[default3]:Traceback", "3"),
        ("[1,2]<stderr>:boom", "2"),
        ("0: starting", "0"),
        ("node4:1201:1377 [5] NCCL INFO x", None),  # the number of a GPU on one of several machines
        ("[1,23]<stdout>:ip-10-0-0-7:93:94 [7] NCCL INFO x", "23"),
        ("(WorkerDict pid=2394310) [rank3]:[E429 12:07 ProcessGroupNCCL.cpp:681] [Rank 3] x", "3"),
        ("(TaskRunner_0:13 WorkerDict pid=204487, ip=10.0.0.8) boom", None),
        ("(VllmWorker rank=1 pid=33) ERROR 11-02 10:00:01 [multiproc_executor.py:371] boom", "1"),
        ("[default0]:[rank12]:[E817 17:40 ProcessGroupNCCL.cpp:1515] [PG 0 (default_pg) Rank 12] x", "12"),
        ("[default0]:[E ProcessGroupNCCL.cpp:474] [Rank 24] x", "24"),
        ("2026-05-01T12:00:00.123456789Z stderr F [rank5]: Traceback", "5"),
        (" 3: Traceback", "3"),
        ("[ERROR] 2026-01-11-15:09:34 (PID:2969, Device:0, RankID:101) ERR00100 PTA call acl api failed.", "101"),
        ("RuntimeError: Timed out initializing process group in store based barrier on rank: 2, for key", "2"),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with exit code 1", "3"),
        ("E   ValueError: x", None),
        ("gpu3: starting", None),
        ("[E ProcessGroupNCCL.cpp:563] [Rank 7] Watchdog", "7"),
        ("2026-01-01 10:00: starting", None),
        ("epoch 3: loss 0.1", None),
        ("ranking: 3", None),
    ],
)
def test_marks_of_ranks(line: str, rank: str | None) -> None:
    assert rank_of(line) == rank


@settings(max_examples=60, deadline=None)
@given(sizes=st.lists(st.integers(1, 60), max_size=60), lead=st.integers(0, 40))
def test_where_a_pipe_is_cut_makes_no_difference(sizes: list[int], lead: int) -> None:
    data = ("noise \x1b[31m é 行\n" * lead + f"[rank1]: {NO_NCCL}\nmore\n").encode()
    whole = read(data)
    parts = diagnose(Dribble(data, sizes), KNOWN)  # type: ignore[arg-type]
    assert parts == whole


def test_an_error_across_pieces_and_in_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "CHUNK", 64)
    assert ids("x" * 200_000 + NO_NCCL + "y" * 100_000) == ["nccl-not-built-in"]


class Endless(io.RawIOBase):
    """A log of many megabytes that is nowhere whole."""

    def __init__(self, megabytes: int, line: bytes) -> None:
        self.block = (line * (1_000_000 // len(line) + 1))[:1_000_000]
        self.left = megabytes

    def read1(self, _: int) -> bytes:
        self.left -= 1
        return self.block if self.left >= 0 else b""


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize(
    "line",
    [
        b"2026-01-01 INFO step 10 loss 0.3\n",
        b"x" * 1000,
        f"[rank2]: {NO_NCCL}\n".encode() + b"noise\n" * 3000,
        b"\x1b[32mok\x1b[0m\r",
    ],
    ids=["plain", "no line end", "errors", "returns"],
)
def test_memory_does_not_grow_with_the_log(traced: None, line: bytes) -> None:
    diagnose(Endless(2, line), KNOWN)  # type: ignore[arg-type]
    tracemalloc.reset_peak()
    diagnose(Endless(3, line), KNOWN)  # type: ignore[arg-type]
    small = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    diagnose(Endless(12, line), KNOWN)  # type: ignore[arg-type]
    assert tracemalloc.get_traced_memory()[1] < small * 1.5


def test_ordinary_logs_raise_no_alarm() -> None:
    lines = [
        "INFO connecting to peers, address in use: 0 of 8",
        "WARNING retry 3 after connection error, timed out after 30 s",
        "host:12:13 [0] NCCL INFO Channel 00/0 : 0 -> 1 via SHM/direct",
        "saved checkpoint, exitcode: 0, errno: 0",
        "UserWarning: size of tensor a (3) matches tensor b (3)",
        "loss nan in backend type nccl, device cpu, rank 1, world_size=8",
        "gloo interface eth0, use_libuv=1, Signal 15 (SIGTERM) received by PID 1",
    ]
    reading = read("\n".join(lines * 200))
    assert reading.diagnoses == ()
    assert reading.lines == 1400
