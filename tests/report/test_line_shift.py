"""Lines of the old file, named as they stand after the changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import FileChange
from ddp_codemod.report.line_shift import make_line_mapper

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b""]), max_size=12)


def moved(before: bytes, after: bytes, line: int) -> int:
    return make_line_mapper([FileChange("x.py", before, after)])("x.py", line)


def test_a_line_that_is_put_in_moves_those_below_it() -> None:
    before, after = b"import a\nf()\ng()\n", b"import a\nimport os\nf()\ng()\n"
    assert [moved(before, after, line) for line in (1, 2, 3)] == [1, 3, 4]


def test_a_line_that_goes_moves_those_below_it() -> None:
    assert [moved(b"a\nb\nc\r\nd", b"a\nc\r\nd", line) for line in (1, 3, 4)] == [1, 2, 3]


def test_a_line_that_changes_stays_where_it_is() -> None:
    assert [moved(b"a\nb\nc\n", b"a\nB\nc\n", line) for line in (1, 2, 3)] == [1, 2, 3]


def test_other_files_stay() -> None:
    assert make_line_mapper([FileChange("x.py", b"a\n", b"b\na\n")])("y.py", 7) == 7


@given(LINES, LINES, LINES)
def test_what_stands_below_a_change_keeps_its_text(head: list[bytes], old: list[bytes], tail: list[bytes]) -> None:
    before, after = [*head, *old, b"end", *tail], [*head, b"new", b"end", *tail]
    line = len(head) + len(old) + 1
    new_line = moved(b"\n".join(before) + b"\n", b"\n".join(after) + b"\n", line)
    assert after[new_line - 1] == b"end"
