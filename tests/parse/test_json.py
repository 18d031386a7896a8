"""JSON: what is read, what is left out, and that a value written in a span reads back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.parse.json import read, written


def flat(text: str) -> dict[str, str]:
    return {"/".join(entry.path): entry.value for entry in read(text).entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"b": ["x\\n", 1, null, true]}}', {"a/b/0": "x\n", "a/b/1": "1", "a/b/2": "null", "a/b/3": "true"}),
        ('// nccl\n{"a": "nccl", /* b */ "c": 1,}', {"a": "nccl", "c": "1"}),
        ('["\\ud83d\\ude00", "通"]', {"0": "😀", "1": "通"}),
        ('"nccl"', {"": "nccl"}),
        ('{"a": "nccl" "b": 1}', {}),
        ('{"a": {{ backend }}, "b": "nccl"}', {}),
        ('{"a": "nc\ncl"}', {}),
        ('{"a": "nccl"', {}),
        ('{"a": "x"} {"a": "nccl"}', {}),
        ("backend: nccl", {}),
    ],
)
def test_what_is_read(text: str, expected: dict[str, str]) -> None:
    assert flat(text) == expected


def test_keys_that_stand_twice_are_both_there() -> None:
    assert [entry.value for entry in read('{"a": "nccl", "a": "gloo"}').entries] == ["nccl", "gloo"]


@pytest.mark.parametrize(
    ("there", "value", "expected"),
    [
        ('"nccl"', "gloo", '"gloo"'),
        ('"nccl"', "通", '"通"'),
        ('"nccl"', "\ud800", '"\\ud800"'),
        ('"1"', "2", '"2"'),
        ("1", "2", "2"),
        ("null", "gloo", '"gloo"'),
        ("1", "true", "true"),
        ("1", "[2]", '"[2]"'),
        ("1", "NaN", '"NaN"'),
        ("1", '"x"', '"\\"x\\""'),
    ],
)
def test_how_a_value_is_written(there: str, value: str, expected: str) -> None:
    text = f'{{"a": {there}}}'
    assert written(text, read(text).entries[0], value) == expected


texts = st.text(max_size=12)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(values, st.sampled_from([None, 1, "\t"]), texts, st.data())
def test_a_written_value_reads_back_and_nothing_else_changes(
    tree: object, indent: int | str | None, value: str, data: st.DataObject
) -> None:
    text = json.dumps(tree, indent=indent)
    entries = read(text).entries
    if not entries:
        return
    entry = data.draw(st.sampled_from(entries))
    new = text[: entry.start] + written(text, entry, value) + text[entry.end :]
    found = json.loads(new)
    expected = [(other.path, value if other is entry else other.value) for other in entries]
    assert [(other.path, other.value) for other in read(new).entries] == expected
    for step in entry.path:
        found = found[int(step)] if isinstance(found, list) else found[step]
    assert found == value or (not entry.is_text and json.dumps(found) == json.dumps(json.loads(value)))  # 0E0 is 0.0
