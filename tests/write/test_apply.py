from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddp_codemod.messages import LANGUAGES, catalogue, placeholders
from ddp_codemod.model import FileChange
from ddp_codemod.write import atomic, journal
from ddp_codemod.write import errors as all_errors
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import (
    ChangedMeanwhile,
    Conflicting,
    ConvertedFiles,
    DirtyFiles,
    Interrupted,
    JournalUnavailable,
    OutsideRoot,
    PutBackFailed,
    ReadOnlyFiles,
    RepositoryUnreadable,
    WriteError,
    WriteFailed,
)
from ddp_codemod.write.undo import undo

if TYPE_CHECKING:
    from conftest import Repo

OLD, NEW = b'x = "nccl"\n', b'x = "gloo"\n'


def three(root: Path) -> list[FileChange]:
    """Three files to change."""
    for name in ("a.py", "b.py", "c.py"):
        (root / name).write_bytes(OLD)
    return [FileChange(name, OLD, NEW) for name in ("a.py", "b.py", "c.py")]


def listing(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}


def test_writes_and_tells_what(project: Path) -> None:
    written = apply_changes(project, three(project), allow_dirty=False)
    assert written.names == ("a.py", "b.py", "c.py")
    assert listing(project) == {"a.py": NEW, "b.py": NEW, "c.py": NEW}


def test_nothing_to_write_leaves_no_record(project: Path) -> None:
    assert apply_changes(project, [], allow_dirty=False).journal is None
    assert apply_changes(project, [FileChange("none.py", OLD, OLD)], allow_dirty=False).names == ()
    assert journal.read_entries(project) == []


def test_dirty_file_is_refused_and_the_clean_one_with_it(repo: Repo) -> None:
    repo.commit(a=OLD, b=OLD)
    (repo.top / "b.py").write_bytes(OLD + b"mine\n")
    with pytest.raises(DirtyFiles) as caught:
        apply_changes(repo.top, [repo.change("a.py"), repo.change("b.py")], allow_dirty=False)
    assert caught.value.names == ("b.py",)
    assert repo.read("a.py") == OLD
    assert repo.read("b.py") == OLD + b"mine\n"


def test_dirty_file_is_written_when_allowed(repo: Repo) -> None:
    repo.commit(a=OLD)
    (repo.top / "a.py").write_bytes(OLD + b"mine\n")
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=True)
    assert repo.read("a.py") == NEW + b"mine\n"


def test_staged_file_is_not_dirty(repo: Repo) -> None:
    repo.commit(a=b"other\n")
    (repo.top / "a.py").write_bytes(OLD)
    repo.git("add", "a.py")
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)


def test_what_the_last_apply_wrote_is_not_dirty(repo: Repo) -> None:
    repo.commit(a=OLD, b=OLD)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    apply_changes(repo.top, [repo.change("b.py")], allow_dirty=False)
    apply_changes(repo.top, [repo.change("a.py", b"gloo", b"mpi")], allow_dirty=False)
    assert repo.read("a.py") == b'x = "mpi"\n'


def test_an_edit_after_the_last_apply_is_dirty(repo: Repo) -> None:
    repo.commit(a=OLD)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    (repo.top / "a.py").write_bytes(NEW + b"mine\n")
    with pytest.raises(DirtyFiles):
        apply_changes(repo.top, [repo.change("a.py", b"gloo", b"mpi")], allow_dirty=False)


def test_what_an_earlier_apply_wrote_is_dirty_once_it_is_undone(repo: Repo) -> None:
    repo.commit(a=OLD)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    undo(repo.top)
    (repo.top / "a.py").write_bytes(NEW)
    with pytest.raises(DirtyFiles):
        apply_changes(repo.top, [repo.change("a.py", b"gloo", b"mpi")], allow_dirty=False)


def test_untracked_and_ignored_files_are_not_dirty(repo: Repo) -> None:
    (repo.top / ".gitignore").write_text("ignored.py\n")
    repo.commit()
    for name in ("new.py", "ignored.py"):
        (repo.top / name).write_bytes(OLD)
    apply_changes(repo.top, [repo.change("new.py"), repo.change("ignored.py")], allow_dirty=False)
    assert repo.read("new.py") == repo.read("ignored.py") == NEW


def test_file_in_the_middle_of_a_merge_is_dirty(repo: Repo) -> None:
    repo.commit(a=OLD)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=b"side nccl\n")
    repo.git("checkout", "-q", "main")
    repo.commit(a=b"main nccl\n")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repo.top, capture_output=True, check=False)
    for content in (repo.read("a.py"), OLD, b"side nccl\n", b"main nccl\n"):
        (repo.top / "a.py").write_bytes(content)
        with pytest.raises(DirtyFiles):
            apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)


def test_line_ends_saved_by_an_editor_are_dirty_where_git_converts_nothing(repo: Repo) -> None:
    repo.commit(a=OLD)
    (repo.top / "a.py").write_bytes(OLD.replace(b"\n", b"\r\n"))
    with pytest.raises(DirtyFiles):
        apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)


