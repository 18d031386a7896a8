"""What is told from the bytes of files without parsing them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.sites import file_texts
from ddp_codemod.sites.name_roles import NameRoles
from ddp_codemod.sites.word_search import TextMatcher, has_word, has_word_in_context

PIECES = st.lists(st.sampled_from(["a", "b", "ab", "_", "\\n", "\\", ".", " ", "模", "1", "-", '"']), max_size=12).map("".join)
WORDS = st.text("ab_1n模", min_size=1, max_size=3)


@given(PIECES, WORDS)
def test_asking_often_gives_the_same_answers(text: str, word: str) -> None:
    made = NameRoles(Path(), [Path("b.py"), Path("a.py")])
    made._bytes |= {"a.py": text.encode(), "b.py": b"-"}
    assert made._index.find(word.encode()) == ([1] if has_word(text.encode(), word.encode()) else [])


@given(PIECES, st.sets(st.text("ab_1n.", max_size=3)))
def test_parts_are_found_wherever_they_stand(text: str, parts: set[str]) -> None:
    assert TextMatcher(parts).held(text.encode()) == {part for part in parts if part and part in text}


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("from m import main\nmain()\n", True),
        ("from m import main as start\n", True),
        ("from m import main\nspawn(main)\n", True),
        ("from m import main\n", False),
        ("from m import main\nmain_loop()\n", False),
        ("from m import (\n    other,  # a)\n    main,\n)\nmain()\n", True),
        ("from m import other, \\\n    main\nmain()\n", True),
        ("from m import *\nmain()\n", True),
        ("m.main()\n", True),
        ("m.\\\n  main()\n", True),
        ("def main():\n    pass\n\n\nmain()\n", False),
        ("import m\n\n\ndef main(): ...\n", False),
        ("# main loop\n", False),
        ("import m\n\nm.main()\n", True),
        ("import m as other\n\nother.main()\n", True),
        ("import p\n\ntool = p.m\ntool.main()\n", True),
        ("import unittest\n\nunittest.main()\n", False),
        ("self.main()\n", False),
        ("import m\n\nm.main.remote()\n", True),
        ("other = load()\nother.main()\n", False),
        ('{"source": ["from m import (\\n",\n"  main)\\n",\n"main()"]}\n', True),
    ],
)
def test_a_name_may_be_what_another_file_defines(tmp_path: Path, text: str, may: bool) -> None:
    (tmp_path / "a.py").write_text(text, "utf-8")
    roles = NameRoles(tmp_path, [tmp_path / "a.py"])
    assert roles.may_call("main", roles.naming(["spawn", "remote"]), {b"m"}) == ["a.py"] * may


@pytest.mark.parametrize(
    ("head", "bases"),
    [
        ("class A(B): ...", {"B"}),
        ("class A(\n    b.B,  # c)\n    metaclass=M(),\n): ...", {"b", "B", "M"}),
        ("class A[T: (int, str)](B): ...", {"B"}),
        ("class A:\n    x = B", set()),
    ],
)
def test_the_bases_of_classes(tmp_path: Path, head: str, bases: set[str]) -> None:
    (tmp_path / "a.py").write_text(head, "utf-8")
    made = NameRoles(tmp_path, [tmp_path / "a.py"])
    assert {word for word in ("B", "b", "M", "x") if made.deriving(word)} == bases


def test_from_some_number_of_words_on_one_index_answers(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(" ".join(f"word{number}" for number in range(60)), "utf-8")
    made = NameRoles(tmp_path, [tmp_path / "a.py"])
    assert all(made.mentioning(f"word{number}") == ("a.py",) for number in range(60))
    assert made.mentioning("word6-1") == made.mentioning("wor") == ()
    assert len(made._mentions) > file_texts._MANY


def test_what_stands_around_a_word() -> None:
    around = re.compile(rb":\s*\Z"), re.compile(rb"\s*,")
    assert has_word_in_context(b"{1: f, 2: g}", b"f", *around)
    assert not has_word_in_context(b"{1: ff, 2: f}", b"f", *around)


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("import m\n", True),
        ("import p.m.q\n", True),
        ("from p import m\n", True),
        ("from p.m import x\n", True),
        ("from .m import x\n", True),
        ("from . import x\n", True),
        ("from p.n import x\n\nm = x\n", False),
        ("# m comes from n\n", False),
    ],
)
def test_an_import_may_mean_a_module(tmp_path: Path, text: str, may: bool) -> None:
    (tmp_path / "a.py").write_text(text, "utf-8")
    assert NameRoles(tmp_path, [tmp_path / "a.py"]).may_import("a.py", "m") is may
