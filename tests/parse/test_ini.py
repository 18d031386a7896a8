"""INI: what is read, what is left out, and that a value written in a span reads back."""

from __future__ import annotations

import configparser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.parse.ini import read, written


def flat(text: str) -> dict[str, str]:
    return {"/".join(entry.path): entry.value for entry in read(text).entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a b]\nKey = nccl\nk:gloo\n", {"a b/key": "nccl", "a b/k": "gloo"}),
        ("[a]\nx = 'nccl' ; why\ny = \"z\" # c\n", {"a/x": "nccl", "a/y": "z"}),
        ("[a]\nurl = tcp://h:1?x=1\n", {"a/url": "tcp://h:1?x=1"}),
        ("[a]\nl = nccl\n  more\n\tm = nccl\nn = 1\n", {"a/n": "1"}),
        ("[a]\nl =\n  nccl\n", {}),
        ("[a]\nnccl\n; x = nccl\n# y = nccl\n  # z = nccl\n", {}),
        ("x = 1\n[a]\n  i = nccl\n", {"x": "1", "a/i": "nccl"}),
        ("[a]\nv = it's 'x'\n", {"a/v": "it's 'x'"}),
        ("[a]\nv = %(base)s/nccl\n", {"a/v": "%(base)s/nccl"}),
    ],
)
def test_what_is_read(text: str, expected: dict[str, str]) -> None:
    assert flat(text) == expected


@pytest.mark.parametrize(
    ("there", "value", "expected"), [("nccl", "gloo", "gloo"), ("'nccl'", "gloo", "'gloo'"), ('"x"', "", '""')]
)
def test_how_a_value_is_written(there: str, value: str, expected: str) -> None:
    text = f"[a]\nk = {there}\n"
    assert written(text, read(text).entries[0], value) == expected


@pytest.mark.parametrize("value", ["a\nb", " x", "x ", "a ; b", "", "'q'"])
def test_what_cannot_be_written(value: str) -> None:
    text = "[a]\nk = nccl\n"
    with pytest.raises(ValueError, match="INI"):
        written(text, read(text).entries[0], value)


words = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
sections = st.dictionaries(
    words, st.dictionaries(words, st.from_regex(r"[\w./:,-]{1,9}", fullmatch=True), max_size=3), min_size=1
)


@given(sections, st.sampled_from([" = ", "=", ": "]), st.sampled_from(["\n", "\r\n"]), st.text(max_size=8), st.data())
def test_a_written_value_reads_back_and_nothing_else_changes(
    tree: dict[str, dict[str, str]], sign: str, newline: str, value: str, data: st.DataObject
) -> None:
    lines = [line for name, pairs in tree.items() for line in (f"[{name}]", *(key + sign + pairs[key] for key in pairs))]
    text = newline.join(lines)
    entries = read(text).entries
    assert len(entries) == sum(map(len, tree.values()))
    if not entries:
        return
    entry = data.draw(st.sampled_from(entries))
    try:
        new = text[: entry.start] + written(text, entry, value) + text[entry.end :]
    except ValueError:
        return
    expected = [(other.path, value if other is entry else other.value) for other in entries]
    assert [(other.path, other.value) for other in read(new).entries] == expected
    parser = configparser.RawConfigParser()
    parser.read_string(new)
    assert parser[entry.path[0]][entry.path[1]] == value
