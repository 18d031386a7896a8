"""YAML: what is read, what is left out, and that a value written in a span reads back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.parse.document import Content, Document
from ddp_codemod.parse.yaml import read, written

Parse = Callable[[str, str], Document]


def flat(text: str) -> dict[str, str]:
    return {".".join(entry.path): entry.value for entry in read(text).entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: nccl # why\n", {"a": "nccl"}),
        ("a: 'it''s'\n", {"a": "it's"}),
        ('a: "x\\ty\\u00e9\\x41\\\n  z"\n', {"a": "x\tyéAz"}),
        ("a: one\n  two\n\n  three\n", {"a": "one two\nthree"}),
        ("'a b': 1\n? c\n: 2\n", {"a b": "1", "c": "2"}),
        ("a:\n- x\n- k: y\n  l: z\n-\n- [p, {q: r}]\n", {"a.0": "x", "a.1.k": "y", "a.1.l": "z", "a.3.0": "p", "a.3.1.q": "r"}),
        ("a: !!str &n nccl\n", {"a": "nccl"}),
        ("a: ${oc.env:BACKEND,nccl}\n", {"a": "${oc.env:BACKEND,nccl}"}),
        ("a: |\n  b\n   c\n\nd: >-\n  e\n  f\n\n  g\n", {"a": "b\n c\n", "d": "e f\ng"}),
        ("a: |\n  nccl", {"a": "nccl"}),
        ("a: |-\n  nccl\n\n\n", {"a": "nccl"}),
        ("a:\nb: ''\nc: ~\n", {"b": "", "c": "~"}),
        ("ddp_backend: no_c10d\nrdzv_backend: nccl\n", {"ddp_backend": "no_c10d", "rdzv_backend": "nccl"}),
        ("é: 通 # nccl\nb: nccl\n", {"é": "通", "b": "nccl"}),
        ("nccl\n", {"": "nccl"}),
    ],
)
def test_what_is_read(text: str, expected: dict[str, str]) -> None:
    assert flat(text) == expected
    for entry in read(text).entries:
        found = yaml.compose(text[entry.start : entry.end] if "\n" not in text[entry.start : entry.end] else "x")
        assert "\n" in text[entry.start : entry.end] or found.value == entry.value


@pytest.mark.parametrize(
    "text",
    [
        "{% if x %}\nbackend: nccl\n{% endif %}\n",
        "backend: nccl\n  other: 1\n",
        "a: {backend: nccl\n",
        "a: 'nccl\n",
        "backend: {{ backend }}\n",
        "a: *nowhere\n",
        "a: |+\n  nccl\n",
        "a: |2\n   nccl\n",
        "a: >\n  x\n    nccl\n",
        "? [a, b]\n: nccl\n",
        "# backend: nccl\n",
        "backend: nccl\n%%\nz: 1\n---\n}\n",
    ],
)
def test_what_is_left_out(text: str) -> None:
    assert [entry for entry in read(text).entries if "nccl" in entry.value or "backend" in entry.value] == []


def test_an_error_leaves_out_its_mapping_only() -> None:
    content = read("a:\n  x: [1, }\n  y: 2\nb:\n  z: nccl\n")
    assert content.errors
    assert {entry.path for entry in content.entries} <= {("b", "z")}


def test_keys_that_stand_twice_are_both_there() -> None:
    assert [entry.value for entry in read("a: nccl\na: gloo\n").entries] == ["nccl", "gloo"]


def test_documents_are_counted(document: Parse) -> None:
    parsed = document("a.yaml", "a: 1\n---\na: nccl\n...\n---\nb: 3\n")
    assert [(entry.document, entry.value) for entry in parsed.entries] == [(0, "1"), (1, "nccl"), (2, "3")]
    assert [entry.value for entry in parsed.at(("a",))] == ["1", "nccl"]
    assert [entry.value for entry in parsed.at(("a",), document=1)] == ["nccl"]


ANCHORS = """
base: &base
  backend: nccl
  deep: {port: 1}
other: &name mpi
prod:
  <<: *base
  world: 2
test:
  <<: [*base]
  backend: gloo
