from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddp_codemod.model import FileChange
from ddp_codemod.write import atomic, journal
from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.errors import AlreadyUndone, ChangedSince, NothingToUndo, WriteFailed
from ddp_codemod.write.undo import undo

if TYPE_CHECKING:
    from conftest import Repo

OLD, NEW = b"\xef\xbb\xbfnccl\r\n\x0c", b"\xef\xbb\xbfgloo\r\n\x0c"


def apply(root: Path, **files: tuple[bytes, bytes]) -> None:
    apply_changes(root, [FileChange(f"{name}.py", old, new) for name, (old, new) in files.items()], allow_dirty=False)


@pytest.fixture
def applied(project: Path) -> Path:
    """A project without git in which one apply wrote two files."""
    for name in ("a.py", "b.py"):
        (project / name).write_bytes(OLD)
    apply(project, a=(OLD, NEW), b=(OLD, NEW))
    return project


def test_gives_back_every_byte(applied: Path) -> None:
    undone = undo(applied)
    assert (undone.names, undone.left) == (("a.py", "b.py"), 0)
    assert (applied / "a.py").read_bytes() == (applied / "b.py").read_bytes() == OLD
    assert sorted(path.name for path in applied.iterdir()) == ["a.py", "b.py"]


def test_nothing_on_record(project: Path) -> None:
    with pytest.raises(NothingToUndo):
        undo(project)


def test_goes_back_one_apply_at_a_time(applied: Path) -> None:
    apply(applied, a=(NEW, b"third"))
    assert undo(applied).left == 1
    assert (applied / "a.py").read_bytes() == NEW
    assert undo(applied).left == 0
    assert (applied / "a.py").read_bytes() == OLD
    with pytest.raises(NothingToUndo):
        undo(applied)


def test_an_apply_of_another_branch_is_not_told_of(applied: Path) -> None:
    (applied / "a.py").write_bytes(b"another branch")
    apply(applied, a=(b"another branch", b"third"))
    (applied / "b.py").write_bytes(OLD)
    assert undo(applied).left == 0


def test_an_apply_that_git_took_back_does_not_hide_the_one_before(applied: Path) -> None:
    (applied / "c.py").write_bytes(OLD)
    apply(applied, c=(OLD, NEW))
    (applied / "c.py").write_bytes(OLD)  # as a checkout does
    assert undo(applied).names == ("a.py", "b.py")
    assert len(journal.read_entries(applied)) == 1
    with pytest.raises(AlreadyUndone):
        undo(applied)
    (applied / "c.py").write_bytes(NEW)
    assert undo(applied).names == ("c.py",)


def test_a_file_edited_since_does_not_block_the_others(applied: Path) -> None:
    (applied / "b.py").write_bytes(NEW.replace(b"gloo", b"mine"))
    undone = undo(applied)
    assert undone.names == ("a.py",)
    assert [(one.name, one.lines, one.old.read_bytes()) for one in undone.stay] == [("b.py", (1,), OLD)]
    assert (applied / "a.py").read_bytes() == OLD
    assert (applied / "b.py").read_bytes() == NEW.replace(b"gloo", b"mine")
    with pytest.raises(NothingToUndo):
        undo(applied)


def test_only_our_lines_go_back_where_others_were_edited(project: Path) -> None:
    old, new, mine = b"a\nnccl\nb\nc\n", b"a\ngloo\nb\nc\n", b"a\ngloo\nb\nc\nmine\n"
    (project / "a.py").write_bytes(old)
    apply(project, a=(old, new))
    (project / "a.py").write_bytes(mine)
    undone = undo(project)
    assert (undone.names, undone.merged, undone.stay) == ((), ("a.py",), ())
    assert (project / "a.py").read_bytes() == b"a\nnccl\nb\nc\nmine\n"


