from pathlib import Path

import pytest

from ddp_codemod.edits.lines import Preview, expand_deletion, preview_lines
from ddp_codemod.model import Applicability, Edit, Reason, Recipe, Source


def source_of(text: str) -> Source:
    return Source(Path("x.py"), "x.py", text.encode(), text, "utf-8")


def edit(start: int, end: int, after: str | None, recipe: Recipe | None = None) -> Edit:
    return Edit("x.py", start, end, after, "r", Applicability.SAFE, Reason("why"), recipe=recipe)


def test_a_replaced_value_shows_its_whole_line():
    text = "a\nf('x', 1)\nb\n"
    assert preview_lines(source_of(text), edit(text.index("'x'"), text.index(","), "'y'")) == Preview(
        2, 2, "f('x', 1)", "f('y', 1)"
    )


def test_a_value_of_two_lines():
    text = "a\r\nf(x if y\r\n  else z)\r\nb"
    assert preview_lines(source_of(text), edit(text.index("x if"), text.index(")"), "w")) == Preview(
        2, 3, "f(x if y\r\n  else z)", "f(w)"
    )


def test_an_inserted_line_is_shown_with_the_one_that_follows():
    text = "a\n  f()\nb\n"
    assert preview_lines(source_of(text), edit(2, 2, "  new\n")) == Preview(2, 2, "  f()", "  new\n  f()")


def test_an_insertion_inside_a_line():
    assert preview_lines(source_of("if x: f()"), edit(6, 6, "new; ")) == Preview(1, 1, "if x: f()", "if x: new; f()")


def test_a_recipe_that_has_not_run():
    assert preview_lines(source_of("a\nf()"), edit(2, 5, None, Recipe("r"))) == Preview(2, 2, "f()", None)


def test_a_line_that_goes():
    assert preview_lines(source_of("a\nimport os  # c\nb\n"), edit(2, 11, "")) == Preview(2, 2, "import os  # c", "")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\nGONE\nb\n", "a\nb\n"),
        ("a\nGONE", "a\n"),
        ("a\r\n  GONE  # c\r\nb", "a\r\nb"),
        ("GONE;\nb", "b"),
        ("\fGONE\nb", "\fb"),
        ("GONE; b", "b"),
        ("if x: GONE; b", "if x: b"),
        ("a; GONE\n", "a\n"),
        ("a; GONE  # c\n", "a  # c\n"),
        ("a; GONE; b", "a; b"),
        ("if x: GONE", "if x: "),
        ("f(GONE)", "f()"),
        ("'GONE' # GONE2", "'' # GONE2"),
    ],
)
def test_what_goes_with_a_statement(text, left):
    start = text.index("GONE")
    first, last = expand_deletion(source_of(text), start, start + 4)
    assert text[:first] + text[last:] == left


def test_whole_lines_end_where_the_next_starts():
    assert expand_deletion(source_of("a\nb\nc\n"), 2, 4) == (2, 4)
