"""An apply is all or nothing, whenever its process ends and whatever the system refuses."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from proofs import power
from proofs.faults import Scene, in_child, killing_at, planned, state, write
from proofs.proof import REPOSITORY, Trial, environment, tree

PROMISE = "apply is all or nothing"
FILES = 7
BEGIN = "/ddp-codemod-begins"  # looked for by proofs.victim right before it writes: where a trace begins to count
WRITING = (
    "openat,open,creat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,ftruncate,truncate,link,linkat,symlink,symlinkat,setxattr,fsetxattr"
)


def prove(trial: Trial) -> str:
    """Kill at every step of apply, undo and recovery; fill the disk; bar the folder."""
    scenes = {
        "apply": Scene(trial.folder / "apply", FILES),
        "undo": Scene(trial.folder / "undo", FILES, lambda root: write(root, "apply")),
        "recover": Scene(trial.folder / "recover", FILES, _half),
    }
    for what, scene in scenes.items():
        with state(scene.stage):
            for moment in _moments(trial, scene, what):
                scene.lay()
                in_child(killing_at(moment, lambda: write(scene.root, what)))
                scene.judge(trial, f"{what} killed at its touch {moment}")
    touches = trial.counts["points"]
    if trial.whole and shutil.which("strace"):
        for what, scene in scenes.items():
            with state(scene.stage):
                _traced(trial, scene, what)
    calls = trial.counts["points"] - touches
    _barred(trial, scenes["apply"])
    _refused(trial, scenes["apply"])
    full, replayed = _full(trial, scenes["apply"]), power.prove(trial)
    return (
        f"{touches} kills at the touches of files in apply, undo and recovery, {calls} kills and refusals (ENOSPC, EIO) at their system calls "
        f"({'strace' if calls else 'no strace'}), {full} full disks, {trial.counts['barred']} unwritable folders, "
        f"{trial.counts['refused']} exchanges of names that the system refused (nothing left for recovery), {replayed} disks after a loss of power at each step (simulated): "
        f"{len(trial.failures)} mixed trees or missing files; {trial.counts['back']} went back, {trial.counts['forward']} forward"
    )


def _half(root: Path) -> None:
    """A project whose apply was killed in the middle of its renames."""
    for moment in range(30, 200):
        if in_child(killing_at(moment, lambda: write(root, "apply"))) == 0:
            raise RuntimeError("no moment in the middle was found")
        if 1 < sum(b"gloo" in path.read_bytes() for path in root.rglob("*.py") if not path.is_symlink()) < FILES:
            return
        in_child(lambda: write(root, "recover"))


def _moments(trial: Trial, scene: Scene, what: str) -> list[int]:
    """Every touch of a file in one run, or some of them."""
    low, high = 1, 4096
    while low < high:  # the first moment that never comes
        middle = (low + high) // 2
        scene.lay()
        if in_child(killing_at(middle, lambda: write(scene.root, what))) == 9:
            low = middle + 1
        else:
            high = middle
    every = list(range(1, low))
    return every if trial.whole else sorted(trial.random.sample(every, min(12, len(every))))


def _traced(trial: Trial, scene: Scene, what: str) -> None:
    """Kill, and refuse, at each system call that writes."""
    log = scene.stage.parent / "trace"
    victim = [sys.executable, "-m", "proofs.victim", str(scene.root), what]
    env = {**environment(scene.stage.parent), "XDG_STATE_HOME": str(scene.stage / "state")}
    scene.lay()
    base = ["strace", "-f", "-qq", "-o", str(log)]
    subprocess.run([*base, "-e", f"trace={WRITING},newfstatat,stat", *victim], env=env, cwd=REPOSITORY, check=True)
    for call, number, text in _calls(log.read_text("utf-8", "replace")):
        faults = ["signal=KILL"]
        if call in ("openat", "write", "mkdir", "rename", "renameat2", "fsync"):
            faults.append("error=EIO" if call == "fsync" else "error=ENOSPC")
        for fault in faults:
            scene.lay()
            inject = f"inject={call}:{fault}:when={number}"
            subprocess.run(
                [*base, "-e", f"trace={call}", "-e", inject, *victim],
                env=env,
                cwd=REPOSITORY,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            scene.judge(trial, f"{what}: {fault} at {call} {number}: {text}")


def _calls(log: str) -> Iterator[tuple[str, int, str]]:
    """(name, number among those of its name, text) of each call that writes, once the work begins."""
    seen: dict[str, int] = {}
    begun = False
    for line in log.splitlines():
        found = re.match(r"(?:\d+\s+)?(\w+)\(", line)
        if found is None:
            continue
        call = found.group(1)
        seen[call] = seen.get(call, 0) + 1
        begun = begun or BEGIN in line
        opens = call in ("open", "openat")
        if begun and call not in ("newfstatat", "stat") and (not opens or re.search(r"O_CREAT|O_WRONLY|O_RDWR|O_TRUNC", line)):
            yield call, seen[call], line[:120]


def _barred(trial: Trial, scene: Scene) -> None:
    """A folder that takes no new file, for someone who is not root."""
    with state(scene.stage):
        for name in ("a", "a/b", ""):
            root = scene.lay()
            (root / name).chmod(0o555)

            def work(root: Path = root) -> None:
                changes = planned(root)
                if os.geteuid() == 0:
                    for path in [scene.stage, *scene.stage.rglob("*")]:
                        os.chown(path, 65534, 65534, follow_symlinks=False)
                    for above in root.parents:
                        if above.is_relative_to(trial.folder):
                            above.chmod(above.stat().st_mode | 0o011)
                    os.setgid(65534)
                    os.setuid(65534)
                from ddp_codemod.write.apply import apply_changes

                apply_changes(root, changes, allow_dirty=True)

            code = in_child(work)
            (root / name).chmod(0o755)
            trial.counts["barred"] += 1
            if code != 1 or {key: data for key, (data, _) in tree(root).items()} != {
                key: data for key, (data, _) in scene.old.items()
            }:
                trial.fail(f"unwritable folder {name!r}: exit {code}, or files changed")


def _refused(trial: Trial, scene: Scene) -> None:
    """The system refuses to exchange the n-th name: the process itself puts back what it has done, with no recovery after it."""
    from ddp_codemod.write import atomic

    with state(scene.stage):
        for moment in range(1, FILES + 1):
            scene.lay()

            def work(moment: int = moment) -> None:
                real, seen = atomic.put, 0

                def put(temporary: Path, target: Path) -> None:
                    nonlocal seen
                    seen += 1
                    if seen == moment:
                        raise OSError(errno.EIO, os.strerror(errno.EIO), str(target))
                    real(temporary, target)

                atomic.put = put
                write(scene.root, "apply")

            code = in_child(work)
            trial.counts["refused"] += 1
            if code != 1 or tree(scene.root) != scene.old:
                trial.fail(f"refused at name {moment}: exit {code}, or not all was put back")


def _full(trial: Trial, scene: Scene) -> int:
    """A disk that is full: a small file system where one can be mounted, else a limit on the size of files."""
    done = 0
    for room in range(0, 100, 34 if not trial.whole else 3):
        root = scene.lay()
        place = scene.stage.parent / "disk"
        place.mkdir(exist_ok=True)
        need = sum(len(data) for data, _ in scene.old.values())
        size = need + 60_000 + room * need // 60
        mounted = (
            not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, check=False
            ).returncode
            if shutil.which("mount") and hasattr(os, "geteuid") and os.geteuid() == 0
            else False
        )
        try:
            if mounted:
                shutil.copytree(root, place / "project", symlinks=True)
                root = place / "project"
            with state(place if mounted else scene.stage):
                code = in_child((lambda root=root: write(root, "apply")) if mounted else _limited(root, room * 400 + 100))
                now = tree(root)
                done += 1
                trial.counts["full, and refused"] += code == 1
                if now not in (scene.old, scene.new) or code not in (0, 1):
                    trial.fail(f"full disk ({size} bytes): exit {code}, {sorted(set(now) ^ set(scene.old))}")
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(place)], check=False)
    return done


def _limited(root: Path, most: int):  # type: ignore[no-untyped-def]
    def work() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        write(root, "apply")

    return work
