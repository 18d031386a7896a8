"""The machines: a Dask cluster of this one's cores, on the loopback address alone, or one that is already there."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from ddp_codemod.fleet.model import Work

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_DEATHS = 20  # of a task's workers, before the task counts as the reason
_WAIT = "20s"
_LOOK = 5000.0  # ms between looks at the workers of this machine
_MISSED = 12  # looks that a worker may take to start
# A task here waits for another process, so there is nothing in it to profile, no memory to balance and no loop to time; together
# these took as much of the processors as git does.
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.active-memory-manager.start": False,
}


class NoCluster(Exception):
    """Nothing answers at the address, or Dask is not installed (``missing``)."""

    def __init__(self, why: str, missing: bool = False) -> None:
        super().__init__(why)
        self.missing = missing


@dataclass(frozen=True)
class Machines:
    """A client, and the name of the plugin through which its workers know the work."""

    client: Client
    plugin: str

    @property
    def workers(self) -> int:
        """How many repositories the cluster does at a time, as of now."""
        return sum(self.client.nthreads().values())

    @property
    def dashboard(self) -> str:
        """Dask's own pages about the run; the plain ones where Bokeh, which draws the others, is not installed."""
        link = str(self.client.dashboard_link)
        return link if find_spec("bokeh") else link.replace("/status", "/info/main/workers.html")


@contextlib.contextmanager
def open_cluster(address: str | None, workers: int | None, work: Work) -> Iterator[Machines]:
    """Machines whose workers are ready for the work. Raises NoCluster."""
    try:
        import dask
        from distributed import Client, LocalCluster

        from ddp_codemod.fleet.task import Setup
    except ImportError as why:
        raise NoCluster(str(why), missing=True) from None
    settings = {
        "distributed.scheduler.allowed-failures": _DEATHS,
        "distributed.comm.timeouts.connect": _WAIT,
        "distributed.deploy.lost-worker-timeout": "10s",
    }
    plugin = f"ddp-codemod-{work.token}"
    with contextlib.ExitStack() as stack:
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)  # Dask tells of every lost connection, at length
        stack.enter_context(dask.config.set(settings if address else settings | _UNWATCHED))
        if address is None:
            stack.enter_context(_hide_main_module())
            count = workers or count_cores()
            local = LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1",
                dashboard_address="127.0.0.1:0", memory_limit=0, preload="ddp_codemod.fleet.preload", silence_logs=logging.CRITICAL,
            )  # fmt: skip
            stack.enter_context(local)
            _replace_dead_workers(local, count)
            client = stack.enter_context(Client(local))
        else:
            try:
                client = stack.enter_context(Client(address, timeout=_WAIT))
            except (OSError, ValueError, TimeoutError) as why:
                raise NoCluster(str(why) or type(why).__name__) from None
        client.register_plugin(Setup(msgspec.json.encode(work)), name=plugin)
        yield Machines(client, plugin)
        if client.status == "running":
            client.unregister_worker_plugin(plugin)


def _replace_dead_workers(local: LocalCluster, count: int) -> None:
    """Look after the workers: Dask starts one again that ended, but gives it up when it ends while it starts."""
    from distributed import Status
    from tornado.ioloop import PeriodicCallback

    missed: dict[object, int] = {}  # looks at which a worker was not there

    def look() -> None:
        there = {worker["name"] for worker in local.scheduler_info["workers"].values()}
        for name, nanny in list(local.workers.items()):
            missed[name] = 0 if name in there else missed.get(name, 0) + 1
            if nanny.status in (Status.closed, Status.failed) or missed[name] > _MISSED:
                missed[name] = 0
                del local.workers[name]
                closing.add(asyncio.ensure_future(nanny.close()))
        local.scale(count)  # makes those again that are not there

    closing: set[asyncio.Future[object]] = set()

    async def begin() -> None:
        PeriodicCallback(look, _LOOK).start()

    local.sync(begin)


@contextlib.contextmanager
def _hide_main_module() -> Iterator[None]:
    """Let new workers import nothing of the program that starts them, which would start itself again in each of them."""
    mine = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = mine


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
