"""The evaluator is right whenever it claims to know, whatever the values that it does not know."""

from __future__ import annotations

import ast
import itertools
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.dataflow.fold import TRUTHY, UNKNOWN, FoldResult, Known, Truthy, fold, truth

NAMES = ("a", "b", "c")
VALUES: tuple[Any, ...] = (True, False, None, 0, 1, 2, "", "nt", "NCCL", ())  # what an unknown name may hold
TRUTHS: tuple[Any, ...] = (True, 7, "12.4", ("x",))  # what a truthy one may hold


def folded(text: str, **known: FoldResult) -> FoldResult:
    """What an expression gives where some names are known."""

    def look(node: ast.expr) -> FoldResult:
        return known.get(node.id, UNKNOWN) if isinstance(node, ast.Name) else UNKNOWN

    return fold(ast.parse(text, mode="eval").body, look)


T, F, U, Y = Known(True), Known(False), UNKNOWN, TRUTHY


@pytest.mark.parametrize(
    ("left", "right", "both", "either"),
    [
        (T, T, True, True), (T, F, False, True), (T, U, None, True), (T, Y, True, True),
        (F, T, False, True), (F, F, False, False), (F, U, False, None), (F, Y, False, True),
        (U, T, None, True), (U, F, False, None), (U, U, None, None), (U, Y, None, True),
        (Y, T, True, True), (Y, F, False, True), (Y, U, None, True), (Y, Y, True, True),
    ],
)  # fmt: skip
def test_three_valued_and_or(left: FoldResult, right: FoldResult, both: bool | None, either: bool | None) -> None:
    assert truth(folded("a and b", a=left, b=right)) is both
    assert truth(folded("a or b", a=left, b=right)) is either


@pytest.mark.parametrize(
    ("value", "wanted"), [(T, False), (F, True), (U, None), (Y, False), (Known(None), True), (Known(""), True)]
)
def test_three_valued_not(value: FoldResult, wanted: bool | None) -> None:
    assert truth(folded("not a", a=value)) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a is None", False), ("a is not None", True), ("a == ''", False), ("a != 0", True), ("a == 'x'", None),
        ("a > 0", None), ("None is a", False), ("a in ('x',)", None), ("bool(a)", None),
    ],
)  # fmt: skip
def test_something_true_is_not_none_and_no_more(text: str, wanted: bool | None) -> None:
    assert truth(folded(text, a=TRUTHY)) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("'Windows'.lower() == 'windows'", True),
        ("'win32'.startswith('win')", True),
        ("'win32'.startswith(('linux', 'darwin'))", False),
        ("'linux' in ('win32', 'cygwin')", False),
        ("'linux' not in ['win32']", True),
        ("'b' in 'a b'.split()", True),
        ("f'{1}-{\"x\"}' == '1-x'", True),
        ("'cpu:' + 'gloo' == 'cpu:gloo'", True),
        ("1 < 2 < 3", True),
        ("1 < 2 > 3", False),
        ("(n := 'nt') == 'nt'", True),
        ("-1 < 0", True),
        ("'x'.lower('y') == 'x'", None),
        ("'1' < 1", None),
        ("f'{\"x\"!r}' == 'x'", None),
        ("print('x')", None),
        ("__import__('os').name == 'posix'", None),
    ],
)
def test_texts_and_comparisons(text: str, wanted: bool | None) -> None:
    assert truth(folded(text)) is wanted


def test_a_conditional_whose_branches_agree_is_known() -> None:
    assert folded("'gloo' if a else 'gloo'") == Known("gloo")
    assert folded("'gloo' if a else 'nccl'") == UNKNOWN
    assert folded("'gloo' if a else 'nccl'", a=TRUTHY) == Known("gloo")


def test_an_open_part_leaves_the_value_of_a_chain_open() -> None:
    assert truth(folded("a and False")) is False
    assert truth(folded("(a and False) == False")) is None  # a may be "", which is not False
    assert truth(folded("a and None")) is False
    assert truth(folded("(a or True) == True")) is None
    assert folded("a or b", a=Known(""), b=Known("x")) == Known("x")
    assert folded("a and b", a=TRUTHY, b=Known("x")) == Known("x")


def test_lists_sets_and_tuples_are_not_each_other() -> None:
    assert truth(folded("[1] == (1,)")) in (None, False)
    assert truth(folded("{1, 2} == (1, 2)")) in (None, False)
    assert truth(folded("'a b'.split() == ('a', 'b')")) in (None, False)


def test_identity_of_texts_is_not_guessed() -> None:
    assert truth(folded("a is 'nt'", a=Known("".join(["n", "t"])))) is not False
    assert truth(folded("a is b", a=Known("x"), b=Known("y"))) in (None, False)
    assert truth(folded("a is True", a=Known(1))) in (None, False)