alias: *base
word: *name
list: [*name]
"""


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("base.backend", ["nccl"]),
        ("prod.backend", ["nccl"]),
        ("prod.deep.port", ["1"]),
        ("test.backend", ["gloo"]),
        ("alias.backend", ["nccl"]),
        ("word", ["mpi"]),
        ("list.0", ["mpi"]),
        ("prod", []),
        ("prod.none", []),
    ],
)
def test_reading_follows_aliases_and_merge_keys(path: str, values: list[str], document: Parse) -> None:
    assert [entry.value for entry in document("a.yaml", ANCHORS).at(path.split("."))] == values


def test_an_aliased_scalar_is_one_entry() -> None:
    assert [entry.value for entry in read(ANCHORS).entries].count("mpi") == 1


def test_an_alias_of_itself_ends(document: Parse) -> None:
    assert document("a.yaml", "a: &x\n  b: *x\n  c: 1\n").at(("a", "b", "b", "d")) == ()


def test_an_anchor_set_again_counts_from_there(document: Parse) -> None:
    parsed = document("a.yaml", "a: &x nccl\nb: *x\nc: &x gloo\nd: *x\n")
    assert [parsed.at((key,))[0].value for key in "abcd"] == ["nccl", "nccl", "gloo", "gloo"]


@pytest.mark.parametrize(("value", "is_text"), [("nccl", True), ("'1'", True), ("1", False), ("yes", False), ("null", False)])
def test_what_reads_as_a_string(value: str, is_text: bool) -> None:
    assert read(f"a: {value}\n").entries[0].is_text is is_text


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a: nccl\n", "gloo", "gloo"),
        ("a: 'nccl'\n", "gloo", "'gloo'"),
        ('a: "nccl"\n', "gloo", '"gloo"'),
        ("a: nccl\n", "cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl"),
        ("a: {b: nccl}\n", "cpu:gloo,cuda:nccl", '"cpu:gloo,cuda:nccl"'),
        ("a: [nccl]\n", "gloo", "gloo"),
        ("a: nccl\n", "no", '"no"'),
        ("a: nccl\n", "1", '"1"'),
        ("a: 2\n", "1", "1"),
        ("a: nccl\n", "x: y", '"x: y"'),
        ("a: tcp://h:1\n", "tcp://h:1?use_libuv=0&a=b", "tcp://h:1?use_libuv=0&a=b"),
        ("a: 'x'\n", "it's", "'it''s'"),
        ("a: 'x'\n", "a\nb", '"a\\nb"'),
        ("a: >-\n  nccl\n", "gloo", '"gloo"'),
    ],
)
def test_how_a_value_is_written(text: str, value: str, expected: str) -> None:
    assert written(text, read(text).entries[0], value) == expected


texts = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [
        "nccl",
        "cpu:gloo,cuda:nccl",
        "tcp://[::1]:29500",
        "no",
        "null",
        "0x1",
        "1e3",
        "- a",
        "a: b",
        "a #b",
        "{x}",
        "*a",
        "&a",
        "%a",
        "é",
    ]
)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
styles = st.fixed_dictionaries(
    {
        "default_style": st.sampled_from([None, "'", '"']),
        "default_flow_style": st.sampled_from([True, False, None]),
        "allow_unicode": st.booleans(),
        "line_break": st.sampled_from(["\n", "\r\n"]),
        "width": st.sampled_from([10, 80]),
    }
)


def standing(content: Content, at: int, value: str) -> list[tuple[object, ...]]:
    return [(entry.document, entry.path, value if entry.start == at else entry.value) for entry in content.entries]


@given(st.dictionaries(texts, values, min_size=1, max_size=3), styles, texts, st.data())
def test_a_written_value_reads_back_and_nothing_else_changes(
    tree: dict[str, object], style: dict[str, object], value: str, data: st.DataObject
) -> None:
    text = yaml.safe_dump(tree, **style)
    content = read(text)
    if not content.entries:
        return
    entry = data.draw(st.sampled_from(content.entries))
    new = text[: entry.start] + written(text, entry, value) + text[entry.end :]
    assert standing(read(new), -1, "") == standing(content, entry.start, value)
    node = yaml.compose(new)
    for step in entry.path:
        if isinstance(node, yaml.MappingNode):
            (node,) = [child for key, child in node.value if key.value == step]
        else:
            node = node.value[int(step)]
    assert node.value == value
    if entry.is_text:
        assert (
            yaml.SafeLoader("").resolve(yaml.ScalarNode, value, (True, False)) == "tag:yaml.org,2002:str"
            or new[entry.start] in "'\""
        )
