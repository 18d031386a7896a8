"""What is done about one repository, in a process of its own: whatever the repository does to it, it does to this process only."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import traceback
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ddp_codemod.fleet.keys import PATTERNS, digest_contents, result_name, short_name
from ddp_codemod.fleet.model import Entry, Limits, Outcome, Reply, Trouble, Work
from ddp_codemod.fleet.rewrite import Known, Unparseable, failed_outcome, rewrite_project
from ddp_codemod.fleet.store import Store
from ddp_codemod.write import results
from ddp_codemod.write.clone import CloneFailed, Cloner, Remote, Start, is_repository, strip_credentials

REPLY, OUT, COMMIT = "reply.json", "out", "commit"
_LONGEST_ANSWER = 120.0  # seconds that a server may take, of the time that the repository has


@dataclass(frozen=True)
class SharedSetup:
    """What is found out once for all repositories."""

    known: Known
    start: Start


def limit_process(limits: Limits) -> None:
    """Bind this process and those that it starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = max(int(limits.cpu), 1)
    _lower_limit(resource.RLIMIT_CPU, seconds, seconds + 5)
    _lower_limit(resource.RLIMIT_FSIZE, limits.size, limits.size)
    with contextlib.suppress(OSError, ValueError):  # macOS has the name and not the limit
        _lower_limit(resource.RLIMIT_AS, limits.memory, limits.memory)


def _lower_limit(what: int, soft: int, hard: int) -> None:
    most = resource.getrlimit(what)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(what, (soft, hard))


def run_child(entry: Entry, known: frozenset[str], work: Work, given: SharedSetup, folder: Path) -> None:
    """Do it, and leave the reply and the files in ``folder``."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much is an OSError here; git dies of it and says so
    reply, files = _make_reply(entry, known, work, given, folder)
    results.leave_files(folder / OUT, {**files, REPLY: msgspec.json.encode(reply)})


def _make_reply(
    entry: Entry, known: frozenset[str], work: Work, given: SharedSetup, folder: Path
) -> tuple[Reply, dict[str, bytes]]:
    commit: str | None = None

    def no(trouble: Trouble, detail: str) -> tuple[Reply, dict[str, bytes]]:
        return Reply(failed_outcome(entry, trouble, detail, work, commit)), {}

    try:
        remote, commit = resolve_entry(entry, Cloner(folder, min(work.limits.seconds, _LONGEST_ANSWER), given.start))
        results.leave_files(folder, {COMMIT: commit.encode("ascii")})
        name = result_name(entry, work, commit)
        store = Store.shared(work)
        if name in known or (store and store.finished(name, work.limits, work.again)):
            return Reply(Outcome(entry.repository, entry.platform, entry.ref, commit, name), unchanged=True), {}
        if store is not None:
            store.log("begun", name)
        root = Path(entry.repository)
        if remote is not None:
            root = folder / "tree" / short_name(entry)
            Cloner(folder, work.limits.seconds, given.start).clone(remote, entry.ref, commit, root, PATTERNS)
        outcome, files = rewrite_project(root, entry, work, given.known)
    except CloneFailed as why:
        return no(Trouble.TOO_LARGE if why.large else Trouble.CLONE_FAILED, str(why))
    except Unparseable as why:
        return no(Trouble.TOO_LARGE if _is_memory_used_up(work.limits) else Trouble.UNPARSEABLE, str(why))
    except MemoryError:
        return no(Trouble.TOO_LARGE, f"more than {work.limits.memory} bytes of memory")
    except Exception as why:  # whatever a stranger's file does to the engine, it is to have a name
        frame = traceback.extract_tb(sys.exc_info()[2])[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        large = isinstance(why, OSError) and why.errno in (27, 28)  # EFBIG, ENOSPC
        return no(Trouble.TOO_LARGE if large else Trouble.CRASHED, f"{type(why).__name__}: {str(why)[:300]} ({where})")
    return Reply(replace(outcome, commit=commit, folder=name)), files


def resolve_entry(entry: Entry, cloner: Cloner) -> tuple[Remote | None, str]:
    """Where to clone from and the commit; for a folder without git no remote, and the digest of its files. Raises CloneFailed."""
    path = Path(entry.repository)
    if path.is_absolute() and not is_repository(path):
        if not path.is_dir():
            raise CloneFailed(f"{strip_credentials(entry.repository)}: neither a folder nor a git bundle")
        if entry.ref is not None:
            raise CloneFailed(f"{entry.ref}: the folder is no git repository, so there is no such ref")
        return None, digest_contents(path)
    remote = Remote.of(entry.repository)
    return remote, cloner.commit(remote, entry.ref)


def _is_memory_used_up(limits: Limits) -> bool:
    """Whether a file was given up for want of memory, rather than for what is in it."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return most > limits.memory // 2


def exit_child(code: int) -> None:
    """End the forked process without the parent's clean-up."""
    sys.stderr.flush()
    os._exit(code)
