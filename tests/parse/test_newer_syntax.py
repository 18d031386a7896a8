"""Syntax of a Python newer than the one that runs: what is read of it, where it is, and that wrong syntax stays wrong."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import LINE_END, Skipped, Source
from ddp_codemod.parse import newer_syntax
from ddp_codemod.parse.newer_syntax import NewerSyntax, parse_newer
from ddp_codemod.parse.python import Module, parse, parse_tree, passing_tree

OLD = sys.version_info < (3, 12)

# each with the Python that brought it, and what it uses
NEWER = [
    ((3, 12), "def f[T](x: T, y=g('a')) -> T: return x", "x g T"),
    ((3, 12), "async def f[T: (A, B), *Ts, **P](x): pass", "A B"),
    ((3, 12), "@d(e)\ndef f[  # [ \" '\n\n  T,\n](x): return x", "d e x"),
    ((3, 12), "class A[T]: pass", ""),
    ((3, 12), "class A[T: b.C](B[T], metaclass=M): x = y", "b B T M x y"),
    ((3, 12), "class A[\n    T: B,\n]:\n    x = y", "B x y"),
    ((3, 12), "class Ä[Tü: é](B): x = y", "é B x y"),
    ((3, 12), "type X = y[z]", "X y z"),
    ((3, 12), "type X[\n  T: A\n]=y", "X A y"),
    ((3, 12), "type = 1; type X=y; type(type)", "type X y"),
    ((3, 13), "class A[T: B = C[D], *Ts = *tuple[E]]: pass", "B C D tuple E"),
    ((3, 13), "type X[T = A] = y", "X A y"),
    ((3, 12), 'x = f"{a["b"]} é {c}"; y', "x a c y"),
    ((3, 12), "x = f'{'\\n'.join(a)}' 'b' f\"{b}\"", "x a b"),
    ((3, 12), "x = (f'{a['b']}'\n  # c\n  'd'\n), b", "x a b"),
    ((3, 12), 'x = f"{\n  a  # b \' "\n  + c\n:>{d["e"]}}" + y', "x a c d y"),
    ((3, 12), 'x = f"{f"{f"{f"{a}"}"}"}", f\'{b=}\' f\'{c[\'d\']=!r:>5}\'', "x a b c"),
    ((3, 12), 'x = f"""a"{b["""c"""]}\n"""; y', "x b y"),
    ((3, 12), "x = rf'\\{a['b']}\\d{{}}'", "x a"),
    ((3, 12), "def f[T](x=f'{a['b']}'): return f\"{b[\"c\"]}\"if x else''", "a b x"),
    ((3, 11), "try: pass\nexcept* A: pass", "A"),
    ((3, 11), "x = y[*a, b][*c.d]", "x y a b c"),
    ((3, 11), "def f(*args: *Ts): return [*a], b * c", "Ts a b c"),
    ((3, 14), "try: pass\nexcept A, b.C, D[e]: pass\nexcept F,  G : pass", "A b D e F G"),
    ((3, 14), "try: pass\nexcept* A, B: pass", "A B"),
    ((3, 14), "x = t'a{b['c']}{d!r:>{e}}' t\"f\"", "x b d e"),
    ((3, 14), 'x = f"{t"{a}"}"', "x a"),
]
PLAIN = [
    "import a.b, c",
    "x = f(y, *z, k='v')  # é \"",
    "é = 'ä'; y = é",
    "z = f'{x}' f'{y!r}'",
    "for x in y:\n    '''a\n  b'''\n    z[1:2] = x",
]
WRONG = [
    "def f[T(x): pass",
    "def f[T]: pass",
    "def f[T](x) pass",
    "class A[T] B: pass",
    "type X",
    "type X = ",
    "type X[T]",
    "x = f'{a['b'}'",
    "x = f'{}{a['b']}'",
    "x = f'{a['b']}' b''",
    "x = f'{a b}{a['b']}'",
    "f'{a['b']}' = 3",
    "print f'{a['b']}'",
    "except A, B: pass",
    "try: pass\nexcept A, B as c: pass",
    "x = (",
    "def f[T](x): return (",
    "print 'x'",
]


