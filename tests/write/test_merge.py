"""What an apply changed goes out of a file that was edited since; what was edited stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.write.merge import remove_changes

BEFORE = b"import os\nimport torch\n\na = 1\n\nx('nccl')\n\nb = 2\n"
WRITTEN = b"import os\nimport torch\nimport torch_npu\n\na = 1\n\nx('hccl')\n\nb = 2\n"


@pytest.mark.parametrize(
    ("now", "back"),
    [
        (WRITTEN, BEFORE),
        (WRITTEN + b"mine\n", BEFORE + b"mine\n"),
        (b"# mine\n" + WRITTEN, b"# mine\n" + BEFORE),
        (WRITTEN.replace(b"a = 1\n", b"a = 3\n"), BEFORE.replace(b"a = 1\n", b"a = 3\n")),
        (WRITTEN.replace(b"b = 2\n", b""), BEFORE.replace(b"b = 2\n", b"")),
    ],
)
def test_edits_elsewhere_stay(now: bytes, back: bytes) -> None:
    assert remove_changes(BEFORE, WRITTEN, now) == back


@pytest.mark.parametrize(
    ("now", "lines"),
    [
        (WRITTEN.replace(b"hccl", b"gloo"), [7]),
        (WRITTEN.replace(b"import torch_npu\n", b""), [3]),
        (WRITTEN.replace(b"x('hccl')\n", b"x('hccl')\nmore\n"), [7]),
        (b"\n\n" + WRITTEN.replace(b"hccl", b"gloo"), [9]),
        (b"", [1]),
    ],
)
def test_edits_of_the_same_lines_forbid_it(now: bytes, lines: list[int]) -> None:
    made = remove_changes(BEFORE, WRITTEN, now)
    assert isinstance(made, list)
    assert set(lines) <= set(made)


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"d"]), max_size=12).map(b"".join)


@given(LINES, LINES)
def test_a_file_that_nobody_edited_gets_its_old_bytes(before: bytes, written: bytes) -> None:
    assert remove_changes(before, written, written) == before


@given(LINES, LINES)
def test_an_apply_that_changed_nothing_leaves_every_edit(written: bytes, now: bytes) -> None:
    assert remove_changes(written, written, now) == now
