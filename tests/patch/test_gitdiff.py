from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddp_codemod.model import FileChange
from ddp_codemod.patch.blob import Blob, blob_id
from ddp_codemod.patch.gitdiff import format_git_diff

RunGit = Callable[..., bytes]

PROGRAM = b"""\
import os
import torch.distributed as dist


def setup(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    if rank == 0:
        print("up")


def teardown():
    dist.destroy_process_group()


class Trainer:
    backend = "nccl"

    def fit(self):
        setup(0, 1)
        teardown()
"""


def real_diff(git: RunGit, name: str, before: bytes, after: bytes) -> bytes:
    """What git itself prints, with ``before`` in the index and ``after`` in the file."""
    path = Path(git.top, name)  # type: ignore[attr-defined]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    git("add", "--", name)
    path.write_bytes(after)
    try:
        return git("diff", "--", name)
    finally:
        git("rm", "-q", "-f", "--cached", "--", name)


def check(git: RunGit, before: bytes, after: bytes, name: str = "train.py") -> None:
    assert format_git_diff([FileChange(name, before, after)]) == real_diff(git, name, before, after)


def test_one_line(git: RunGit) -> None:
    check(git, PROGRAM, PROGRAM.replace(b'"nccl", ', b'"gloo", '))


def test_two_hunks_under_different_headings(git: RunGit) -> None:
    check(git, PROGRAM, PROGRAM.replace(b"nccl", b"gloo"))


def test_six_lines_apart_is_one_hunk_and_seven_is_two(git: RunGit) -> None:
    for apart, count in ((6, 1), (7, 2)):
        before = b"".join(b"%d\n" % row for row in range(30))
        after = before.replace(b"\n10\n", b"\nten\n").replace(b"\n%d\n" % (11 + apart), b"\nmore\n")
        check(git, before, after)
        assert format_git_diff([FileChange("a", before, after)]).count(b"\n@@ ") == count


def test_inserted_between_like_lines(git: RunGit) -> None:
    before = b"for a in b:\n    if a:\n        one()\n\n    if a:\n        one()\n\n    end()\n"
    check(git, before, before.replace(b"\n    end", b"\n    if a:\n        one()\n\n    end"))


def test_inserted_block_stands_where_its_indentation_says(git: RunGit) -> None:
    before = b"def run():\n    if a:\n        one()\n    end()\n"
    after = before.replace(b"    if a", b"    if a:\n        two()\n    if a", 1)
    check(git, before, after)
    assert b"+    if a:\n+        two()\n     if a:\n" in format_git_diff([FileChange("a", before, after)])


def test_inserted_line_at_start_and_end(git: RunGit) -> None:
    check(git, PROGRAM, b"import sys\n" + PROGRAM + b"fit()\n")


def test_removed_line_between_like_lines(git: RunGit) -> None:
    check(git, b"a\n\n\n\nb\n", b"a\n\n\nb\n")


def test_no_final_newline_on_either_side(git: RunGit) -> None:
    check(git, b"a\nb", b"a\nc")
    check(git, b"a\nb\n", b"a\nb")
    check(git, b"a\nb", b"a\nb\n")
    check(git, b"a\nb\nc\nd\ne\nf", b"A\nb\nc\nd\ne\nf")


def test_empty_file(git: RunGit) -> None:
    check(git, b"", b"a\n")
    check(git, b"a\n", b"")


def test_carriage_returns_and_form_feeds_stay_inside_lines(git: RunGit) -> None:
    check(git, b"a\r\nb\r\nc\rd\x0ce\x0b\x1c\r\n", b"a\r\nB\r\nc\rd\x0ce\x0b\x1c\r\n")


def test_byte_order_mark_and_foreign_encodings(git: RunGit) -> None:
    gbk = "名称 = '后端'\nbackend = 'nccl'\n".encode("gbk")
    check(git, b"\xef\xbb\xbf# coding: utf-8\nx = 'nccl'\n", b"\xef\xbb\xbf# coding: utf-8\nx = 'gloo'\n")
    check(git, gbk, gbk.replace(b"nccl", b"gloo"))


def test_long_and_foreign_headings_are_cut_as_git_cuts_them(git: RunGit) -> None:
    body = b"".join(b"    line%d\n" % row for row in range(8))
    for heading in (b"def " + b"x" * 100, "def 训练".encode() * 10, "def 训练".encode("gbk") + b"()", b"$x  \t", b"_y\r"):
        check(git, heading + b"\n" + body, heading + b"\n" + body.replace(b"line6", b"changed"))