def test_where_all_were_edited_nothing_is_undone(applied: Path) -> None:
    for name in ("a.py", "b.py"):
        (applied / name).write_bytes(b"mine")
    with pytest.raises(ChangedSince) as caught:
        undo(applied)
    assert caught.value.names == ("a.py", "b.py")
    kept = Path(dict(caught.value.reason.args)["journal"])
    assert (kept / "1").read_bytes() == OLD
    (applied / "b.py").write_bytes(NEW)
    assert undo(applied).names == ("b.py",)


def test_a_file_may_be_kept(applied: Path) -> None:
    undone = undo(applied, ["b.py"])
    assert (undone.names, undone.kept) == (("a.py",), ("b.py",))
    assert ((applied / "a.py").read_bytes(), (applied / "b.py").read_bytes()) == (OLD, NEW)


def test_an_apply_on_record_without_its_new_bytes_goes_back_where_nobody_edited(applied: Path) -> None:
    folder = journal.read_entries(applied)[-1].folder
    for path in folder.glob("*.new"):
        path.unlink()
    (applied / "b.py").write_bytes(NEW + b"mine")
    undone = undo(applied)
    assert (undone.names, [one.name for one in undone.stay]) == (("a.py",), ["b.py"])


def test_a_removed_file_stays_removed_and_the_others_go_back(applied: Path) -> None:
    (applied / "a.py").unlink()
    undone = undo(applied)
    assert (undone.names, [one.name for one in undone.stay]) == (("b.py",), ["a.py"])
    assert not (applied / "a.py").exists()


def test_a_file_that_was_put_back_by_hand_is_left(applied: Path) -> None:
    (applied / "a.py").write_bytes(OLD)
    undo(applied)
    assert (applied / "b.py").read_bytes() == OLD


def test_a_failure_in_the_middle_undoes_nothing(applied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        put, calls = atomic.put, []

        def fail_second(temporary: Path, target: Path) -> None:
            calls.append(target)
            if len(calls) == 2:
                raise OSError("no")
            put(temporary, target)

        broken.setattr(atomic, "put", fail_second)
        with pytest.raises(WriteFailed):
            undo(applied)
    assert (applied / "a.py").read_bytes() == (applied / "b.py").read_bytes() == NEW
    undo(applied)
    assert (applied / "a.py").read_bytes() == OLD


def test_damaged_journal_writes_nothing(applied: Path) -> None:
    (journal.read_entries(applied)[-1].folder / "0").write_bytes(b"bad")
    with pytest.raises(WriteFailed):
        undo(applied)
    assert (applied / "a.py").read_bytes() == NEW


def test_unreadable_record_is_passed_over(applied: Path) -> None:
    (journal.read_entries(applied)[-1].folder / "record.json").write_bytes(b"{")
    with pytest.raises(NothingToUndo):
        undo(applied)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_gives_back_the_mode_too(applied: Path) -> None:
    before = (applied / "a.py").stat().st_mode
    (applied / "a.py").chmod(0o700)
    undo(applied)
    assert (applied / "a.py").stat().st_mode == before


def test_in_a_repository(repo: Repo) -> None:
    repo.commit(a=OLD)
    apply_changes(repo.top, [repo.change("a.py")], allow_dirty=False)
    undo(repo.top)
    assert repo.git("status", "--porcelain") == b""


def test_the_root_may_be_reached_by_a_link(applied: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(applied)
    undo(tmp_path / "link")
    assert (applied / "a.py").read_bytes() == OLD


def test_projects_do_not_share_a_journal(applied: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(NothingToUndo):
        undo(tmp_path / "other")


def test_journal_is_the_users_alone_and_does_not_grow_for_ever(project: Path) -> None:
    content = b"0"
    (project / "a.py").write_bytes(content)
    for number in range(journal.KEPT + 5):
        after = b"%d" % (number + 1)
        apply(project, a=(content, after))
        content = after
    assert len(journal.read_entries(project)) == journal.KEPT
    folder = journal.read_entries(project)[0].folder
    if os.name != "nt":
        assert folder.stat().st_mode & 0o077 == folder.parent.stat().st_mode & 0o077 == 0
    assert undo(project).left == journal.KEPT - 1
