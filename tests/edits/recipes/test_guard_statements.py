"""``guard-statements``: statements go under an ``if`` and stay what they were."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.recipes import RecipeError, rewrite
from ddp_codemod.model import Recipe


def guarded(text: str, base: str = "", otherwise: str = "", wrap: str = "", unit: str = "    ") -> str:
    args = {"test": "n > 1", "base": base, "unit": unit, "otherwise": otherwise, "newline": "\n", "wrap": wrap}
    return rewrite(Recipe("guard-statements", tuple(args.items())), text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("start()", "if n > 1:\n    start()"),
        ("start(\n    1,\n)", "if n > 1:\n    start(\n        1,\n    )"),
        ("a()  # why\nb()", "if n > 1:\n    a()  # why\n    b()"),
        ("a(\n\n    1)", "if n > 1:\n    a(\n\n        1)"),
        ("a(\r\n    1)", "if n > 1:\r\n    a(\r\n        1)"),
        ('a("one"\n  "two")', 'if n > 1:\n    a("one"\n      "two")'),
        ("a('\\n')", "if n > 1:\n    a('\\n')"),
    ],
)
def test_statements_are_indented(before: str, after: str) -> None:
    assert guarded(before) == after


def test_what_runs_instead_follows() -> None:
    assert guarded("spawn(run)", "\t", "run(0)", unit="\t") == "if n > 1:\n\t\tspawn(run)\n\telse:\n\t\trun(0)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("net = DDP(build(1), x=2)", "net = build(1)\nif n > 1:\n    net = DDP(net, x=2)"),
        ("self.net = DDP(\n    build(),\n)", "self.net = build()\nif n > 1:\n    self.net = DDP(\n        self.net,\n    )"),
        ("网 = DDP(造('模型'))", "网 = 造('模型')\nif n > 1:\n    网 = DDP(网)"),
    ],
)
def test_what_is_wrapped_is_made_in_any_case(before: str, after: str) -> None:
    assert guarded(before, wrap="yes") == after


@pytest.mark.parametrize(
    ("text", "wrap"),
    [('a("""\n""")', ""), ("a(f'''{b}\n''')", ""), ("a('x\\\n')", ""), ("a(", ""), ("wrap(net)", "yes"), ("a = b = 1", "yes")],
)
def test_what_indentation_would_change_is_refused(text: str, wrap: str) -> None:
    with pytest.raises(RecipeError):
        guarded(text, wrap=wrap)


LINES = st.lists(st.sampled_from(["a()", "b = c", "f(\n  1,\n  2)", "# why", "", "x = [\n# here\n]"]), min_size=1, max_size=5)


@given(LINES, st.sampled_from(["", "    ", "\t"]))
def test_the_statements_stay_what_they_were(lines: list[str], base: str) -> None:
    lines = ["first()", *lines, "last()"]
    source = "\n".join(base + line for line in lines)
    new = ast.parse(f"if 1:\n{base}{guarded(source[len(base) :], base)}" if base else guarded(source)).body[0]
    inner = new.body[0] if base else new
    assert isinstance(inner, ast.If)
    assert ast.dump(ast.Module(inner.body, [])) == ast.dump(ast.Module(ast.parse("\n".join(lines)).body, []))
