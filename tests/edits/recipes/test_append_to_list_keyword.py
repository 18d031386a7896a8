import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.model import Recipe

RECIPE = Recipe("append-to-list-keyword", (("name", "ks"), ("element", 'H(b="g")')))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", 'f(ks=[H(b="g")])'),
        ("f(a, **m)", 'f(a, ks=[H(b="g")], **m)'),
        ("f(ks=None)", 'f(ks=[H(b="g")])'),
        ("f(ks=[])", 'f(ks=[H(b="g")])'),
        ("f(ks=[a])", 'f(ks=[a, H(b="g")])'),
        ("f(ks=[ a ])", 'f(ks=[ a, H(b="g") ])'),
        ("f(ks=[a,])", 'f(ks=[a, H(b="g"),])'),
        ("f(ks=[*a])", 'f(ks=[*a, H(b="g")])'),
        ("f(ks=[[b], (c,)])", 'f(ks=[[b], (c,), H(b="g")])'),
        ("f(ks=([a]))", 'f(ks=([a, H(b="g")]))'),
        ("f(ks=hs)", 'f(ks=[*hs, H(b="g")])'),
        ("f(ks=a.hs)", 'f(ks=[*a.hs, H(b="g")])'),
        ("f(\n    a,\n    ks = [b],  # c\n)", 'f(\n    a,\n    ks = [b, H(b="g")],  # c\n)'),
    ],
)
def test_one_line(before, after):
    assert rewrite(RECIPE, before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(ks=[\n    a,\n    b,\n])", 'f(ks=[\n    a,\n    b,\n    H(b="g"),\n])'),
        ("f(ks=[\n    a,  # c\n    b  # d\n])", 'f(ks=[\n    a,  # c\n    b,  # d\n    H(b="g")\n])'),
        ("f(ks=[\n    a,\n    # z\n])", 'f(ks=[\n    a,\n    # z\n    H(b="g"),\n])'),
        ("f(ks=[\n    # nothing\n])", 'f(ks=[\n    # nothing\n    H(b="g"),\n])'),
        ("f(ks=[\r\n\ta,\r\n])", 'f(ks=[\r\n\ta,\r\n\tH(b="g"),\r\n])'),
    ],
)
def test_many_lines(before, after):
    assert rewrite(RECIPE, before) == after


@pytest.mark.parametrize("value", ["h()", "(a,)", "a + b", "[x for x in y]", "a or []", "True", "'ab'", "a[0]", "{a}"])
def test_refuses_other_expressions(value):
    with pytest.raises(RecipeError) as caught:
        rewrite(RECIPE, f"f(ks={value})")
    assert caught.value.reason.key == "recipe-not-a-list"


def test_refuses_an_element_that_is_there():
    with pytest.raises(RecipeError) as caught:
        rewrite(RECIPE, 'f(ks=[a, H(b="g")])')
    assert caught.value.reason.key == "recipe-element-exists"


def test_another_calls_list_stays():
    assert rewrite(RECIPE, "f(g(ks=[a]))") == 'f(g(ks=[a]), ks=[H(b="g")])'


SPACE = st.sampled_from(["", " ", "\n  ", "  # c\n  ", "\n  # own\n\n  ", "\n\t"])


@given(st.lists(st.tuples(SPACE, st.sampled_from(["a", "*b", "g(1,)", "'[,]'"]), SPACE), max_size=4), SPACE, st.booleans())
def test_the_other_elements_and_comments_stay(items, closing, trailing):
    inside = ",".join("".join(item) for item in items) + ("," if trailing and items else "")
    text = f"f(x, ks=[{inside}{closing}], y=1)"
    new = rewrite(RECIPE, text)
    elements = ast.parse(new, mode="eval").body.keywords[0].value.elts
    assert ast.unparse(elements[-1]) == "H(b='g')"
    old = ast.parse(text, mode="eval").body.keywords[0].value.elts
    assert [ast.dump(element) for element in elements[:-1]] == [ast.dump(element) for element in old]
    assert new.replace('H(b="g")', "").translate(BLANKS) == text.translate(BLANKS)


BLANKS = str.maketrans("", "", " \t\n,")
