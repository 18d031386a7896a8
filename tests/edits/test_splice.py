from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.splice import SpliceError, splice
from ddp_codemod.model import Applicability, Edit, Reason, Recipe, Source


def source_of(text: str) -> Source:
    return Source(Path("x.py"), "x.py", text.encode(), text, "utf-8")


def edit(start: int, end: int, after: str | None, recipe: Recipe | None = None) -> Edit:
    return Edit("x.py", start, end, after, "r", Applicability.SAFE, Reason("why"), recipe=recipe)


def keyword(name: str, value: str) -> Recipe:
    return Recipe("add-keyword", (("name", name), ("value", value)))


def drop(name: str) -> Recipe:
    return Recipe("remove-import-name", (("name", name),))


def test_a_value_inside_a_call_that_gets_a_keyword():
    text = 'f("old")\n'
    edits = [edit(0, 8, None, keyword("k", "1")), edit(2, 7, '"new"')]
    assert splice(source_of(text), edits) == 'f("new", k=1)\n'
    assert splice(source_of(text), edits[::-1]) == 'f("new", k=1)\n'


def test_two_keywords_of_one_call_in_the_order_of_the_edits():
    assert (
        splice(source_of("x = f()"), [edit(4, 7, None, keyword("a", "1")), edit(4, 7, None, keyword("b", "2"))])
        == "x = f(a=1, b=2)"
    )


def test_a_call_in_a_call():
    text = "f(g(), h)"
    assert (
        splice(source_of(text), [edit(2, 5, None, keyword("a", "1")), edit(0, 9, None, keyword("b", "2"))]) == "f(g(a=1), h, b=2)"
    )


def test_equal_edits_are_made_once():
    twice = [
        edit(0, 0, "import os\n"),
        edit(0, 0, "import os\n"),
        edit(0, 3, None, keyword("a", "1")),
        edit(0, 3, None, keyword("a", "1")),
    ]
    assert splice(source_of("f()"), twice) == "import os\nf(a=1)"


def test_an_import_comes_before_the_statement_put_in_at_the_same_place():
    assert splice(source_of("f()"), [edit(0, 0, "os.x()\n"), edit(0, 0, "import os\n")]) == "import os\nos.x()\nf()"


def test_statements_at_one_place_keep_their_order():
    assert splice(source_of("f()"), [edit(0, 0, "b\n"), edit(0, 0, "a\n")]) == "b\na\nf()"


def test_an_insertion_at_either_end_of_a_change_is_outside_it():
    assert splice(source_of("f()"), [edit(0, 3, None, keyword("a", "1")), edit(0, 0, "x; "), edit(3, 3, "\n")]) == "x; f(a=1)\n"
    assert splice(source_of("abc"), [edit(0, 3, "d"), edit(3, 3, "e"), edit(0, 0, "c")]) == "cde"


@pytest.mark.parametrize(
    ("names", "left"),
    [(["a"], "import b\nx"), (["a", "b"], "x"), (["b"], "import a\nx")],
)
def test_an_import_without_names_takes_its_line_along(names, left):
    text = "import a, b\nx"
    assert splice(source_of(text), [edit(0, 11, None, drop(name)) for name in names]) == left


def test_a_new_import_in_the_place_of_the_old_one():
    text = "import a  # c\nx"
    assert (
        splice(source_of(text), [edit(0, 8, None, drop("a")), edit(0, 0, "import os\n"), edit(14, 14, "y\n")])
        == "import os\ny\nx"
    )


@pytest.mark.parametrize(
    "edits",
    [
        [edit(0, 3, "x"), edit(2, 5, "y")],
        [edit(0, 3, "x"), edit(0, 3, "y")],
        [edit(0, 5, "x"), edit(1, 2, "y")],
        [edit(0, 5, "x"), edit(2, 2, "y")],
        [edit(0, 5, None, keyword("k", "1")), edit(3, 7, "y")],
        [edit(0, 99, "x")],
        [edit(3, 1, "x")],
    ],
)
def test_refuses_what_overlaps_or_lies_outside(edits):
    with pytest.raises(SpliceError):
        splice(source_of("f(a1)+b"), edits)


@given(
    st.text("ab\r\n", max_size=20),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3), st.text("xy", min_size=1, max_size=2))),
)
def test_all_that_is_not_edited_stays(text, wanted):
    edits, at, expected = [], 0, ""
    for start, length, after in sorted(wanted):
        if start > at or (start == at and length and not edits):
            end = min(start + length, len(text))
            if start <= end:
                expected += text[at:start] + after
                edits.append(edit(start, end, after))
                at = end
    assert splice(source_of(text), edits[::-1]) == expected + text[at:]


def test_a_statement_is_guarded_around_what_its_call_gets_whatever_the_order_of_the_edits():
    text = "f(1)\n"
    guard = Recipe("guard-statements", (("test", "x"), ("base", ""), ("unit", "    "), ("otherwise", ""), ("newline", "\n")))
    edits = [edit(0, 4, None, guard), edit(0, 4, None, keyword("k", "1"))]
    for order in (edits, edits[::-1]):
        assert splice(source_of(text), order) == "if x:\n    f(1, k=1)\n"
