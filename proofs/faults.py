"""Ends a writing process at a chosen moment, and looks at what is left."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ddp_codemod.model import FileChange
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import WriteError
from ddp_codemod.write.recover import recover_project
from ddp_codemod.write.undo import undo
from proofs.proof import Trial, tree

OLD, NEW = b"nccl", b"gloo"
MODES = (0o644, 0o755, 0o600, 0o640)
WAIT = 60  # seconds until a child that waits for what never comes (a pipe that nobody reads) is ended


def project(folder: Path, files: int) -> Path:
    """A project of some files of different modes in several folders, one of them reached by a link, one with two names."""
    root = folder / "project"
    for number in range(files):
        path = root / ("", "a", "a/b")[number % 3] / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x = 'nccl'\r\n" * (number * 700 + 1))
        path.chmod(MODES[number % len(MODES)])
    (root / "link.py").symlink_to("f0.py")
    os.link(root / "f0.py", folder / "second-name.py")
    return root


def planned(root: Path) -> list[FileChange]:
    """One word replaced in every file."""
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [FileChange(name, data, data.replace(OLD, NEW)) for name in names if OLD in (data := (root / name).read_bytes())]


def write(root: Path, what: str) -> None:
    """One of the steps that write."""
    if what == "apply":
        apply_changes(root, planned(root), allow_dirty=True)
    elif what == "undo":
        undo(root)
    else:
        recover_project(root)


@contextmanager
def state(folder: Path) -> Iterator[None]:
    """The journal in a folder of its own."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


def in_child(work: Callable[[], object]) -> int:
    """Do it in a child process; its exit status: 0, 1 where it was refused, the number of the signal that ended it otherwise."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(WAIT)
        code = 1
        try:
            work()
            code = 0
        except WriteError:
            code = 1
        except BaseException as why:
            sys.stderr.write(f"child: {why!r}\n")
            code = 3
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def killing_at(moment: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work, whose process is killed when it is about to touch a file for the n-th time."""

    def run() -> object:
        seen = 0

        def count(event: str, _: object) -> None:
            nonlocal seen
            if event == "open" or event.startswith(("os.", "shutil.")):
                seen += 1
                if seen == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        return work()

    return run


class Scene:
    """A project and its journal, laid out anew for every trial under the same names."""

    def __init__(self, folder: Path, files: int, prepared: Callable[[Path], object] | None = None) -> None:
        self.stage, self.kept = folder / "stage", folder / "kept"
        self.root = self.stage / "project"
        self.stage.mkdir(parents=True)
        project(self.stage, files)
        self.old = tree(self.root)
        self.new = {name: (data.replace(OLD, NEW) if mode else data, mode) for name, (data, mode) in self.old.items()}
        with state(self.stage):
            if prepared is not None:
                prepared(self.root)
        shutil.copytree(self.stage, self.kept, symlinks=True)

    def lay(self) -> Path:
        """Everything as at the start."""
        shutil.rmtree(self.stage)
        shutil.copytree(self.kept, self.stage, symlinks=True)
        return self.root

    def judge(self, trial: Trial, what: str) -> None:
        """Recover, then look: all files changed or none, none missing, nothing left behind; then undo, which gives all back."""
        in_child(lambda: recover_project(self.root))
        left = recover_project(self.root)
        now = tree(self.root)
        trial.counts["points"] += 1
        if left is not None:
            trial.fail(f"{what}: a second recovery still had something to do")
        if now not in (self.old, self.new):
            missing = sorted(set(self.old) - set(now))
            more = sorted(set(now) - set(self.old))
            mixed = sorted({name for name in now if name in self.old and now[name] != self.old[name]})
            trial.fail(f"{what}: a mixed tree; missing {missing}, left behind {more}, changed {mixed}")
            return
        trial.counts["forward" if now == self.new else "back"] += 1
        if now == self.new:
            undo(self.root)
            trial.counts["undone"] += 1
            if tree(self.root) != self.old:
                trial.fail(f"{what}: undo gave something else back")
