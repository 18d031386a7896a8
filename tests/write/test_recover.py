"""An apply or undo that is cut off anywhere leaves a project that the next start brings to one side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.model import FileChange
from ddp_codemod.write import atomic, journal, journal_folders
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import ChangedMeanwhile, Locked, PutBackFailed
from ddp_codemod.write.lock import exclusive_lock
from ddp_codemod.write.recover import find_interrupted, recover_project
from ddp_codemod.write.undo import undo

OLD, NEW = b'x = "nccl"\n', b'x = "gloo"\n'
NAMES = ("a.py", "b.py", "c.py")
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

KILLED = """
import os, signal, sys
from pathlib import Path
from ddp_codemod.model import FileChange
from ddp_codemod.write import atomic, journal, swap
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.undo import undo
what, at = sys.argv[2], int(sys.argv[3])
import ctypes; swap._system_call()
seen = 0
def count(event, _):
    global seen
    if event.split(".")[0] in ("open", "os", "shutil"):
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
if what == "apply":
    names = ("a.py", "b.py", "c.py")
    apply_changes(Path(sys.argv[1]), [FileChange(name, OLD, NEW) for name in names], allow_dirty=False)
else:
    undo(Path(sys.argv[1]))
""".replace("OLD", repr(OLD)).replace("NEW", repr(NEW))


def three(root: Path) -> list[FileChange]:
    for name in NAMES:
        (root / name).write_bytes(OLD)
    return [FileChange(name, OLD, NEW) for name in NAMES]


def listing(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir()}


def killed(root: Path, what: str, at: int) -> bool:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(root), what, str(at)], check=False)
    assert ended.returncode in (0, -signal.SIGKILL)
    return ended.returncode != 0


@posix
@pytest.mark.parametrize("at", [2, 14, 23, 31, 35])  # the proofs kill everywhere
@pytest.mark.parametrize("what", ["apply", "undo"])
def test_killed_anywhere_all_or_none(project: Path, what: str, at: int) -> None:
    changes = three(project)
    if what == "undo":
        apply_changes(project, changes, allow_dirty=False)
    killed(project, what, at)
    recover_project(project)
    found = listing(project)
    assert set(found) == set(NAMES)
    assert len(set(found.values())) == 1
    assert find_interrupted(project) == ()
    if found["a.py"] == NEW:
        undo(project)
    assert listing(project) == dict.fromkeys(NAMES, OLD)


def half_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file of three written, and the rest of the way barred."""
    put, calls = atomic.put, []

    def once(temporary: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) > 1:
            raise OSError("no")
        put(temporary, target)

    with monkeypatch.context() as broken:
        broken.setattr(atomic, "put", once)
        with pytest.raises(PutBackFailed):
            apply_changes(project, three(project), allow_dirty=False)
    assert find_interrupted(project) == NAMES


def test_back(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half_written(project, monkeypatch)
    made = recover_project(project)
    assert made is not None
    assert (made.done, made.changed) == (False, ())
    assert listing(project) == dict.fromkeys(NAMES, OLD)
    assert recover_project(project) is None
    assert journal.read_entries(project) == []


def test_forward(project: Path) -> None:
    apply_changes(project, three(project), allow_dirty=False)
    journal.reopen_entry(journal.read_entries(project)[-1])  # as a process leaves it that ends after the last file
    made = recover_project(project)
    assert made is not None
    assert made.done
    undo(project)
    assert listing(project) == dict.fromkeys(NAMES, OLD)


def test_what_somebody_changed_since_stays(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half_written(project, monkeypatch)
    (project / "a.py").write_bytes(b"mine\n")
    made = recover_project(project)
    assert made is not None
    assert made.changed == ("a.py",)
    assert listing(project) == {"a.py": b"mine\n", "b.py": OLD, "c.py": OLD}
    assert (made.journal / "0").read_bytes() == OLD
    assert recover_project(project) is None
    apply_changes(project, [FileChange("b.py", OLD, NEW)], allow_dirty=False)


@pytest.mark.parametrize("how", ["in place", "by rename"])
def test_an_edit_in_the_very_moment_is_not_lost(project: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    changes = three(project)
    (project / "probe").write_bytes(b"")
    if not atomic.swap(project / "probe", project / "a.py"):
        pytest.skip("this file system cannot exchange files")
    atomic.swap(project / "probe", project / "a.py")
    (project / "probe").unlink()
    put = atomic.put

    def edit_first(temporary: Path, target: Path) -> None:
        if target.name == "b.py" and target.read_bytes() == OLD:  # after the look, before the step
            if how == "in place":
                target.write_bytes(b"mine\n")
            else:
                (project / "saved").write_bytes(b"mine\n")
                (project / "saved").replace(target)
        put(temporary, target)

    monkeypatch.setattr(atomic, "put", edit_first)
    with pytest.raises(ChangedMeanwhile):
        apply_changes(project, changes, allow_dirty=False)
    assert listing(project) == {"a.py": OLD, "b.py": b"mine\n", "c.py": OLD}


def test_an_editor_that_held_the_old_file_open(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = three(project)
    put = atomic.put
    with (project / "a.py").open("r+b") as editor:

        def write_late(temporary: Path, target: Path) -> None:
            put(temporary, target)
            if target.name == "a.py" and not editor.tell() and temporary.exists():
                editor.write(b"mine")
                editor.flush()

        monkeypatch.setattr(atomic, "put", write_late)
        try:
            apply_changes(project, changes, allow_dirty=False)
        except ChangedMeanwhile:
            assert (project / "a.py").read_bytes().startswith(b"mine")
            assert (project / "b.py").read_bytes() == OLD


def test_a_second_interrupt_keeps_the_journal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put, calls = atomic.put, []

    def impatient(temporary: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) in (2, 3):  # while writing, and again while putting back
            raise KeyboardInterrupt
        put(temporary, target)

    changes = three(project)
    with monkeypatch.context() as broken:
        broken.setattr(atomic, "put", impatient)
        with pytest.raises(KeyboardInterrupt):
            apply_changes(project, changes, allow_dirty=False)
    assert find_interrupted(project)
    recover_project(project)
    assert listing(project) == dict.fromkeys(NAMES, OLD)


def test_another_instance_is_named(project: Path) -> None:
    changes = three(project)
    code = (
        "import sys\nfrom pathlib import Path\nfrom ddp_codemod.write.lock import exclusive_lock\n"
        "with exclusive_lock(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        for call in (lambda: apply_changes(project, changes, allow_dirty=False), lambda: recover_project(project)):
            with pytest.raises(Locked) as caught:
                call()
            assert dict(caught.value.reason.args)["pid"] == str(other.pid)
        assert listing(project) == dict.fromkeys(NAMES, OLD)
        other.stdin.close()
        other.wait()
    apply_changes(project, changes, allow_dirty=False)  # the lock went with its holder
    said = json.loads((journal_folders.journal_folder(project) / "lock").read_text())
    assert said["pid"] == os.getpid()


def test_the_lock_of_one_project_is_not_that_of_another(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with exclusive_lock(project), exclusive_lock(tmp_path / "other"), exclusive_lock(project):
        pass


def test_a_relative_state_folder_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert journal_folders.state_folder().is_absolute()
