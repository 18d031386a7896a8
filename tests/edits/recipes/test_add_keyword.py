import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.model import Recipe

RECIPE = Recipe("add-keyword", (("name", "k"), ("value", '"v"')))


def check(before: str, after: str) -> None:
    assert rewrite(RECIPE, before) == after
    call = next(node for node in ast.walk(ast.parse(f"({after})")) if isinstance(node, ast.Call))
    assert [keyword.value.value for keyword in call.keywords if keyword.arg == "k"] == ["v"]


def refused(text: str, recipe: Recipe = RECIPE) -> str:
    with pytest.raises(RecipeError) as caught:
        rewrite(recipe, text)
    return caught.value.reason.key


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", 'f(k="v")'),
        ("f( )", 'f( k="v")'),
        ("f(a)", 'f(a, k="v")'),
        ("f(a )", 'f(a, k="v" )'),
        ("f(a,)", 'f(a, k="v",)'),
        ("f(a,b)", 'f(a,b,k="v")'),
        ("f(a = 1)", 'f(a = 1, k = "v")'),
        ("f(*a)", 'f(*a, k="v")'),
        ("f(a)(b)", 'f(a)(b, k="v")'),
        ("f(g(k=1))", 'f(g(k=1), k="v")'),
        ("f((x for x in y))", 'f((x for x in y), k="v")'),
        ("await f(a)", 'await f(a, k="v")'),
        ("f(a) if b else c", 'f(a, k="v") if b else c'),
        ("f({\n  1: 2,\n})", 'f({\n  1: 2,\n}, k="v")'),
    ],
)
def test_one_line(before, after):
    check(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, **x)", 'f(a, k="v", **x)'),
        ("f(**x)", 'f(k="v", **x)'),
        ("f(\n    **x\n)", 'f(\n    k="v",\n    **x\n)'),
        ("f(\n    a,  # 1\n    # on x\n    **x,\n)", 'f(\n    a,  # 1\n    k="v",\n    # on x\n    **x,\n)'),
    ],
)
def test_before_a_mapping(before, after):
    check(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(\n    a,\n    b,\n)", 'f(\n    a,\n    b,\n    k="v",\n)'),
        ("f(\n    a,\n    b\n)", 'f(\n    a,\n    b,\n    k="v"\n)'),
        ("f(\n    a)", 'f(\n    a,\n    k="v")'),
        ("f(a,\n  b)", 'f(a,\n  b,\n  k="v")'),
        ("f(\n\ta,\n\tb,\n\t)", 'f(\n\ta,\n\tb,\n\tk="v",\n\t)'),
        ("f(\n    a, b,\n    c, d,\n)", 'f(\n    a, b,\n    c, d, k="v",\n)'),
        ("f(\n)", 'f(\n    k="v",\n)'),
        ("f(a, \\\n  b)", 'f(a, \\\n  b, k="v")'),
    ],
)
def test_many_lines(before, after):
    check(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(\n    a,  # c\n    # d\n)", 'f(\n    a,  # c\n    # d\n    k="v",\n)'),
        ("f(\n    a  # c\n)", 'f(\n    a,  # c\n    k="v"\n)'),
        ("f(\n    a, b  # c\n)", 'f(\n    a, b, k="v"  # c\n)'),
        ("f(\n    # nothing\n)", 'f(\n    # nothing\n    k="v",\n)'),
    ],
)
def test_comments_stay_with_what_they_follow(before, after):
    check(before, after)


def test_new_line_ends_as_the_text_does():
    check("f(\r\n    a,\r\n    b,\r\n)", 'f(\r\n    a,\r\n    b,\r\n    k="v",\r\n)')
    check("f(\r    a,\r)", 'f(\r    a,\r    k="v",\r)')


def test_mixed_line_endings_stay():
    check("f(\r\n    a,\n    b,\r\n)", 'f(\r\n    a,\n    b,\r\n    k="v",\r\n)')


def test_refuses_a_keyword_that_is_there():
    assert refused("f(a, k=1)") == "recipe-keyword-exists"


