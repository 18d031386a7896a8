"""``drop-argument``: an argument goes, and the call stays as it was laid out."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.model import Recipe


def dropped(text: str, value: str = "gone") -> str:
    return rewrite(Recipe("drop-argument", (("value", value),)), text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(gone)", "f()"),
        ("f(a, gone)", "f(a)"),
        ("f(a, x=gone)", "f(a)"),
        ("f(x=gone, y=b)", "f(y=b)"),
        ("f(a, x=gone, y=b)", "f(a, y=b)"),
        ("f(a, x=gone, **more)", "f(a, **more)"),
        ("f(a, x=gone,)", "f(a,)"),
        ("f(\n    a,\n    x=gone,\n)", "f(\n    a,\n)"),
        ("f(\n    a,\n    x=gone\n)", "f(\n    a\n)"),
        ("f(\n    x=gone,  # why\n    y=b,\n)", "f(  # why\n    y=b,\n)"),
        ("g(f)(a, x=gone)", "g(f)(a)"),
    ],
)
def test_an_argument_goes(before: str, after: str) -> None:
    assert dropped(before) == after


@pytest.mark.parametrize("text", ["f(a)", "f(gone, x=gone)", "f(gone, a)", "f(*gone)", "f(**gone)", "f(g(gone))"])
def test_what_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(RecipeError):
        dropped(text)


NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(NAMES, max_size=3), st.lists(NAMES, unique=True, max_size=4), st.integers(0, 4), st.booleans())
def test_the_others_stay_in_order(first: list[str], named: list[str], at: int, trailing: bool) -> None:
    keywords = [f"{name}={name}" for name in named]
    keywords.insert(min(at, len(named)), "x=gone")
    call = ast.parse(dropped(f"f({', '.join([*first, *keywords])}{',' if trailing else ''})"), mode="eval").body
    assert isinstance(call, ast.Call)
    assert [ast.unparse(part) for part in call.args] == first
    assert [part.arg for part in call.keywords] == named


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ('f("a",  # C0\n  b=g(  # C1\n  ),  # C2\n)', "g(  # C1\n  )", 'f("a",  # C0\n# C1\n# C2\n)'),
        ("f(a,  # C0\n  b=1,  # C2\n  c=2)", "1", "f(a,  # C0\n  # C2\n  c=2)"),
        ("f(  # A\n  b=(  # C1\n  1),  # C2\n  c=2,  # C3\n)", "(  # C1\n  1)", "f(  # A\n  # C1\n  # C2\n  c=2,  # C3\n)"),
        ("f(  # A\n  b=1,  # C2\n)", "1", "f(  # A\n  # C2\n  )"),
        ("f(a, b=(  # C1\n1), c=3)", "(  # C1\n1)", "f(a,  # C1\nc=3)"),
    ],
)
def test_comments_stay(before: str, value: str, after: str) -> None:
    assert rewrite(Recipe("drop-argument", (("value", value),)), before) == after
