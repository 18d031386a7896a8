import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.insert import insert_before_statement
from ddp_codemod.model import Reason, Source


def source_of(text: str) -> Source:
    return Source(Path("x.py"), "x.py", text.encode(), text, "utf-8")


def inserted(text: str, statement: str = "new()") -> str | Reason:
    """The text with a statement before the one that calls ``init``."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "init")
    place = insert_before_statement(source_of(text), parents, call, statement)
    if isinstance(place, Reason):
        return place
    new = text[: place.offset] + place.text + text[place.offset :]
    assert ast.dump(without_new(ast.parse(new))) == ast.dump(tree)
    return new


def without_new(tree: ast.AST) -> ast.AST:
    """The tree without the statements ``new()``."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(suite := getattr(node, name, None), list):
                setattr(node, name, [part for part in suite if ast.unparse(part) != "new()"])
    return tree


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("init()", "new()\ninit()"),
        ("a()\ninit()\n", "a()\nnew()\ninit()\n"),
        ("def f():\n\tinit()\n", "def f():\n\tnew()\n\tinit()\n"),
        ("if a:\n    x = [\n        init()]\n", "if a:\n    new()\n    x = [\n        init()]\n"),
        ("if a:\r\n    init()\r\n", "if a:\r\n    new()\r\n    init()\r\n"),
        ("é = 'é'; x = 1\nz = 'é', init()", "é = 'é'; x = 1\nnew()\nz = 'é', init()"),
        ("x = '''\nm\n'''\ninit()", "x = '''\nm\n'''\nnew()\ninit()"),
        ("# art \\\ninit()", "# art \\\nnew()\ninit()"),
        ("print(f'{init()}')", "new()\nprint(f'{init()}')"),
        ("init(); a()", "new()\ninit(); a()"),
        ("if init():\n    pass", "new()\nif init():\n    pass"),
        ("for x in init():\n    pass", "new()\nfor x in init():\n    pass"),
        ("with a, init() as b:\n    pass", "new()\nwith a, init() as b:\n    pass"),
    ],
)
def test_on_a_line_of_its_own(before, after):
    assert inserted(before) == after


def test_nothing_but_the_new_line_in_a_file_of_mixed_endings():
    assert inserted("a()\r\ninit()\nb()\r\n") == "a()\r\nnew()\ninit()\nb()\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    pass\nelif init():\n    pass\n", "new()\nif a:\n    pass\nelif init():\n    pass\n"),
        (
            "def f():\n  if a: b\n  elif c: d\n  elif init(): e\n  else: g\n",
            "def f():\n  new()\n  if a: b\n  elif c: d\n  elif init(): e\n  else: g\n",
        ),
        ("if a:\n    pass\nelse:\n    if init(): pass\n", "if a:\n    pass\nelse:\n    new()\n    if init(): pass\n"),
        ("try:\n    a()\nexcept init():\n    pass\n", "new()\ntry:\n    a()\nexcept init():\n    pass\n"),
        ("match init():\n    case 1: pass\n", "new()\nmatch init():\n    case 1: pass\n"),
    ],
)
def test_before_the_head_of_a_chain(before, after):
    assert inserted(before) == after


@pytest.mark.parametrize(
    "rest",
    [
        "@a\n@init()\ndef f(): pass\n",
        "@a\ndef f(x=init()): pass\n",
        "@a\nclass A(init()): pass\n",
        "@ a\n# c\n@b\nasync def f(x: init()): pass\n",
        "@(  # see @b\n  a\n  @ b)\ndef f(*, x=init()): pass\n",
    ],
)
def test_before_the_decorators(rest):
    assert inserted(f"b()\n{rest}") == f"b()\nnew()\n{rest}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if x: init()", "if x: new(); init()"),
        ("a(); init()", "a(); new(); init()"),
        ("class A: x = init()", "class A: new(); x = init()"),
        ("if a: b()\nelse: init()\n", "if a: b()\nelse: new(); init()\n"),
        ("if x: \\\n    init()\n", "if x: \\\n    new(); init()\n"),
        ("a(); \\\n  init()\n", "a(); \\\n  new(); init()\n"),
        ("x = '''\n'''; init()", "x = '''\n'''; new(); init()"),
    ],
)
def test_inside_the_line(before, after):
    assert inserted(before) == after


def test_form_feed_stays_in_front_of_its_page():
    assert inserted("a()\n\finit()\n") == "a()\n\fnew()\ninit()\n"
    assert inserted("def f():\n  \f  init()\n") == "def f():\n  \f  new()\n  init()\n"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("x = lambda: init()", "insert-lambda"),
        ("[init() for x in y]", "insert-comprehension"),
        ("[x for x in y if init()]", "insert-comprehension"),
        ("{a: b for x in y for a, b in init()}", "insert-comprehension"),
        ("while init(): pass", "insert-while-test"),
        ("while a or not init(): pass", "insert-while-test"),
        ("for x[init()] in y: pass", "insert-for-target"),
        ("match x:\n    case 1 if init(): pass", "insert-case"),
    ],
)
def test_review_where_no_statement_can_precede(text, key):
    assert inserted(text) == Reason.of(key)


@pytest.mark.parametrize(
    "text", ["x = lambda a=init(): a", "[x for x in init()]", "[x for x in (lambda: y)(init())]", "while a: init()"]
)
def test_what_runs_once_is_no_review_item(text):
    assert not isinstance(inserted(text), Reason)


SIMPLE = ["a()", "init()", "x = [1,\n  2]", "y = '''\n  s\n'''", "pass"]


@st.composite
def suites(draw, indent: str, depth: int) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["simple", "if", "def", "try", "inline", "semicolons"] if depth else ["simple", "inline"]))
        inner = indent + draw(st.sampled_from(["\t", "  "]))
        if kind == "simple":
            parts.append(indent + draw(st.sampled_from(SIMPLE)) + draw(st.sampled_from(["", "  # c \\", ";"])))
        elif kind == "inline":
            parts.append(indent + draw(st.sampled_from(["if a: ", "with b: ", "if a: \\\n "])) + draw(st.sampled_from(SIMPLE)))
        elif kind == "semicolons":
            parts.append(indent + "; ".join(draw(st.lists(st.sampled_from(SIMPLE), min_size=2, max_size=3))))
        elif kind == "def":
            parts.append(f"{indent}@init()\n{indent}def f(a=init()):\n{draw(suites(inner, depth - 1))}")
        elif kind == "try":
            parts.append(f"{indent}try:\n{draw(suites(inner, depth - 1))}\n{indent}except init(): pass")
        else:
            test = draw(st.sampled_from(["a", "init()", "(b,\n init())"]))
            parts.append(
                f"{indent}if a:\n{draw(suites(inner, depth - 1))}\n{indent}elif {test}:\n{draw(suites(inner, depth - 1))}"
            )
    return "\n".join(parts)


@given(suites("", 2), st.sampled_from(["\n", "\r\n"]))
def test_one_statement_more_and_nothing_else_changes(text, newline):
    text = text.replace("\n", newline)
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "init"]:
        place = insert_before_statement(source_of(text), parents, call, "new()")
        assert not isinstance(place, Reason)
        new = text[: place.offset] + place.text + text[place.offset :]
        assert ast.dump(without_new(ast.parse(new))) == ast.dump(tree)
        assert newline not in text or newline == "\n" or "\n" not in new.replace("\r\n", "")
