"""What is refused before a byte is written: work that git could not give back, places outside, git folders that lead elsewhere."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from ddp_codemod.model import FileChange
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import ChangedSince, DirtyFiles, OutsideRoot, ReadOnlyFiles, WriteError
from ddp_codemod.write.undo import undo
from proofs.faults import in_child, state
from proofs.proof import Trial, environment, git, tool, tree

OLD, NEW, MINE = b"x = 'nccl'\n", b"x = 'gloo'\n", b"x = 'nccl'  # mine\n"


def own_work(trial: Trial) -> int:
    """Files with work of the user's in them stay: changed since the last commit, made read-only, changed since the apply."""
    folder = trial.folder / "own"
    root = folder / "project"
    root.mkdir(parents=True)
    for name in ("dirty.py", "locked.py", "later.py"):
        (root / name).write_bytes(OLD)
    env = environment(folder)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        git(root, *words, env=env)
    (root / "dirty.py").write_bytes(MINE)
    (root / "locked.py").chmod(0o444)
    with state(folder):
        _refused(trial, root, "dirty.py", MINE, DirtyFiles)
        _refused(trial, root, "locked.py", OLD, ReadOnlyFiles)
        apply_changes(root, [FileChange("later.py", OLD, NEW)], allow_dirty=False)
        (root / "later.py").write_bytes(MINE)
        with contextlib.suppress(ChangedSince):
            undo(root)
            trial.fail("undo over an edit that was made since: not refused")
        if (root / "later.py").read_bytes() != MINE:
            trial.fail("undo over an edit that was made since: it is gone")
    return 3


def _refused(trial: Trial, root: Path, name: str, data: bytes, error: type[WriteError]) -> None:
    try:
        apply_changes(root, [FileChange(name, data, NEW)], allow_dirty=False)
    except error:
        pass
    else:
        trial.fail(f"{name}: not refused")
    if (root / name).read_bytes() != data:
        trial.fail(f"{name}: it was written")


def places(trial: Trial) -> int:
    """What leads out of the root, or is no file, is no target, whoever names it."""
    folder = trial.folder / "places"
    root, away = folder / "project", folder / "away"
    root.mkdir(parents=True)
    away.mkdir()
    (away / "a.py").write_bytes(OLD)
    (root / "link.py").symlink_to(away / "a.py")
    (root / "linked").symlink_to(away)
    (root / "gone.py").symlink_to(away / "none.py")
    os.mkfifo(root / "pipe.py")
    names = ("link.py", "linked/a.py", "../away/a.py", str(away / "a.py"), "gone.py", "pipe.py")
    with state(folder):
        for name in names:
            before = tree(away)

            def work(name: str = name) -> None:
                try:
                    apply_changes(root, [FileChange(name, OLD, NEW)], allow_dirty=True)
                except OutsideRoot:
                    os._exit(7)

            if (code := in_child(work)) != 7:
                trial.fail(f"a change of {name}: not refused as a place outside ({code})")
            if tree(away) != before:
                trial.fail(f"a change of {name}: written outside of the root")
    return len(names)


def foreign(trial: Trial) -> int:
    """A commit goes into no other repository, however the ``.git`` of an unpacked archive leads there."""
    plants = ("commondir", "objects", "refs", "logs", "file") if trial.whole else ("objects", "file")
    for plant in plants:
        folder = trial.folder / f"foreign-{plant}"
        other, root, env = folder / "other", folder / "project", environment(folder)
        for at in (other, root):
            at.mkdir(parents=True)
            (at / "train.py").write_text("import torch.distributed as dist\n\ndist.init_process_group('nccl')\n")
            for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
                git(at, *words, env=env)
        if plant == "commondir":
            (root / ".git" / "commondir").write_text("../../other/.git\n")
        elif plant == "file":
            (root / ".git").rename(folder / "old")
            (root / ".git").write_text("gitdir: ../other/.git\n")
        else:
            (root / ".git" / plant).rename(folder / plant)
            (root / ".git" / plant).symlink_to(other / ".git" / plant)
        before = _bytes(other)
        subprocess.run(tool("apply", ".", "--platform", "rocm", "--commit"), cwd=root, env=env, capture_output=True, timeout=120)
        if _bytes(other) != before:
            trial.fail(f"apply --commit with a planted {plant}: another repository was written to")
    return len(plants)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
