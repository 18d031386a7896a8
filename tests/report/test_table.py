"""Columns and paragraphs on terminals, where a Chinese character takes two cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.report.table import count_cells, cut_to_width, format_table, wrap_text

TEXT = st.text(alphabet="ab c,。，（）中文字x1-_/ ", max_size=200)


def test_a_chinese_character_takes_two_cells() -> None:
    assert count_cells("ab中文，") == 2 + 4 + 2


def test_columns_stand_under_each_other() -> None:
    assert format_table([("a", "华为", "x"), ("long", "b", "y")]) == ["a     华为  x", "long  b     y"]


def test_no_rows_are_no_lines() -> None:
    assert format_table([]) == []


def test_a_closing_mark_does_not_begin_a_line() -> None:
    assert wrap_text("中文中文，中文", 8) == ["中文中", "文，中文"]


def test_words_stay_whole() -> None:
    assert wrap_text("one two three", 8) == ["one two", "three"]
    assert wrap_text("unbreakable-word", 4) == ["unbreakable-word"]


@given(TEXT, st.integers(10, 60))
def test_nothing_is_lost_and_lines_fit(text: str, width: int) -> None:
    lines = wrap_text(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    longest_word = max((count_cells(word) for word in text.split()), default=0)
    assert all(count_cells(line) <= max(width, longest_word) for line in lines)


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [("abc", 3, "abc"), ("abc", 2, "ab"), ("修改a", 4, "修改"), ("修改a", 3, "修"), ("–a", 2, "–"), ("", 0, "")],
)
def test_a_line_is_cut_where_it_would_not_fit(line: str, width: int, shown: str) -> None:
    assert cut_to_width(line, width) == shown


def test_a_negation_stays_with_what_it_negates_and_a_number_with_what_it_counts() -> None:
    assert wrap_text("中文中不安全", 8) == ["中文中", "不安全"]
    assert wrap_text("中文中文，295 个中", 14) == ["中文中文，", "295 个中"]


def test_a_bracket_stays_with_what_it_opens() -> None:
    assert wrap_text("中文中（中文）", 8) == ["中文中", "（中文）"]
    assert wrap_text("中文（https://a.b）", 6) == ["中文", "（https://a.b）"]


def test_a_short_word_in_brackets_stays_whole() -> None:
    assert wrap_text("a-rule (安全): 中文", 12) == ["a-rule", "(安全): 中文"]
    assert wrap_text("中文中文（同上）；中", 14) == ["中文中文", "（同上）；中"]
    assert wrap_text("中文（中文中文中文中文）", 10) == ["中文（中文", "中文中文中", "文）"]


def test_a_comment_is_not_broken_behind_its_sign() -> None:
    assert wrap_text('one two "# three" four', 11) == ["one two", '"# three"', "four"]
    assert wrap_text("中文“# abc”中", 8) == ["中文", "“# abc”", "中"]
    assert wrap_text("one # two", 20) == ["one # two"]
