"""Gin files: which bindings are read, and where their values stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.parse.gin import read, written


def found(text: str) -> list[tuple[tuple[str, ...], str, bool]]:
    return [(entry.path, entry.value, entry.is_text) for entry in read(text).entries]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("setup.backend = 'nccl'", [(("setup", "backend"), "nccl", True)]),
        ('a/b/pkg.mod.setup.backend="nccl" # why', [(("a/b/pkg.mod.setup", "backend"), "nccl", True)]),
        ("BACKEND = 'nccl'\r\nsetup.backend = %BACKEND\r\n", [(("BACKEND",), "nccl", True), (("setup", "backend"), "%BACKEND", False)]),
        ("setup.size = 2", [(("setup", "size"), "2", False)]),
        ("setup.fn = @make()", [(("setup", "fn"), "@make()", False)]),
        ("a/setup:\n  backend = 'nccl'\n\n  # c\n  size = 2\nx.y = 1", [(("a/setup", "backend"), "nccl", True), (("a/setup", "size"), "2", False), (("x", "y"), "1", False)]),
        ("x.y = 'a=b # c'", [(("x", "y"), "a=b # c", True)]),
    ],
)  # fmt: skip
def test_what_is_bound(text: str, entries: list[tuple[tuple[str, ...], str, bool]]) -> None:
    assert found(text) == entries


@pytest.mark.parametrize(
    "text",
    [
        "# setup.backend = 'nccl'",
        "include 'setup.backend = gloo.gin'",
        "import setup.backend",
        "x.y = ['nccl',\n'gloo']",
        "x.y = {\n  'setup.backend': 'nccl',  # ]\n}",
        "x.y = 'nccl' 'gloo'",
        "x.y = 'it\\'s'",
        'x.y = """\nsetup.backend = \'nccl\'\n"""',
        "x.y == 'nccl'",
        "x.y = ",
    ],
)
def test_what_is_left_out(text: str) -> None:
    assert found(text) == []


def test_a_value_of_several_lines_hides_nothing_behind_it() -> None:
    assert found("x.y = (1,\n  2)\nsetup.backend = 'nccl'") == [(("setup", "backend"), "nccl", True)]


@given(st.text(alphabet="ab.=/'\"#%[](){}:\n\r\t \\", max_size=60))
def test_places_are_those_of_the_values(text: str) -> None:
    ends = 0
    for entry in read(text).entries:
        assert ends <= entry.start < entry.end <= len(text)
        assert text[entry.start : entry.end].strip("'\"") == entry.value.strip("'\"")
        ends = entry.end
        if entry.is_text:
            assert read(text[: entry.start] + written(text, entry, "gloo") + text[entry.end :]).entries


@pytest.mark.parametrize("value", ["it's", "a\\b", "a\nb"])
def test_what_would_need_an_escape_is_not_written(value: str) -> None:
    text = "x.y = 'nccl'"
    with pytest.raises(ValueError, match="gin cannot hold"):
        written(text, read(text).entries[0], value)
