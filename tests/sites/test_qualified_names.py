"""Qualified names in tables: the star stands for whole segments."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.sites.qualified_names import QualifiedNames

SEGMENTS = st.lists(st.sampled_from(["a", "b", "ab", "B"]), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("key", "name", "found"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.bc", False),
        ("a.*.B", "a.B", True),
        ("a.*.B", "a.b.c.B", True),
        ("a.*.B", "a.bB", False),
        ("a.*.B", "aB", False),
        ("a.*.B", "xa.B", False),
        ("a.*.B", "a.B.c", False),
        ("a.b.*.c.B", "a.b.c.B", True),
        ("a.b.*.c.B", "a.b.x.c.B", True),
        ("a.b.*.b.B", "a.b.B", False),
        ("a.*", "a.b.c", True),
        ("a.*", "a", False),
        ("a.*", "ab.c", False),
    ],
)
def test_a_key_and_a_name(key: str, name: str, found: bool) -> None:
    assert (QualifiedNames([(key, 1)]).get(name) == 1) is found


def test_an_exact_key_comes_first() -> None:
    assert QualifiedNames([("a.*.B", "open"), ("a.c.B", "exact")]).get("a.c.B") == "exact"


@given(SEGMENTS, SEGMENTS, SEGMENTS)
def test_it_finds_what_the_pattern_means(head: list[str], tail: list[str], name: list[str]) -> None:
    key, dotted = f"{'.'.join(head)}.*.{'.'.join(tail)}", ".".join(name)
    meant = re.compile(re.escape(key).replace(r"\.\*\.", r"\.(?:\w+\.)*"))
    assert (QualifiedNames([(key, 1)]).get(dotted) == 1) is (meant.fullmatch(dotted) is not None)