def test_what_a_filter_rewrites_is_refused_by_the_filters_name(repo: Repo) -> None:
    (repo.top / ".gitattributes").write_text("a.py filter=secret\nb.py working-tree-encoding=UTF-16\nc.py ident\n")
    repo.git("config", "filter.secret.clean", "tr n m")
    repo.commit(a=OLD, b='x = "nccl"\n'.encode("utf-16"), c=OLD + b"# $Id: 1 $\n")
    (repo.top / "c.py").write_bytes(OLD + b"# $Id: 2 $\n")
    for name, attribute in (("a.py", "filter"), ("b.py", "working-tree-encoding"), ("c.py", "ident")):
        change = FileChange(name, repo.read(name), b"new")
        with pytest.raises(ConvertedFiles) as caught:
            apply_changes(repo.top, [change], allow_dirty=False)
        assert dict(caught.value.reason.args)["attributes"] == attribute


def test_a_filter_that_left_the_file_alone_is_no_hindrance(repo: Repo) -> None:
    (repo.top / ".gitattributes").write_text("*.py filter=absent ident\n")
    repo.commit(a=OLD)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)


def test_unreadable_repository_is_refused_unless_dirty_is_allowed(repo: Repo) -> None:
    repo.commit(a=OLD)
    (repo.top / ".git" / "index").write_bytes(b"no index")
    with pytest.raises(RepositoryUnreadable):
        apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=True)
    assert repo.read("a.py") == NEW


def test_file_changed_since_the_plan(project: Path) -> None:
    changes = three(project)
    (project / "b.py").write_bytes(b"mine\n")
    with pytest.raises(ChangedMeanwhile) as caught:
        apply_changes(project, changes, allow_dirty=True)
    assert caught.value.names == ("b.py",)
    assert listing(project) == {"a.py": OLD, "b.py": b"mine\n", "c.py": OLD}


def test_file_changed_between_the_renames(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = three(project)
    put = atomic.put

    def edit_then_put(temporary: Path, target: Path) -> None:
        (project / "c.py").write_bytes(b"mine\n")
        put(temporary, target)

    monkeypatch.setattr(atomic, "put", edit_then_put)
    with pytest.raises(ChangedMeanwhile):
        apply_changes(project, changes, allow_dirty=False)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": b"mine\n"}


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_failure_in_the_middle_puts_everything_back(
    project: Path, monkeypatch: pytest.MonkeyPatch, failing: int, error: BaseException
) -> None:
    changes = three(project)
    real, calls = atomic.put, []

    def put(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == failing + 1:
            raise error
        real(source, target)

    monkeypatch.setattr(atomic, "put", put)
    with pytest.raises((WriteFailed, KeyboardInterrupt)):
        apply_changes(project, changes, allow_dirty=False)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}
    assert journal.read_entries(project) == []


def test_interrupt_after_the_rename_is_put_back_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = three(project)
    put = atomic.put
    calls: list[Path] = []

    def put_then_stop(temporary: Path, target: Path) -> None:
        put(temporary, target)
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "put", put_then_stop)
    with pytest.raises(KeyboardInterrupt):
        apply_changes(project, changes, allow_dirty=False)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


