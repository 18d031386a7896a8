import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.edits.recipes.remove_import_name import rewrite as libcst_rewrite
from ddp_codemod.edits.recipes.sole_import import binds_only
from ddp_codemod.model import Recipe


def without(name: str, text: str) -> str:
    return rewrite(Recipe("remove-import-name", (("name", name),)), text)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a", "import a", ""),
        ("a", "import a.b", ""),
        ("b", "import a, b", "import a"),
        ("a", "import a, b", "import b"),
        ("b", "import a, b, c", "import a, c"),
        ("a", "import a.b, a.c, d", "import d"),
        ("c", "import b as c, b", "import b"),
        ("platform", "import torch, platform", "import torch"),
        ("b", "import a, \\\n    b", "import a"),
        ("a", "import a, \\\n    b", "import b"),
        ("a", "from x import a", ""),
        ("b", "from x import (a, b)", "from x import (a)"),
        ("a", "from x import (a, b)", "from x import (b)"),
        ("b", "from x import (a, b, )", "from x import (a, )"),
        ("a", "from . import a, c as b", "from . import c as b"),
    ],
)
def test_one_line(name, before, after):
    assert without(name, before) == after


MANY = "from x import (\n    a,  # ca\n    # own\n    b,  # cb\n    c,\n)"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a", MANY, "from x import (\n    # own\n    b,  # cb\n    c,\n)"),
        ("b", MANY, "from x import (\n    a,  # ca\n    # own\n    c,\n)"),
        ("c", MANY, "from x import (\n    a,  # ca\n    # own\n    b,  # cb\n)"),
        ("b", "from x import (\n  a,  # ca\n  b  # d\n  # e\n)", "from x import (\n  a  # ca\n  # e\n)"),
        ("b", "from x import (\r\n  a, b,  # c\r\n  d)", "from x import (\r\n  a,  # c\r\n  d)"),
        ("c", MANY.replace("\n", "\r\n"), "from x import (\r\n    a,  # ca\r\n    # own\r\n    b,  # cb\r\n)"),
    ],
)
def test_many_lines(name, before, after):
    assert without(name, before) == after


@pytest.mark.parametrize("text", ["import b", "import b as c, a as d", "from x import *", "from a import b"])
def test_refuses_a_name_that_is_not_bound(text):
    with pytest.raises(RecipeError) as caught:
        without("a", text)
    assert caught.value.reason.key == "recipe-name-not-imported"


@pytest.mark.parametrize("text", ["a = 1", "", "import a; import b", "def a(): pass", "import a\nimport b"])
def test_refuses_what_is_not_one_import(text):
    with pytest.raises(RecipeError) as caught:
        without("a", text)
    assert caught.value.reason.key == "recipe-not-an-import"


def test_refuses_what_does_not_parse():
    with pytest.raises(RecipeError) as caught:
        without("a", "import a,")
    assert caught.value.reason.key == "recipe-rewriter-failed"


STATEMENTS = ["import a", "import a.b", "import b as a", "import a as b", "import a, b", "from a import b", "from . import a",
              "from a import *", "from x import (\n  a,  # c\n)", "import a; import a", "import a\n\n", "a = 1", "", "import a  # b",
              "import \\\n a", "from x import (a)", "from x import a as b"]  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_is_told_without_libcst_is_what_libcst_makes(text):
    for name in ("a", "b", "x"):
        try:
            made = libcst_rewrite(text, {"name": name})
        except RecipeError:
            made = None
        assert binds_only(text, name) == (made == "")


SPACE = st.sampled_from(["", " ", "\n  ", "  # c\n  ", "\n  # own\n  "])


@given(st.lists(st.sampled_from(["a", "b", "c as d", "e"]), min_size=2, max_size=5, unique=True), st.data(), st.booleans())
def test_the_other_names_stay(names, data, trailing):
    parts = [data.draw(SPACE) + name + data.draw(st.sampled_from(["", " "])) for name in names]
    text = f"from m import ({','.join(parts)}{',' if trailing else ''})"
    gone = data.draw(st.sampled_from(names))
    new = without(gone[-1], text)
    assert [ast.unparse(alias) for alias in ast.parse(new).body[0].names] == [name for name in names if name != gone]
    assert new.count("# own") == text.count("# own")
