"""Python files: every node's place leads back to its very text, whatever the encoding and the line endings."""

from __future__ import annotations

import ast
import sys
import sysconfig
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.model import Skipped, Source
from ddp_codemod.parse.python import Module, parse, walk

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
NON_ASCII = ["test/test_unicode_identifiers.py", "test/test_ucn.py", "statistics.py", "heapq.py", "bisect.py"]


def source(text: str, encoding: str = "utf-8") -> Source:
    return Source(Path("x.py"), "x.py", text.encode(encoding), text, encoding)


def module_of(text: str) -> Module:
    made = parse(source(text))
    assert isinstance(made, Module), made
    return made


def check_every_node(module: Module, wanted: int = 1) -> None:
    """Each expression's text, parsed on its own, is the expression; each statement starts and ends where Python says."""
    seen = 0
    for nodes in module.nodes.values():
        for node in nodes:
            if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Slice)) or in_f_string(module, node):
                continue
            if in_slice(module, node):
                continue
            text = module.text(node)
            again = ast.parse(f"({text}\n)", mode="eval").body
            assert dumped(again) == dumped(node), text
            seen += 1
    for nodes in module.nodes.values():
        for node in nodes:
            if isinstance(node, ast.stmt):
                place = module.place(node)
                assert module.source.position(place.start)[0] == node.lineno
                assert module.source.position(place.end)[0] == node.end_lineno
    assert seen >= wanted


def in_f_string(module: Module, node: ast.AST) -> bool:
    """Parts of an f-string have places of their own only since Python 3.12."""
    return any(isinstance(at, (ast.JoinedStr, ast.FormattedValue)) for at in module.ancestors(node))


def in_slice(module: Module, node: ast.AST) -> bool:
    """``x[1:2, 3]``: the tuple is none on its own."""
    return any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.iter_child_nodes(node)) and isinstance(node, ast.Tuple)


def dumped(node: ast.expr) -> str:
    """The expression as one that is read, also where it is assigned to."""
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()").replace("ctx=Del()", "ctx=Load()")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", NON_ASCII)
def test_every_node_of_the_standard_library_leads_to_its_text(name: str, ending: str) -> None:
    path = LIBRARY / name
    if not path.is_file():
        pytest.skip(f"this Python comes without {name}")
    with tokenize.open(path) as file:
        text = file.read()
    lines = text.split("\n")
    if ending != "\n":
        lines = lines[:250]  # the endings are what differs; a part is enough
        while lines:
            try:
                ast.parse("\n".join(lines))
                break
            except SyntaxError:
                lines.pop()
    check_every_node(module_of(ending.join(lines)), 5)


@pytest.mark.parametrize(
    "text",
    [
        "x = '后端'; y = 'nccl'\n",
        "f('é', backend='nccl')  # ü\n",
        "\fx = 1\n\f\ny = ('ä',\n  'nccl')\n",
        "def f():\n\x0c    return 'nccl'\n",
        "x = 'a\x0bb'; y = 'nccl'\n",
        "x = 'a\x1cb\x85c\u2028d'; y = 'nccl'\n",
        "x = '''a\r\n后b''' + 'nccl'\r\ny = 2\r\n",
        "x = 1\\\n  + 'é'.count('nccl')\n",
        "变量 = 'nccl'\nprint(变量)\n",
        "\u00aa = 'nccl'; y = \u00aa\n",
        "if x: y = '😀'; z = 'nccl'",
        "x = [\n\n  '😀', # 😀\n 'nccl']\n",
        "if 1:\n\tx = 'ö', 'nccl'\n",
    ],
)
def test_places_count_characters(text: str) -> None:
    check_every_node(module_of(text))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "x = 'é'",
                "y = f(  '后端', 'nccl')",
                "# ü",
                "",
                "\f",
                "z = ('a',",
                "  'b')",
                "'''ä",
                "b'''",
                "if x: y = '😀'",
                "w = 1; v = 'ß'",
            ]
        ),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_any_mix_of_lines(lines: list[str], ending: str, ended: bool) -> None:
    made = parse(source(ending.join(lines) + (ending if ended else "")))
    if isinstance(made, Module):
        check_every_node(made, 0)


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="ab\n\r\f\x0b\x1c\x85\u2028é后😀 ", max_size=40))
def test_positions_and_offsets_are_inverse(text: str) -> None:
    made = source(text)
    for offset in range(len(text) + 1):
        line, column = made.position(offset)
        head = text[made.line_starts[line - 1] : offset]
        assert column == len(head)
        assert made.offset(line, len(head.encode("utf-8"))) == offset
        start, end = made.line_span(offset)
        assert start <= offset <= end
    assert "".join(text[slice(*made.line_span(start))] for start in made.line_starts if start < len(text)) == text


def test_parents_and_nodes() -> None:
    module = module_of("def f():\n    g(1)\n    h(2)\n")
    one, two = module.nodes[ast.Constant]
    assert (module.text(one), module.text(two)) == ("1", "2")
    assert [type(node).__name__ for node in module.ancestors(one)] == ["Call", "Expr", "FunctionDef", "Module"]
    assert isinstance(module.statement(one), ast.Expr)
    assert module.statement(module.tree.body[0]) is module.tree.body[0]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("print 'x'\n", "skipped-python-2", "1"),
        ("x = 1\nexec 'y'\n", "skipped-python-2", "2"),
        ("try:\n    pass\nexcept E, e:\n    pass\n", "skipped-python-2", "3"),
        ("raise E, 'x'\n", "skipped-python-2", "1"),
        ("x = (\n", "skipped-syntax", "1"),
        ("def f(:\n", "skipped-syntax", "1"),
        ("if x:\ny\n", "skipped-syntax", "2"),
        ("print('x')\nx = = 1\n", "skipped-syntax", "2"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str, key: str, line: str) -> None:
    made = parse(source(text))
    assert isinstance(made, Skipped)
    assert made.reason.key == key
    assert dict(made.reason.args)["line"] == line


def test_a_newer_syntax_names_this_python() -> None:
    made = parse(source("def f[T](x: T): pass\nx: = 1\n"))
    assert isinstance(made, Skipped)
    assert dict(made.reason.args)["version"] == f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.parametrize("text", ["(" * 1200 + ")" * 1200, "-" * 100_000 + "1", "x" + ".y" * 50_000, "a" + " + a" * 5000])
def test_code_that_is_too_deep_never_raises(text: str) -> None:
    made = parse(source(text))
    assert isinstance(made, (Module, Skipped))


def test_bad_escapes_of_strangers_are_not_ours_to_report() -> None:
    assert isinstance(parse(source("x = '\\d'\nx is 1\n")), Module)  # a warning would be an error here


def test_walking_gives_the_nodes_in_the_order_of_ast() -> None:
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    left_out = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
    assert list(walk(tree)) == [node for node in ast.walk(tree) if not isinstance(node, left_out)]


def test_a_file_with_too_many_names_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ddp_codemod.parse.python.MOST", 1_000)
    made = parse(source("x = a, b, c\n" * 300))
    assert isinstance(made, Skipped)
    assert made.candidate
    assert made.reason.key == "skipped-too-many-names"


def test_texts_and_comments_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ddp_codemod.parse.python.MOST", 1_000)
    table = "# a b c d\nx = 'a b c d', \"it's\"\ny = '''\na b \" c d\n'''\n"
    assert len(table) * 60 > 1_000
    assert isinstance(parse(source(table * 60)), Module)
