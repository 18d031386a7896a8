"""TOML: what is read, what is left out, and that a value written in a span reads back."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.parse.toml import read, written

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def flat(text: str) -> dict[str, str]:
    return {"/".join(entry.path): entry.value for entry in read(text).entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = \"x\\ty\"\nb.c = 'l\\t'\n", {"a": "x\ty", "b/c": "l\\t"}),
        ('[t.u]\n"q.k" = "nccl" # c\n', {"t/u/q.k": "nccl"}),
        ('[[g]]\nb = "nccl"\n[[g]]\nb = 1\n[g.s]\nc = true\n', {"g/0/b": "nccl", "g/1/b": "1", "g/1/s/c": "true"}),
        ('a = [1, {b = "nccl"}, [\n2, # c\n]]\n', {"a/0": "1", "a/1/b": "nccl", "a/2/0": "2"}),
        ("a = \"\"\"\nx\ny\"\"\"\nb = '''z'''\n", {"a": "x\ny", "b": "z"}),
        ("d = 2020-01-01T00:00:00Z\n", {"d": "2020-01-01T00:00:00Z"}),
        ("# backend = 'nccl'\n", {}),
        ("[a\nbackend = 'nccl'\n", {}),
        ("backend = nccl\nb = 'nccl'\n", {}),
        ("a = 'nccl\n", {}),
    ],
)
def test_what_is_read(text: str, expected: dict[str, str]) -> None:
    assert flat(text) == expected


@pytest.mark.parametrize(
    ("there", "value", "expected"),
    [
        ('"nccl"', "gloo", '"gloo"'),
        ("'nccl'", "gloo", "'gloo'"),
        ("'nccl'", "it's", '"it\'s"'),
        ("'nccl'", "a\nb", '"a\\nb"'),
        ('"""nccl"""', 'a"b', '"""a\\"b"""'),
        ("'''nccl'''", "gloo", "'''gloo'''"),
        ("1", "2", "2"),
        ("1", "gloo", '"gloo"'),
        ("true", "false", "false"),
        ("1", "2 # x", '"2 # x"'),
        ("1", "[2]", '"[2]"'),
    ],
)
def test_how_a_value_is_written(there: str, value: str, expected: str) -> None:
    text = f"a = {there}\n"
    assert written(text, read(text).entries[0], value) == expected


def test_a_lone_surrogate_cannot_be_written() -> None:
    text = "a = 'b'\n"
    with pytest.raises(ValueError, match="Unicode"):
        written(text, read(text).entries[0], "\ud800")


texts = st.text(st.characters(codec="utf-8"), max_size=12)


@given(
    st.lists(st.sampled_from(['"x"', "'y'", '"""z"""', "'''w'''", "1", "true", "[1, 'n']", "{a = 'b', c.d = 2}"]), min_size=1),
    st.sampled_from(["\n", "\r\n", " # é 'c'\n", "\n\n[t]\n"]),
    texts,
    st.data(),
)
def test_a_written_value_reads_back_and_nothing_else_changes(
    there: list[str], between: str, value: str, data: st.DataObject
) -> None:
    text, tables = "", 0
    for number, scalar in enumerate(there):
        tables += between.count("[t]")
        text += f"k{number} = {scalar}" + between.replace("[t]", f"[t{tables}]")
    entries = read(text).entries
    entry = data.draw(st.sampled_from(entries))
    new = text[: entry.start] + written(text, entry, value) + text[entry.end :]
    expected = [(other.path, value if other is entry else other.value) for other in entries]
    assert [(other.path, other.value) for other in read(new).entries] == expected
    found = tomllib.loads(new)
    for step in entry.path:
        found = found[int(step)] if isinstance(found, list) else found[step]
    assert found == value or (not entry.is_text and written(text, entry, value) == value)