@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "训练.py",
        'quote".py',
        "back\\slash.py",
        "tab\there.py",
        "tab\tand space.py",
        "line\nend.py",
        "bell\a\b\v\f\r\x7f\x1b.py",
        "-dash.py",
        "folder with space/训练 2.py",
        "\udcff\udcfe.py",
    ],
)
def test_names(git: RunGit, name: str) -> None:
    check(git, b"a\n", b"b\n", name)


def test_nothing_for_no_change() -> None:
    assert format_git_diff([]) == b""
    assert format_git_diff([FileChange("a", b"x\n", b"x\n")]) == b""


def test_files_come_in_order_of_their_bytes() -> None:
    patch = format_git_diff([FileChange(name, b"x\n", b"y\n") for name in ("b", "训", "a/z", "a.py")])
    names = [line.split(b" ")[2] for line in patch.splitlines() if line.startswith(b"diff")]
    assert names == [b"a/a.py", b"a/a/z", b"a/b", rb'"a/\350\256\255"']


def test_two_names_of_one_file_give_one_patch() -> None:
    blob = Blob(b"x\n", blob_id(b"x\n"), "100644", name="real.py")
    changes = [FileChange("link.py", b"x\n", b"y\n"), FileChange("real.py", b"x\n", b"y\n")]
    assert format_git_diff(changes, {"link.py": blob, "real.py": blob}).count(b"diff --git a/real.py b/real.py") == 1


def test_mode_and_ids_come_from_the_blob() -> None:
    blob = Blob(b"x\n", blob_id(b"x\n", 64), "100755", abbreviation=10)
    line = format_git_diff([FileChange("a", b"x\n", b"y\n")], {"a": blob}).splitlines()[1]
    assert line == f"index {blob_id(b'x' + bytes([10]), 64)[:10]}..{blob_id(b'y' + bytes([10]), 64)[:10]} 100755".encode()


LINES = st.sampled_from([b"", b"a", b"b", b"  a", b"  b", b"    c", b"\td", b"e\r", b"f\x0cg", "训练".encode(), b"\xff"])


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text, and the text after a few small edits."""
    old = draw(st.lists(LINES, max_size=40))
    new = list(old)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINES | st.just(b"import os"), max_size=2))
    ends = draw(st.tuples(st.booleans(), st.booleans()))
    first, second = (b"\n".join(lines) + (b"\n" if lines and end else b"") for lines, end in zip((old, new), ends, strict=True))
    return first, second


@given(st.lists(edited(), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_git_apply_makes_exactly_the_planned_bytes_and_takes_them_back(git: RunGit, texts: list[tuple[bytes, bytes]]) -> None:
    changes = [FileChange(f"file{index}", before, after) for index, (before, after) in enumerate(texts) if before != after]
    patch = format_git_diff(changes)
    for change in changes:
        Path(git.top, change.name).write_bytes(change.before)  # type: ignore[attr-defined]
    if patch:
        git("apply", "--whitespace=nowarn", stdin=patch)
    for change in changes:
        assert Path(git.top, change.name).read_bytes() == change.after  # type: ignore[attr-defined]
    if patch:
        git("apply", "-R", "--whitespace=nowarn", stdin=patch)
    for change in changes:
        assert Path(git.top, change.name).read_bytes() == change.before  # type: ignore[attr-defined]


def test_same_bytes_as_git_for_edits_such_as_ours(git: RunGit) -> None:
    """Replaced words, inserted statements and a dropped import in 200 programs made of real code."""
    dice = random.Random(20)
    blocks = PROGRAM.split(b"\n\n")
    changes, paths = [], []
    for index in range(200):
        lines = b"\n\n".join(dice.choices(blocks, k=12)).split(b"\n")
        new = list(lines)
        for _ in range(dice.randint(1, 5)):
            at = dice.randrange(len(new))
            indent = new[at][: len(new[at]) - len(new[at].lstrip())]
            kind = dice.choice(["replace", "insert", "import", "drop"])
            if kind == "replace":
                new[at] = new[at].replace(b"dist", b"group") + b"  # gloo"
            elif kind == "insert":
                new.insert(at, indent + b'os.environ.setdefault("NCCL_P2P_DISABLE", "1")')
            elif kind == "import":
                new.insert(1, b"import os")
            elif new[at].startswith(b"import"):
                del new[at]
        changes.append(FileChange(f"many/{index:03d}.py", b"\n".join(lines), b"\n".join(new)))
        paths.append(Path(git.top, changes[-1].name))  # type: ignore[attr-defined]
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_bytes(changes[-1].before)
    git("add", "many")
    for path, change in zip(paths, changes, strict=True):
        path.write_bytes(change.after)
    assert format_git_diff(changes) == git("diff", "many")
