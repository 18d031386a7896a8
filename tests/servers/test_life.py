"""A server's work: told of while it goes on, ended when nobody waits for it, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client
from talking import COMMAND, Started, children, memory, words

ROCM = {"platform": "rocm"}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a Python that never ends is imitated by a shell script")


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A Python that says its number and goes on for an hour."""
    (tmp_path / "pids").mkdir()
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\ntouch {tmp_path}/pids/$$\nexec sleep 3600\n")
    path.chmod(0o755)
    return path


async def started(endless: Path, n: int = 1) -> list[psutil.Process]:
    """The processes of that Python, once there are so many."""
    while len(found := [int(path.name) for path in (endless.parent / "pids").iterdir()]) < n:
        await anyio.sleep(0.02)
    return [psutil.Process(pid) for pid in found]


def runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(processes: list[psutil.Process]) -> None:
    while any(map(runs, processes)):
        await anyio.sleep(0.02)


def left(home: Path) -> list[str]:
    return [path.name for path in (home / "tmp").iterdir()]


def test_a_call_that_is_cancelled_ends_its_processes_and_the_next_is_answered(
    real: Started, project: Path, endless: Path
) -> None:
    told: list[Any] = []

    async def cancelled(client: Client) -> Any:
        async def progress(*what: Any) -> None:
            told.append(what)

        async with anyio.create_task_group() as group:

            async def call() -> None:
                await client.call_tool("verify", {**ROCM, "seconds": 600}, progress_callback=progress)

            group.start_soon(call)
            ranks = await started(endless, 2)
            while not told:
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        await gone(ranks)
        return await client.call_tool("scan", ROCM)

    answer = real.talk(cancelled, project, "--python", endless)
    assert not answer.is_error
    assert told[0][0] >= 0
    assert left(real.home) == []


def test_a_client_that_goes_ends_server_and_work(real: Started, project: Path, endless: Path) -> None:
    seen: list[psutil.Process] = []

    async def leaves(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "verify", {**ROCM, "seconds": 600, "launch": "torchrun"})
            await started(endless)
            seen.extend(children())
            raise RuntimeError("the client is gone")

    with pytest.raises(BaseException):  # noqa: B017, PT011 - groups of groups
        real.talk(leaves, project, "--python", endless)
    assert len(seen) >= 2
    psutil.wait_procs(seen, timeout=30)
    assert [one for one in seen if runs(one)] == []
    assert left(real.home) == []


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


@pytest.mark.parametrize("end", ["input", "term"])
@pytest.mark.parametrize("before", [b"", b'nonsense\n{"jsonrpc": "2.0"}\n[]\n\xff\xfe\n\n'])
def test_a_server_ends_with_its_input_and_on_a_signal(server: Started, project: Path, end: str, before: bytes) -> None:
    process = subprocess.Popen(
        [*COMMAND, "mcp", project], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**server.environ, "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(before + PING)
    process.stdin.flush()
    while b'"id":1' not in (line := process.stdout.readline()):
        assert b'"jsonrpc"' in line  # an answer to the nonsense
    if end == "term":
        process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    assert (out, errors) == (b"", b"")
    assert process.returncode == (0 if end == "input" else -signal.SIGTERM)


def test_two_hundred_requests_take_no_more_memory_than_fifty(real: Started, project: Path) -> None:
    (project / "many.py").write_text(
        "import torch.distributed as dist\n" + "".join(f'def f{i}():\n    dist.new_group(backend="nccl")\n' for i in range(40))
    )

    async def used(client: Client) -> list[int]:
        sizes = []
        for round_ in range(4):
            for number in range(50):
                tool = ("scan", "diff", "check", "explain")[number % 4]
                given = {**ROCM, "path": "train.py", "line": 3} if tool == "explain" else {**ROCM, "offset": number % 7}
                answer = await client.call_tool(tool, given)
                assert not answer.is_error, (round_, words(answer))
            sizes.append(memory())
        return sizes

    first, *later = real.talk(used, project)
    assert max(later) - first < 6_000_000, (first, later)


@pytest.mark.torch
def test_a_patch_is_verified_for_real(server: Started, project: Path) -> None:
    pytest.importorskip("torch")

    async def ported(client: Client) -> list[Any]:
        before = await client.call_tool("verify", {"platform": "cpu", "launch": "spawn"})
        digest = (await client.call_tool("diff", {"platform": "cpu"})).structured_content["digest"]
        await client.call_tool("apply", {"platform": "cpu", "digest": digest})
        after = await client.call_tool("verify", {"platform": "cpu", "launch": "spawn"})
        return [one.structured_content["report"]["sites"][0]["trials"][0]["state"] for one in (before, after)]

    server.environ["GLOO_SOCKET_IFNAME"] = "lo"
    assert server.talk(ported, project, "--allow-apply", "--python", sys.executable) == ["failed", "passed"]
    assert left(server.home) == []
