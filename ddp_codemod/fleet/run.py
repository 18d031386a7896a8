"""Drives a run: what is finished is read, the rest goes to the machines, a window at a time; outcomes come as they are ready."""

from __future__ import annotations

import os
import tempfile
import time
from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import as_completed as completed
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ddp_codemod.fleet.child import resolve_entry
from ddp_codemod.fleet.children import Crew
from ddp_codemod.fleet.cluster import Machines
from ddp_codemod.fleet.keys import name_place, result_name
from ddp_codemod.fleet.model import Entry, Outcome, Reply, Trouble, Work
from ddp_codemod.fleet.order import sort_largest_first
from ddp_codemod.fleet.rewrite import failed_outcome
from ddp_codemod.fleet.store import Store
from ddp_codemod.write.clone import CloneFailed, Cloner, Start

if TYPE_CHECKING:
    from dask.typing import Key
    from distributed import Client, Future

_AHEAD = 8  # repositories that are handed out for each worker, so that none ever waits for the client
_PAUSE = 0.25  # seconds in which results gather: what comes together costs the client and the scheduler little more than one
FEW = 16  # repositories, at most, that are done before a cluster would have begun
_LEAST = 64  # workers may come later
_ASKED = 8  # servers at a time; one that is asked more often at once turns some away
_LOOK_UP = 30.0  # seconds that a server may take to say what its branches are at


class LostScheduler(Exception):
    """The scheduler is gone; what is finished is kept."""


@dataclass(frozen=True)
class Done:
    """A repository that is dealt with; ``kept``: by an earlier run."""

    entry: Entry
    outcome: Outcome
    kept: bool = False


class Kept:
    """The results of earlier runs that are of use to this one."""

    def __init__(self, store: Store, work: Work) -> None:
        self.store, self.work = store, work
        self.cloner: Cloner | None = None

    def names(self, entry: Entry) -> tuple[str, ...]:
        """The names of an entry's results, of any commit, that count for this run."""
        place = self.store.out / name_place(entry)
        try:
            found = sorted(os.listdir(place))  # noqa: PTH208 - names are all that it takes
        except OSError:
            return ()
        suffix = result_name(entry, self.work, "").rpartition("/")[2]
        wanted = (f"{name_place(entry)}/{name}" for name in found if name.endswith(suffix))
        return tuple(name for name in wanted if self.store.finished(name, self.work.limits, self.work.again))

    def unchanged(self, entry: Entry) -> Outcome | None:
        """The result of the commit that the repository is at now; None where there is none yet, or that cannot be told."""
        if self.cloner is None or not self.names(entry):
            return None
        try:
            _, commit = resolve_entry(entry, self.cloner)
        except (CloneFailed, OSError):
            return None
        name = result_name(entry, self.work, commit)
        return self.store.finished(name, self.work.limits, self.work.again)


def find_finished(entries: Sequence[Entry], kept: Kept) -> Generator[Done | Entry, None, None]:
    """Each entry as done, where an earlier run did it and nothing has changed since; else as it is. Asked many at a time."""
    with tempfile.TemporaryDirectory(prefix="ddp-codemod-") as folder, ThreadPoolExecutor(_ASKED) as pool:
        with suppress(CloneFailed):
            kept.cloner = Cloner(Path(folder), _LOOK_UP, Start.of(Path(folder)))
        for entry, outcome in zip(entries, pool.map(kept.unchanged, entries), strict=True):
            yield entry if outcome is None else Done(entry, outcome, kept=True)


def run_entries(entries: Sequence[Entry], kept: Kept, machines: Machines) -> Iterator[Done]:
    """See the entries through on the machines. Raises LostScheduler."""
    from distributed import as_completed

    client = machines.client
    waiting = iter(sort_largest_first(entries))
    of: dict[Key, Entry] = {}

    def submit(some: Sequence[Entry]) -> list[Future[bytes]]:
        from ddp_codemod.fleet.task import run_task

        if not some:
            return []
        encoded, names = [msgspec.json.encode(entry) for entry in some], [kept.names(entry) for entry in some]
        futures = client.map(run_task, [machines.plugin] * len(some), encoded, names, pure=False)
        of.update((future.key, entry) for future, entry in zip(futures, some, strict=True))
        return futures

    running = as_completed(submit(list(islice(waiting, max(_AHEAD * machines.workers, _LEAST)))))
    while not running.is_empty():
        batch = running.next_batch()
        for future, reply in zip(batch, _fetch_replies(client, batch, lambda future: of[future.key], kept.work), strict=True):
            yield _make_done(of.pop(future.key), reply, kept)
            future.release()
        running.update(submit(list(islice(waiting, max(_AHEAD * machines.workers, _LEAST) - len(of)))))
        if of and not running.has_ready():
            time.sleep(_PAUSE)


def run_locally(entries: Sequence[Entry], kept: Kept, workers: int) -> Generator[Done, None, None]:
    """See a few entries through from this process, without a cluster; whoever stops taking them closes the generator."""
    crew = Crew(kept.work)
    with closing(crew), ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(crew.run, entry, kept.names(entry)): entry for entry in sort_largest_first(entries)}
        try:
            for future in completed(running):
                yield _make_done(running[future], future.result(), kept)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            crew.stop()


def _fetch_replies(
    client: Client, batch: Sequence[Future[bytes]], entry: Callable[[Future[bytes]], Entry], work: Work
) -> list[Reply]:
    """The replies of tasks that ended, fetched together; one by one where that fails. Raises LostScheduler."""
    try:
        # waits, where a worker died with a result before it was here: Dask has it made again, which finds it kept
        return [msgspec.json.decode(data, type=Reply) for data in client.gather(list(batch))]
    except (Exception, CancelledError):
        return [_fetch_reply(client, future, entry(future), work) for future in batch]


def _fetch_reply(client: Client, future: Future[bytes], entry: Entry, work: Work) -> Reply:
    try:
        return msgspec.json.decode(future.result(), type=Reply)
    except (Exception, CancelledError) as why:
        if client.status != "running" or isinstance(why, CancelledError):
            raise LostScheduler from None
        # every worker that had it died
        return Reply(failed_outcome(entry, Trouble.CRASHED, f"{type(why).__name__}: {str(why)[:200]}", work))


def _make_done(entry: Entry, reply: Reply, kept: Kept) -> Done:
    if reply.unchanged:
        outcome = kept.store.finished(reply.outcome.folder, kept.work.limits, kept.work.again)
        return Done(entry, outcome or reply.outcome, kept=True)
    if reply.files or (reply.outcome.commit and not reply.outcome.folder):  # from a worker that does not see the folder
        return Done(entry, kept.store.keep(entry, kept.work, reply))
    return Done(entry, reply.outcome)