def test_refuses_a_bare_generator():
    assert refused("f(x for x in y)") == "recipe-bare-generator"


@pytest.mark.parametrize("text", ["", "x", "f() + g()", "[f(), g()]"])
def test_refuses_other_than_one_call(text):
    assert refused(text) == "recipe-no-single-call"


@pytest.mark.parametrize("text", ["f(", "f() # c", "x = f()", "elif f():", "f(\x00)"])
def test_refuses_what_is_no_expression(text):
    assert refused(text) == "recipe-not-an-expression"


def test_refuses_two_expressions_that_brackets_would_join():
    assert refused("a)(b") == "recipe-rewriter-failed"


def test_survives_deep_nesting():
    assert refused("f(" * 3000 + ")" * 3000) == "recipe-too-deep"
    assert refused("f(" + "-" * 900 + "1)") in ("recipe-too-deep", "recipe-not-an-expression")
    assert refused("f(x" + ".a" * 3000 + ")") in ("recipe-too-deep", "recipe-not-an-expression")


@pytest.mark.parametrize("value", ["x for x in y", "*a", "a, b", "a\nb", "a  # c", "", "x := 1", "a)(b", "1, k2=2"])
def test_refuses_a_value_that_is_not_one_argument(value):
    assert refused("f()", Recipe("add-keyword", (("name", "k"), ("value", value)))) == "recipe-bad-value"


SPACE = st.sampled_from(["", " ", "\n    ", "  # c\n    ", "\n    # own\n\n    ", " \\\n  ", "\n\t", "\f "])
VALUE = st.sampled_from(
    ["a", "'nccl'", '"x"', "g(b, c)", "[1,\n 2]", "x if y else z", "lambda: 0", "f'{a}'", "é", "(a)", "'''m\nn'''"]
)


@st.composite
def calls(draw) -> str:
    parts = ["f("]
    positional = draw(st.lists(VALUE, max_size=3))
    named = [f"{name}{draw(st.sampled_from(['=', ' = ']))}{draw(VALUE)}" for name in draw(st.sampled_from(["", "p", "pq"]))]
    mapping = draw(st.sampled_from([[], ["**m"], ["**m", "**n"]]))
    arguments = positional + named + mapping
    for index, argument in enumerate(arguments):
        parts += [draw(SPACE), argument]
        if index + 1 < len(arguments) or draw(st.booleans()):
            parts += [draw(SPACE), ","]
    parts += [draw(SPACE), ")"]
    text = "".join(parts)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(calls())
def test_removing_what_was_put_in_gives_the_old_text(text):
    new = rewrite(RECIPE, text)
    assert without_new(ast.parse(f"({new})")) == ast.dump(ast.parse(f"({text})"))
    head = shared(text, new)
    tail = min(shared(text[::-1], new[::-1]), len(text) - head)
    old_middle, new_middle = text[head : len(text) - tail], new[head : len(new) - tail]
    # what is new is the argument, a comma and blanks; what moved, if anything, is a comment
    assert new_middle.translate(BLANKS).replace('k="v"', "") == old_middle.translate(BLANKS)
    assert all(not line.strip() or line.strip().startswith("#") for line in old_middle.splitlines())
    assert comments(new) == comments(text)
    assert "\r\n" not in text or "\n" not in new.replace("\r\n", "")


BLANKS = str.maketrans("", "", " \t\f\r\n,")


def shared(one: str, other: str) -> int:
    """How many characters two texts share from their start."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def without_new(tree: ast.AST) -> str:
    call = tree.body[0].value  # type: ignore[attr-defined]
    call.keywords = [keyword for keyword in call.keywords if keyword.arg != "k"]
    return ast.dump(tree)


def comments(text: str) -> list[str]:
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 101 + ")" * 101,
        "1" + " or 1" * 7_000,
        "1" + "+1" * 330,
        "lambda: " * 400 + "1",
        "1<" * 30_000 + "1",
        '"a" ' * 20_000,
    ],
)
def test_what_libcst_may_not_survive_is_refused(deep: str) -> None:
    with pytest.raises(RecipeError):
        rewrite(RECIPE, f"f({deep})")