def names_of(tree: ast.AST) -> list[tuple[str, int, int]]:
    names = {(node.id, node.lineno, node.col_offset) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return sorted((one for one in names if one[0] != "__unknown__"), key=lambda one: one[1:])


@pytest.fixture(params=[False, True], ids=["this", "3.10"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """This Python, and one that knows nothing newer than 3.10 has."""
    if request.param:
        monkeypatch.setattr(newer_syntax, "KNOWS", (3, 10))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("since", "text", "names"), NEWER, ids=[one[1] for one in NEWER])
def test_all_names_are_where_they_stand(since: tuple[int, int], text: str, names: str, ending: str) -> None:
    text = text.replace("\n", ending)
    module = parse(Source(Path("x.py"), "x.py", text.encode(), text, "utf-8"))
    assert isinstance(module, Module), module
    found = [node for node in module.nodes[ast.Name] if isinstance(node, ast.Name) and node.id != "__unknown__"]
    assert {node.id for node in found} == set(names.split())
    for node in found:
        inside = any(type(at) is not ast.JoinedStr and isinstance(at, ast.JoinedStr) for at in module.ancestors(node))
        native = OLD and not inside and any(isinstance(at, ast.JoinedStr) for at in module.ancestors(node))
        assert native or module.text(node) == node.id
    assert names_of(passing_tree(text.encode()) or ast.Module([])) == names_of(module.tree)


@pytest.mark.parametrize(("since", "text", "names"), NEWER, ids=[one[1] for one in NEWER])
def test_a_python_that_knows_it_makes_the_same_of_it(
    since: tuple[int, int], text: str, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.version_info < since:
        pytest.skip("this Python does not know it")
    monkeypatch.setattr(newer_syntax, "KNOWS", (3, 10))
    read = NewerSyntax(text)
    if read.edits:  # what an f-string may hold is asked of the Python that runs
        assert names_of(read.parse("exec")) == names_of(ast.parse(text))


@pytest.mark.parametrize("text", WRONG)
def test_wrong_syntax_stays_wrong(text: str, reader: None) -> None:
    with pytest.raises(SyntaxError) as plain:
        ast.parse(text)
    with pytest.raises(SyntaxError) as told:
        parse_tree(text)
    assert (told.value.msg, told.value.lineno) == (plain.value.msg, plain.value.lineno)
    assert parse_newer(text) is None
    assert isinstance(parse(Source(Path("x.py"), "x.py", text.encode(), text, "utf-8")), Skipped)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python takes it for two exceptions")
def test_a_handler_of_python_2_stays_one() -> None:
    text = "try:\n    f()\nexcept Error, why:\n    g(why)\n"
    made = parse(Source(Path("x.py"), "x.py", text.encode(), text, "utf-8"))
    assert isinstance(made, Skipped)
    assert made.reason.key == "skipped-python-2"


def test_a_python_that_knows_all_looks_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer_syntax, "KNOWS", newer_syntax.NEWEST)
    assert parse_newer("def f[T](x): return f'{a['b']}'") is None


def stand_in(text: str) -> str:
    """A statement without anything newer, in the same bytes and lines."""
    blank = re.sub(r"[^\r\n]", lambda found: " " * len(found[0].encode()), text)
    return f"({blank[1:-2]}0)"


STATEMENTS = st.one_of(st.sampled_from(PLAIN), st.sampled_from([text for _, text, _ in NEWER]))


@given(st.lists(STATEMENTS, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_nothing_else_moves(rows: list[str], ending: str) -> None:
    whole = ending.join(text.replace("\n", ending) for text in rows)
    kept = ending.join((text if text in PLAIN else stand_in(text)).replace("\n", ending) for text in rows)
    assert len(whole.encode()) == len(kept.encode())
    lines, at = set(), 1
    for text in rows:
        after = at + text.count("\n") + 1
        lines |= {*range(at, after)} if text in PLAIN else set()
        at = after

    def dump_plain(tree: ast.Module) -> list[str]:
        return [ast.dump(one, include_attributes=True) for one in tree.body if one.lineno in lines]

    assert dump_plain(parse_tree(whole)) == dump_plain(ast.parse(kept))
    lowered = NewerSyntax(whole).lowered
    assert find_line_ends(lowered) == find_line_ends(whole)
    assert len(lowered.encode()) == len(whole.encode())


def find_line_ends(text: str) -> list[tuple[int, int]]:
    """Where they are in bytes."""
    return [end.span() for end in LINE_END.finditer(text.encode().decode("latin-1"))]
