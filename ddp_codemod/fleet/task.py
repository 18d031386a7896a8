"""What a Dask worker does: it holds the run's settings and its supervisors, and sees one repository through at a time."""

from __future__ import annotations

from typing import Any

import msgspec
from distributed import Worker, WorkerPlugin, get_worker

from ddp_codemod import __version__
from ddp_codemod.fleet.children import Crew
from ddp_codemod.fleet.keys import digest_rules
from ddp_codemod.fleet.model import Entry, Reply, Trouble, Work
from ddp_codemod.fleet.rewrite import failed_outcome


class Setup(WorkerPlugin):
    """The run's settings; Dask sends them to every worker, also to one that comes or comes back later."""

    def __init__(self, work: bytes) -> None:
        self._data = work

    def setup(self, worker: Worker) -> None:
        """Begin on a worker."""
        self.work = msgspec.json.decode(self._data, type=Work)
        self._wrong = _find_difference(self.work)
        self._crew = Crew(self.work)

    def teardown(self, worker: Worker) -> None:
        """End on a worker."""
        self._crew.close()

    def run(self, entry: Entry, known: tuple[str, ...]) -> Reply:
        """One repository."""
        if self._wrong:
            return Reply(failed_outcome(entry, Trouble.CRASHED, self._wrong, self.work))
        return self._crew.run(entry, known)

    def __getstate__(self) -> dict[str, Any]:
        return {"_data": self._data}


def _find_difference(work: Work) -> str:
    """How this worker differs from the one who asks: its results would be other ones."""
    if __version__ != work.version:
        return f"the worker has ddp-codemod {__version__}, the run was started with {work.version}"
    return "" if digest_rules(work.folders) == work.rules else "the worker has other rule data than the run was started with"


def run_task(plugin: str, entry: bytes, known: tuple[str, ...]) -> bytes:
    """The task: JSON in, JSON out."""
    setup = get_worker().plugins[plugin]
    assert isinstance(setup, Setup)
    return msgspec.json.encode(setup.run(msgspec.json.decode(entry, type=Entry), known))