def test_a_known_value_can_be_put_in_a_set() -> None:
    for text in ("'a b'.split()", "[1, 2]", "{1, 2}", "(1, 2)"):
        assert len({folded(text)}) == 1


def test_deep_expressions_do_not_raise() -> None:
    node: ast.expr = ast.Constant("x")
    for _ in range(20_000):
        node = ast.BinOp(node, ast.Add(), ast.Constant("y"))
    assert fold(node, lambda part: UNKNOWN) == UNKNOWN


def test_long_texts_are_not_built() -> None:
    text = '"' + "x" * 6000 + '"'
    assert folded(f"{text} + {text}") == UNKNOWN


def names() -> st.SearchStrategy[str]:
    return st.sampled_from(NAMES)


def constants() -> st.SearchStrategy[str]:
    return st.sampled_from(["True", "False", "None", "0", "1", "2", "''", "'nt'", "'NCCL'", "()", "('nt', 1)", "[1]", "{'nt'}"])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.tuples(inner, st.sampled_from(["and", "or", "==", "!=", "<", ">=", "in", "not in", "+"]), inner)
    return st.one_of(
        joined.map(lambda part: f"({part[0]} {part[1]} {part[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner, inner).map(
            lambda part: f"({part[0]} {part[1]} {part[2]} {part[1]} {part[3]})"
        ),
        st.tuples(inner, inner, inner).map(lambda part: f"({part[0]} == {part[1]} != {part[2]})"),
        st.tuples(inner, st.sampled_from(["is None", "is not None", "is True", "is False"])).map(" ".join).map("({})".format),
        inner.map("(not {})".format),
        inner.map("(-{})".format),
        st.tuples(inner, inner, inner).map(lambda part: f"({part[0]} if {part[1]} else {part[2]})"),
        st.tuples(inner, inner).map(lambda part: f"({part[0]}, {part[1]})"),
        inner.map("({}).lower()".format),
        inner.map(lambda part: "f'{" + part.replace("'", '"') + "}'" if '"' not in part and "{" not in part else part),
        st.tuples(inner, inner).map(lambda part: f"({part[0]}).startswith({part[1]})"),
    )


EXPRESSIONS = st.recursive(st.one_of(names(), constants()), compound, max_leaves=12)
BOOLEAN = st.recursive(
    names(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" and ", " or ", " == ", " != "]), inner).map("".join).map("({})".format),
        inner.map("(not {})".format),
        st.tuples(inner, inner, inner).map(lambda part: f"({part[0]} if {part[1]} else {part[2]})"),
    ),
    max_leaves=12,
)


def outcome(code: Any, values: dict[str, Any]) -> tuple[bool, Any]:
    """Whether an expression ran, and what it gave."""
    try:
        return True, eval(code, {"__builtins__": {}}, values)
    except (TypeError, AttributeError):
        return False, None


def compiled(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "is" with a literal, a call of a constant
        return compile(text, "<expression>", "eval")


@settings(max_examples=300, deadline=None)
@given(BOOLEAN, st.tuples(*[st.booleans()] * len(NAMES)))
def test_with_every_name_known_it_agrees_with_python(text: str, values: tuple[bool, ...]) -> None:
    table = dict(zip(NAMES, values, strict=True))
    assert folded(text, **{name: Known(value) for name, value in table.items()}) == Known(eval(text, {}, table))


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.lists(st.sampled_from(["unknown", "truthy", *range(len(VALUES))]), min_size=3, max_size=3))
def test_what_it_claims_holds_for_every_completion(text: str, kinds: list[Any]) -> None:
    pools = [VALUES if kind == "unknown" else TRUTHS if kind == "truthy" else (VALUES[kind],) for kind in kinds]
    given_values: dict[str, FoldResult] = {
        name: UNKNOWN if kind == "unknown" else TRUTHY if kind == "truthy" else Known(VALUES[kind])
        for name, kind in zip(NAMES, kinds, strict=True)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        claim = folded(text, **given_values)
    decided = truth(claim)
    if decided is None and not isinstance(claim, Known):
        return
    code = compiled(text)
    for values in itertools.product(*pools):
        ran, got = outcome(code, dict(zip(NAMES, values, strict=True)))
        if not ran:
            continue
        assert bool(got) is decided, (text, values)
        if isinstance(claim, Known) and not isinstance(claim.value, (tuple, frozenset)):
            assert got == claim.value, (text, values)
            assert type(got) is type(claim.value), (text, values)
        if isinstance(claim, Truthy):
            assert got is not None
