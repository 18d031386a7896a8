from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.ink import Ink, escape_for_terminal


@pytest.mark.parametrize("text", ["训练　模型", "naïve\tx\n", "a b", "👩\u200d💻", "\ue0b0"])
def test_text_that_people_write_stays(text: str) -> None:
    assert escape_controls(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b1m", "\\x9b1m"),
        ("a\rb\b", "a\\x0db\\x08"),
        ("\u202egnp.py", "\\u202egnp.py"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2028b", "a\\u2028b"),
        ("\udc9b", "\\x9b"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_acts_on_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    left = {unicodedata.category(character) for character in escape_controls(text)} - {"Zs"}
    assert not left & {"Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in escape_controls(text))


def test_our_own_colours_are_colours_and_others_are_not() -> None:
    ink = Ink(True)
    assert (
        escape_for_terminal(ink("a\x1b[31mb\x1b[0m", "bold", "red") + "\x1b[5mc")
        == "\x1b[1m\x1b[31ma\\x1b[31mb\\x1b[0m\x1b[0m\\x1b[5mc"
    )
    assert escape_for_terminal(ink.diff("+a\n-\x1b[2Jb")) == "\x1b[32m+a\x1b[0m\n\x1b[31m-\\x1b[2Jb\x1b[0m"
