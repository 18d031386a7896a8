"""No edit of the user's is lost, and one instance writes at a time."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ddp_codemod.model import FileChange
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import Locked
from ddp_codemod.write.lock import exclusive_lock
from ddp_codemod.write.recover import recover_project
from ddp_codemod.write.undo import undo
from proofs import refusals
from proofs.faults import in_child, project, state, write
from proofs.proof import Trial, tree

PROMISE = "no edit of the user's is lost, one instance at a time"
FILES = 6


def prove(trial: Trial) -> str:
    """Race two instances, and race an editor against one."""
    many, refused = trial.sized(6, 200), refusals.own_work(trial)
    root = project(trial.folder, FILES)
    old = tree(root)
    with state(trial.folder):
        began = time.monotonic()
        apply_changes(root, [FileChange(name, data, data + b"#") for name, (data, mode) in old.items() if mode], allow_dirty=True)
        takes = time.monotonic() - began
        for what in ("apply", "undo", "recover"):
            _held(trial, root, what)
        undo(root)
        for number in range(many):
            _two(trial, root, old, number)
        for number in range(many):
            _edited(trial, root, old, number, takes)
    return (
        f"{refused} kinds of own work refused (changed since the commit, read-only, changed since the apply); {many} races of two instances: {trial.counts['one winner']} with one winner and its files whole; "
        f"{trial.counts['refused by name']} of 3 commands refused while another instance was at work, with its number; {many} races with an editor "
        f"({trial.counts['apply won']} after the apply, {trial.counts['editor won']} before it or in it): {trial.counts['lost']} edits lost"
    )


def _held(trial: Trial, root: Path, what: str) -> None:
    """While another instance is at work, a command that writes is refused, and says which one that is."""
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with exclusive_lock(root):
            os.write(ready[1], b"x")
            os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)

    def work() -> None:
        try:
            write(root, what)
        except Locked as why:
            os._exit(7 if str(dict(why.reason.args)["pid"]) == str(child) else 6)

    code = in_child(work)
    os.write(done[1], b"x")
    os.waitpid(child, 0)
    for end in (*ready, *done):
        os.close(end)
    trial.counts["refused by name"] += code == 7
    if code != 7:
        trial.fail(f"{what} while another instance is at work: exit {code}")


def _lay(root: Path, old: dict[str, tuple[bytes, int]]) -> None:
    for name, (data, mode) in old.items():
        if mode:
            (root / name).write_bytes(data)
            (root / name).chmod(mode & 0o7777)


def _two(trial: Trial, root: Path, old: dict[str, tuple[bytes, int]], number: int) -> None:
    """Two processes start at one signal; each wants other bytes in the same files."""
    _lay(root, old)
    names = [name for name, (_, mode) in old.items() if mode]
    wanted = [b"gloo", b"mpi"]
    gate = os.pipe()
    children = []
    for word in wanted:
        changes = [FileChange(name, old[name][0], old[name][0].replace(b"nccl", word)) for name in names]
        child = os.fork()
        if child == 0:
            os.close(gate[1])
            os.read(gate[0], 1)  # until the other end is closed
            os._exit(_ended(lambda changes=changes: apply_changes(root, changes, allow_dirty=True)))  # type: ignore[misc]
        children.append(child)
    os.close(gate[0])
    os.close(gate[1])
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    now = tree(root)
    whole = [word for word in wanted if all(now[name][0] == old[name][0].replace(b"nccl", word) for name in names)]
    if sorted(codes) == [0, 1] and whole == [wanted[codes.index(0)]] and set(now) == set(old):
        trial.counts["one winner"] += 1
        undo(root)
        trial.counts["undone"] += 1
        if tree(root) != old:
            trial.fail(f"race {number}: undo gave something else back")
    else:
        trial.fail(f"race {number}: exit codes {codes}, whole {whole}")


def _ended(work) -> int:  # type: ignore[no-untyped-def]
    from ddp_codemod.write.errors import WriteError

    try:
        work()
    except WriteError:
        return 1
    except BaseException:
        return 3
    return 0


def _edited(trial: Trial, root: Path, old: dict[str, tuple[bytes, int]], number: int, takes: float) -> None:
    """An editor saves one of the files at some moment, in place or by a rename."""
    _lay(root, old)
    names = [name for name, (_, mode) in old.items() if mode]
    changes = [FileChange(name, old[name][0], old[name][0].replace(b"nccl", b"gloo")) for name in names]
    victim = root / trial.random.choice(names)
    mine = b"# mine %d\n" % number
    wait, in_place = trial.random.random() * 2.5 * takes, trial.random.random() < 0.5
    child = os.fork()
    if child == 0:
        os._exit(_ended(lambda: apply_changes(root, changes, allow_dirty=True)))
    time.sleep(wait)
    if in_place:
        victim.write_bytes(mine)
    else:
        (root / "saved~").write_bytes(mine)
        (root / "saved~").replace(victim)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    now = tree(root)
    key = os.path.relpath(victim, root)
    others = {name: data for name, (data, _) in now.items() if name not in (key, "link.py")}
    before = {name: old[name][0] for name in others if name in old}
    after = {name: data.replace(b"nccl", b"gloo") for name, data in before.items()}
    if now[key][0] != mine:
        trial.counts["lost"] += 1
        trial.fail(f"editor {number} ({'in place' if in_place else 'rename'}): the edit is gone; exit {code}")
    elif others != (after if code == 0 else before):
        trial.fail(f"editor {number}: exit {code}, and the other files are mixed")
    trial.counts["apply won" if code == 0 else "editor won"] += 1
    _lay(root, old)
    in_child(lambda: recover_project(root))