def test_failure_that_cannot_be_put_back_keeps_the_old_text_for_undo(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = three(project)
    with monkeypatch.context() as broken:
        put, calls = atomic.put, []

        def put_once(temporary: Path, target: Path) -> None:
            calls.append(target)
            if len(calls) > 1:
                raise OSError(errno.EROFS, "Read-only file system")
            put(temporary, target)

        broken.setattr(atomic, "put", put_once)
        with pytest.raises(PutBackFailed) as caught:
            apply_changes(project, changes, allow_dirty=False)
    assert caught.value.names == ("a.py",)
    assert listing(project) == {"a.py": NEW, "b.py": OLD, "c.py": OLD}
    with pytest.raises(Interrupted):
        apply_changes(project, [FileChange("b.py", OLD, NEW)], allow_dirty=False)
    assert undo(project).left == 0
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


KILLED = """
import os, signal, sys
from pathlib import Path
from ddp_codemod.model import FileChange
from ddp_codemod.write import atomic
from ddp_codemod.write.apply import apply_changes
put, calls = atomic.put, []
def die(temporary, target):
    if len(calls) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(target)
    put(temporary, target)
atomic.put = die
changes = [FileChange(name, b"old", b"new") for name in ("a.py", "b.py", "c.py")]
apply_changes(Path(sys.argv[1]), changes, allow_dirty=False)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_in_the_middle_undo_puts_everything_right(project: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_bytes(b"old")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(project)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (project / "a.py").read_bytes() == b"new"
    assert len(listing(project)) > 3
    undo(project)
    assert listing(project) == {"a.py": b"old", "b.py": b"old", "c.py": b"old"}


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process at once")
@pytest.mark.parametrize("times", [1, 2])
def test_ended_in_the_middle_it_puts_everything_back_first(project: Path, times: int) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_bytes(b"old")
    ending = KILLED.replace("signal.SIGKILL", "signal.SIGTERM").replace(
        "calls.append", "calls and os.kill(os.getpid(), signal.SIGTERM)\n    calls.append"
    )
    ended = subprocess.run(
        [sys.executable, "-c", KILLED.replace("SIGKILL", "SIGTERM") if times == 1 else ending, str(project)], check=False
    )
    assert ended.returncode == 128 + signal.SIGTERM
    assert listing(project) == {"a.py": b"old", "b.py": b"old", "c.py": b"old"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on file sizes")
def test_full_disk_leaves_nothing_half_written(project: Path) -> None:
    import resource

    changes = [*three(project)[:2], FileChange("c.py", OLD, b"#" * 300_000)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(WriteFailed):
            apply_changes(project, changes, allow_dirty=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}
    assert journal.read_entries(project) == []


def test_read_only_file_is_refused(project: Path) -> None:
    changes = three(project)
    (project / "b.py").chmod(0o444)
    with pytest.raises(ReadOnlyFiles) as caught:
        apply_changes(project, changes, allow_dirty=True)
    assert caught.value.names == ("b.py",)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


def test_folder_that_takes_no_new_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "locked").mkdir()
    (project / "locked" / "d.py").write_bytes(OLD)
    changes = [*three(project), FileChange("locked/d.py", OLD, NEW)]
    real = os.open

    def refuse(path: str, *args: int, **more: int) -> int:  # chmod would not stop root, who runs many a container
        if Path(path).parent.name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(WriteFailed) as caught:
        apply_changes(project, changes, allow_dirty=False)
    assert caught.value.names == ("locked/d.py",)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o4750])
def test_mode_is_kept(project: Path, mode: int) -> None:
    changes = three(project)[:1]
    (project / "a.py").chmod(mode)
    apply_changes(project, changes, allow_dirty=False)
    assert (project / "a.py").stat().st_mode & 0o7777 == mode
    undo(project)
    assert (project / "a.py").stat().st_mode & 0o7777 == mode


def test_link_is_written_through_inside_and_refused_outside(project: Path, tmp_path: Path) -> None:
    three(project)
    (tmp_path / "outside.py").write_bytes(OLD)
    (project / "in.py").symlink_to("a.py")
    (project / "out.py").symlink_to(tmp_path / "outside.py")
    (project / "up").symlink_to(tmp_path)
    apply_changes(project, [FileChange("in.py", OLD, NEW)], allow_dirty=False)
    assert (project / "in.py").is_symlink()
    assert (project / "a.py").read_bytes() == NEW
    for name in ("out.py", "up/outside.py", "../outside.py", str(tmp_path / "outside.py"), "gone.py", "."):
        with pytest.raises(OutsideRoot):
            apply_changes(project, [FileChange(name, OLD, NEW), FileChange("b.py", OLD, NEW)], allow_dirty=True)
    assert (tmp_path / "outside.py").read_bytes() == (project / "b.py").read_bytes() == OLD


def test_two_names_of_one_file(project: Path) -> None:
    three(project)
    (project / "link.py").symlink_to("a.py")
    with pytest.raises(Conflicting):
        apply_changes(project, [FileChange("a.py", OLD, NEW), FileChange("link.py", OLD, b"other")], allow_dirty=False)
    apply_changes(project, [FileChange("a.py", OLD, NEW), FileChange("link.py", OLD, NEW)], allow_dirty=False)
    assert (project / "a.py").read_bytes() == NEW


def test_no_journal_no_write(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = three(project)
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(JournalUnavailable):
        apply_changes(project, changes, allow_dirty=True)
    assert listing(project) == {"a.py": OLD, "b.py": OLD, "c.py": OLD}


def test_a_repository_gets_no_file_besides(repo: Repo) -> None:
    repo.commit(a=OLD)
    inside = sorted(path.relative_to(repo.top) for path in repo.top.rglob("*"))
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    assert sorted(path.relative_to(repo.top) for path in repo.top.rglob("*")) == inside
    assert repo.git("status", "--porcelain") == b" M a.py\n"


def test_every_error_has_its_sentence_in_both_languages() -> None:
    kinds = [kind for kind in vars(all_errors).values() if isinstance(kind, type) and issubclass(kind, WriteError)]
    assert len(kinds) > 10
    for lang in LANGUAGES:
        for kind in kinds:
            assert placeholders(catalogue(lang)[kind.key]) <= {
                "attributes",
                "commit",
                "count",
                "folder",
                "journal",
                "pid",
                "since",
                "why",
            }
    assert all(placeholders(catalogue("en")[kind.key]) == placeholders(catalogue("zh")[kind.key]) for kind in kinds)
