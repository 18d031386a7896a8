"""Notebooks as Python text, and edits of that text as edits of the file."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse.notebook import NotebookSource, read_notebook


def source_of(text: str) -> Source:
    return Source(Path("n.ipynb"), "n.ipynb", text.encode(), text, "utf-8")


def read(text: str) -> NotebookSource:
    made = read_notebook(source_of(text))
    assert isinstance(made, NotebookSource), made
    return made


def notebook(*cells: str | list[str], indent: int | None = 1, **more: object) -> str:
    made = [{"cell_type": "code", "outputs": [], "source": c if isinstance(c, list) else c.splitlines(True)} for c in cells]
    return json.dumps({"cells": made, "metadata": {}, **more}, indent=indent, ensure_ascii=False)


def written(text: str, old: str, new: str) -> str:
    """The file after one replacement of a stretch that stands once in the Python text."""
    book = read(text)
    assert book.text.count(old) == 1, book.text
    start = book.text.index(old)
    made = book.written([(start, start + len(old), new)])
    assert isinstance(made, str), made
    return made


def inserted(text: str, before: str, line: str) -> str | Reason:
    book = read(text)
    at = book.text.index(before)
    return book.written([(at, at, line)])


# --- reading


def statements(text: str) -> list[str]:
    return [ast.unparse(node) for node in ast.parse(read(text).text).body]


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("%matplotlib inline\na = 1", ["a = 1"]),
        ("!pip install x \\\n  y\na = 1", ["a = 1"]),
        ("!!ls\n!ls 'it\na = 1", ["a = 1"]),
        ("a?\na.b??\n?a\n??a.b\nb = 1", ["b = 1"]),
        ("%timeit?\nb = 1", ["b = 1"]),
        ("%%time\na = 1", ["a = 1"]),
        ("\n%%capture out\na = 1", ["a = 1"]),
        ("%time a = 1", ["a = 1"]),
        ("%time !ls", ["pass"]),
        ("a = !ls", ["a = __unknown__"]),
        ("a, b = %foo x\nc = 1", ["a, b = __unknown__", "c = 1"]),
        ("if a:\n    !ls\nelse:\n    %cd x", ["if a:\n    pass\nelse:\n    pass"]),
        ("def f():\n    %time g()\n    return 1", ["def f():\n    g()\n    return 1"]),
        ("%%bash\na = 1", []),
        ("#@title x\n%%bash\nls -l x", []),
        ("#@title x\n%%time\na = 1", ["a = 1"]),
        ("%%writefile a.txt\na = 1", []),
        ("pip install a b\na = 1", ["a = 1"]),
        ("ls ./a/\nls = 1", ["ls = 1"]),
        ("    a = 1\n    !ls\n\n    if a:\n        b", ["a = 1", "pass", "if a:\n    b"]),
        ("%%html", []),
        ("await a", ["await a"]),
        ("a;", ["a"]),
        ("", []),
    ],
)
def test_what_is_not_python_gives_way(cell, left):
    assert statements(notebook(cell)) == left


@pytest.mark.parametrize(
    "cell",
    [
        's = """\n%matplotlib\n!ls\n"""\n%cd',
        "x = (7\n%y)\n!ls",
        "x = 7 \\\n%y\n!ls",
        "t = '''\n?x''' # (\n!ls",
        "# it's (\nx = [\n# ]\n1]\n%cd",
    ],
)
def test_what_only_looks_like_a_magic_stays(cell):
    before, _, magic = cell.rpartition("\n")
    assert magic in ("!ls", "%cd")
    assert read(notebook(cell)).text == before + "\n\n\n"


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("%env A=1", "A", "'1'"),
        ("%env A = 1 ", "A", "'1'"),
        ("%env A 1", "A", "'1'"),
        ("%set_env A 1=2", "A", None),
        ('%env A="1"', "A", "'\"1\"'"),
        ("%env A=$x", "A", "__unknown__"),
        ("%env A={x}", "A", "__unknown__"),
        ("if a:\n    %env A=1", "A", "'1'"),
    ],
)
def test_a_magic_that_sets_the_environment_is_told_in_python(line, name, value):
    text = read(notebook(line)).text
    if value is not None:
        assert f"from os import environ as __environ__; __environ__[{name!r}] = {value}\n" in text
    ast.parse(text)


@pytest.mark.parametrize("line", ["%env", "%env A", "%envoy A=1", "!export A=1"])
def test_a_magic_that_sets_nothing_is_dropped(line):
    assert read(notebook(line)).text.strip() == ""


def test_cells_in_order_and_only_those_that_are_python():
    cells = [
        {"cell_type": "markdown", "source": ["m = 1"]},
        {
            "cell_type": "code",
            "source": ["a = 1"],
            "outputs": [{"source": ["o = 1"], "cells": [{"cell_type": "code", "source": "p"}]}],
        },
        {"cell_type": "raw", "source": "r = 1"},
        {"metadata": {"source": ["q = 1"], "vscode": {"languageId": "python"}}, "source": "b = 1", "cell_type": "code"},
        {"cell_type": "code", "source": "c = 1", "metadata": {"vscode": {"languageId": "julia"}}},
        {"cell_type": "code", "source": []},
        {"cell_type": "code"},
    ]
    assert statements(json.dumps({"metadata": {"source": "z = 1"}, "cells": cells})) == ["a = 1", "b = 1"]


@pytest.mark.parametrize(
    "metadata",
    [{"language_info": {"name": "julia"}, "kernelspec": {"language": "python"}}, {"kernelspec": {"language": "R"}}],
)
def test_a_notebook_in_another_language_holds_nothing(metadata):
    made = json.loads(notebook("a = 1"))
    assert read(json.dumps({**made, "metadata": metadata})).text == ""


def test_the_old_format():
    cells = [
        {"cell_type": "code", "language": "python", "input": ["a = 1\n", "b = 2"], "prompt_number": 1},
        {"cell_type": "code", "language": "ruby", "input": "c"},
    ]
    old = {"worksheets": [{"cells": cells}, {"cells": [{"cell_type": "code", "input": "d"}]}], "nbformat": 3, "metadata": {}}
    assert statements(json.dumps(old)) == ["a = 1", "b = 2", "d"]
    assert written(json.dumps(old), "2", "3") == json.dumps(old).replace("b = 2", "b = 3")


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", "{}", '{"cells": 1}', '{"cells": [] ', "import torch", '{"a": "\x01"}', "[" * 100_000,
        '{"cells": [{"cell_type": "code", "source": ["a", 1]}]}',
        '{"cells": [{"cell_type": "code", "source": "a", "source": "b"}]}',
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_skipped_by_name(text):
    made = read_notebook(source_of(text))
    assert isinstance(made, Skipped)
    assert (made.name, made.reason.key) == ("n.ipynb", "skipped-notebook")


def test_a_cell_that_is_no_python_is_left_out_and_named():
    book = read(notebook("a = 1", "print 'x'", "b = 1"))
    assert [ast.unparse(node) for node in ast.parse(book.text).body] == ["a = 1", "b = 1"]
    ((cell, why),) = book.skipped_cells
    assert cell == "print 'x'"
    assert why.reason.key == "skipped-cell"
    assert dict(why.reason.args)["line"] == "14"


def programs(*cells: str) -> list[list[str]]:
    return [[ast.unparse(node) for node in ast.parse(view.text).body] for view in read(notebook(*cells)).views()]


def test_cells_that_are_programs_of_their_own():
    assert programs("a", "%%writefile x.py\nb", "c", "%%file 'y.py'\nd", "%%writefile -a x.py\ne", "%%python3\nf", "%%python\ng") == [
        ["a", "c"], ["b", "e"], ["d"], ["f"], ["g"],
    ]  # fmt: skip
    assert programs("a", "%%bash\nls", "%%writefile x.txt\nb", "%%script python\nc") == [["a"]]
    assert programs("%%writefile x.py\nb") == [[], ["b"]]


def test_a_program_of_its_own_has_no_magics():
    assert programs("%%writefile x.py\n!ls", "a") == [["a"]]
    assert len(read(notebook("%%writefile x.py\n!ls", "a")).skipped_cells) == 1


def test_the_views_of_a_notebook_have_its_offsets():
    book = read(notebook("a = 'é'", "%%writefile x.py\nb = '😀'\n", "c"))
    for view in book.views():
        assert len(view.text) == len(book.text)
        for match in re.finditer(r"\S+", view.text):
            assert book.text.startswith(match.group(), match.start())
    assert "".join(view.text for view in book.views()).split() == ["a", "=", "'é'", "c", "b", "=", "'😀'"]


def test_a_lone_surrogate_leaves_its_cell_out():
    text = notebook("a = 1", "b = 'X'").replace("X", "\\ud800")
    assert statements(text) == ["a = 1"]


def test_positions_are_those_of_the_file():
    text = notebook("%%time\na = 1\n%env A=1\n%time bc = '\\\"x'", "def f():\n    !ls\n    d = 1")
    book = read(text)
    for word in ("a =", "bc", "x'", "def", "d ="):
        row, column = book.position(book.text.index(word))
        assert text.split("\n")[row - 1][column:].startswith(word)
    row, column = book.position(book.text.index("__environ__["))
    assert text.split("\n")[row - 1][column:].startswith("%env A=1")
    row, _ = book.position(book.text.index("d = 1") + len("d = 1\n"))
    assert "d = 1" in text.split("\n")[row - 1]


# --- editing


def test_a_value_changes_in_place():
    text = notebook('%matplotlib\nf("a", "é")  # \\ 你好 😀 \t', "b")
    assert written(text, '"a"', '"b"') == text.replace('\\"a\\"', '\\"b\\"')


def test_escapes_that_others_chose_stay():
    text = '{"cells":[{"source":["f(\\u0022a\\u0022) # \\/ \\ud83d\\ude00 \\u00e9\\n","b"],"cell_type":"code"}]}'
    assert read(text).text == 'f("a") # / 😀 é\nb\n\n'
    assert written(text, '"a"', '"b"') == text.replace("22a", "22b")
    assert written(text, "é", "è") == text.replace("\\u00e9", "\\u00e8")
    assert written(text, "b\n", "c\n") == text.replace('"b"', '"c"')


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
def test_a_new_line_is_a_new_string(indent):
    text = notebook("a\nb", "c\nd\n", "e", indent=indent)
    for before, cells in {"a": ["x\na\nb", "c\nd\n", "e"], "b": ["a\nx\nb", "c\nd\n", "e"], "d": ["a\nb", "c\nx\nd\n", "e"],
                          "e": ["a\nb", "c\nd\n", "x\ne"]}.items():  # fmt: skip
        assert inserted(text, before, "x\n") == notebook(*cells, indent=indent)


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_a_new_line_behind_the_last_of_a_cell(indent):
    text = notebook("a", "b\n", indent=indent)
    book = read(text)
    after_a, after_b = book.text.index("a") + 2, book.text.index("b") + 2
    assert book.written([(after_a, after_a, "x\n"), (after_b, after_b, "y\n")]) == notebook("a\nx", "b\ny\n", indent=indent)
    assert book.written([(after_a, after_a, "x\n"), (after_a, after_a, "y\n")]) == notebook("a\nx\ny", "b\n", indent=indent)


def test_the_only_string_of_the_only_cell_tells_its_style():
    for indent in (1, 4):
        assert inserted(notebook("a", indent=indent), "a", "x\n") == notebook("x\na", indent=indent)
    windows = notebook("a", indent=2).replace("\n", "\r\n")
    assert inserted(windows, "a", "x\n") == notebook("x\na", indent=2).replace("\n", "\r\n")


def test_a_new_line_in_a_source_that_is_one_string():
    text = json.dumps({"cells": [{"cell_type": "code", "source": "a\nb"}]})
    assert inserted(text, "b", "x\n") == text.replace("a\\nb", "a\\nx\\nb")
    text = json.dumps({"cells": [{"cell_type": "code", "source": ["a\nb"]}]})
    assert inserted(text, "b", "x\n") == text.replace("a\\nb", "a\\nx\\nb")


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_a_line_that_goes_takes_its_string_along(indent):
    text = notebook("a\nb\nc", "d\ne\n", "f", indent=indent)
    for old, cells in {"a\n": ["b\nc", "d\ne\n", "f"], "b\n": ["a\nc", "d\ne\n", "f"], "c\n": ["a\nb", "d\ne\n", "f"],
                       "d\n": ["a\nb\nc", "e\n", "f"], "e\n": ["a\nb\nc", "d\n", "f"], "a\nb\n": ["c", "d\ne\n", "f"],
                       "b\nc\n": ["a", "d\ne\n", "f"]}.items():  # fmt: skip
        assert written(text, old, "") == notebook(*cells, indent=indent)


def test_a_cell_of_which_nothing_stays_is_an_empty_one():
    made = json.loads(written(notebook("a", "b\n"), "a\n", ""))
    assert ["".join(cell["source"]) for cell in made["cells"]] == ["", "b\n"]


def test_lines_that_go_and_come_at_one_place():
    text = notebook("a\nb\nc")
    book = read(text)
    assert book.written([(0, 0, "x\n"), (0, 2, ""), (2, 4, "")]) == notebook("x\nc")
    assert book.written([(2, 4, ""), (4, 6, "")]) == notebook("a")
    assert book.written([(2, 4, ""), (4, 4, "x\n")]) == notebook("a\nx\nc")
    assert book.written([(4, 4, "x\n"), (4, 6, "")]) == notebook("a\nb\nx")


def test_two_lines_that_become_one_and_one_that_becomes_two():
    assert written(notebook("f(\n  a,\n  b)\nc"), "(\n  a,\n", "(a,\n") == notebook("f(a,\n  b)\nc")
    assert written(notebook("f(\n  a)\nc"), "(\n  a)", "(a)") == notebook("f(a)\nc")
    assert written(notebook("f(a, b)\nc"), ", b", ",\n  b") == notebook("f(a,\n  b)\nc")
    assert written(notebook("f(a, b)"), ", b", ",\n  b") == notebook("f(a,\n  b)")


def test_a_new_line_keeps_clear_of_magics():
    assert inserted(notebook("%%time\na"), "a", "x\n") == notebook("%%time\nx\na")
    assert inserted(notebook("%time a"), "a", "x\n") == notebook("x\n%time a")
    assert inserted(notebook("%time a"), "a", "x; ") == notebook("%time x; a")
    assert inserted(notebook("b\n%time a"), "a", "x\n") == notebook("b\nx\n%time a")
    assert inserted(notebook("%cd\nb\n%env A=1\na"), "b", "x\n") == notebook("%cd\nx\nb\n%env A=1\na")
    assert inserted(notebook("%env A=1\nz"), "z", "x\n") == notebook("%env A=1\nx\nz")
    assert inserted(notebook("b", "%env A=1\na"), "from os", "x\n") == notebook("b", "x\n%env A=1\na")


@pytest.mark.parametrize("old", ["a\n\nb", "\n\n", "A']", "b\nfrom", "1'\nc"])
def test_what_is_not_inside_one_cells_python_is_refused(old):
    book = read(notebook("a", "b\n%env A=1\nc"))
    start = book.text.index(old)
    made = book.written([(start, start + len(old), "new")])
    assert isinstance(made, Reason)
    assert made.key == "edit-across-cells"


def test_an_insertion_into_what_stands_for_a_magic_is_refused():
    book = read(notebook("%env A=1"))
    at = book.text.index("; ")
    assert isinstance(book.written([(at, at, "x")]), Reason)


# --- any notebook


@dataclass(frozen=True)
class Made:
    """A notebook's text, its code cells and where the source of each stands."""

    text: str
    cells: list[str]
    spans: list[tuple[int, int]]


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0\f") | st.sampled_from("\"\\/'é😀\u2028\t ")
LINES = st.one_of(
    st.text(CHARACTERS, max_size=12).map(lambda text: f"# {text}"),
    st.text(CHARACTERS, max_size=12).map(lambda text: f"x = {text!r}"),
    st.sampled_from(["", "def f():\n    return 1", 's = """\n%a\n"""']),
)
CELLS = st.builds("{}{}".format, st.lists(LINES, min_size=1, max_size=5).map("\n".join), st.sampled_from(["", "\n"]))
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\t": "\\t", "\n": "\\n"}


@st.composite
def strings(draw: st.DrawFn, text: str) -> str:
    """A JSON string of a text, in any of the ways to write it."""
    parts = []
    for character in text:
        ways = [json.dumps(character)[1:-1]]
        if character not in '"\\' and ord(character) >= 32:
            ways.append(character)
        if character in SHORT:
            ways.append(SHORT[character])
        if ord(character) < 0x10000:
            ways += [f"\\u{ord(character):04x}", f"\\u{ord(character):04X}"]
        parts.append(draw(st.sampled_from(ways)))
    return f'"{"".join(parts)}"'


@st.composite
def notebooks(draw: st.DrawFn) -> Made:
    cells = draw(st.lists(CELLS, min_size=1, max_size=3))
    space = draw(st.sampled_from(["", " ", "\n   ", "\r\n\t"]))
    parts, spans, length = ['{"metadata": {"source": "x"}, "cells": ['], [], 0
    for number, cell in enumerate(cells):
        parts.append(", " * bool(number) + '{"outputs": [{"source": ["a\\n"]}], "cell_type": "code", "source": ')
        if draw(st.booleans()):
            made = [draw(strings(line)) for line in re.findall(r"[^\n]*\n|[^\n]+", cell)]
            value = f"[{space}" + f",{space}".join(made) + f"{space}]" if made else "[]"
        else:
            value = draw(strings(cell))
        length = len("".join(parts))
        spans.append((length, length + len(value)))
        parts += (value, ', "id": "x"}, {"cell_type": "markdown", "source": ["x"]}')
    return Made("".join((*parts, "]}\n")), cells, spans)


def sources(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def raws(text: str) -> list[str]:
    """The strings of a list of strings, as they are written."""
    return re.findall(r'"(?:[^"\\]|\\.)*"', text)


@given(notebooks())
def test_the_text_is_that_of_the_cells(made):
    assert read(made.text).text == "".join(f"{cell}\n\n" for cell in made.cells if cell)
    assert read(made.text).written([]) == made.text


@given(notebooks(), st.data())
def test_an_edit_changes_its_cell_as_it_would_change_plain_text_and_nothing_else(made, data):
    book = read(made.text)
    number = data.draw(st.sampled_from([at for at, cell in enumerate(made.cells) if cell] or [None]))
    if number is None:
        return
    cell = made.cells[number]
    base = sum(len(one) + 2 for one in made.cells[:number] if one)
    starts = [0, *(match.end() for match in re.finditer("\n", cell)), len(cell)]
    kind = data.draw(st.sampled_from(["inside", "line", "remove"]))
    if kind == "inside":
        start, end = sorted((data.draw(st.integers(0, len(cell))), data.draw(st.integers(0, len(cell)))))
        new = data.draw(st.text(CHARACTERS | st.just("\n"), max_size=6))
    elif kind == "line":
        start = end = data.draw(st.sampled_from(starts[:-1]))
        new = "import os\n"
    else:
        start, end = sorted((data.draw(st.sampled_from(starts)), data.draw(st.sampled_from(starts))))
        new = ""
    result = book.written([(base + start, base + end, new)])
    expected = cell[:start] + new + cell[end:]
    if isinstance(result, Reason):  # the text that an edit makes must still be Python
        with pytest.raises((SyntaxError, ValueError)):
            ast.parse(expected)
        return
    assert sources(result) == [*made.cells[:number], expected, *made.cells[number + 1 :]]
    low, high = made.spans[number]
    assert result.startswith(made.text[:low])
    assert result.endswith(made.text[high:])
    value = result[low : len(result) - (len(made.text) - high)]
    if not value.startswith("["):
        return
    before, after = cell[:start].count("\n"), cell[end:].count("\n")
    old_strings, new_strings = raws(made.text[low:high]), raws(value)
    assert new_strings[:before] == old_strings[:before]
    if after > 1:
        assert new_strings[-after + 1 :] == old_strings[-after + 1 :]
    if expected:
        assert [json.loads(one) for one in new_strings] == re.findall(r"[^\n]*\n|[^\n]+", expected)


@given(notebooks(), st.lists(st.sampled_from(["%cd", "!ls \\\n -l", "a?", "%env A=1", "%time y = 2"]), max_size=3))
def test_a_value_between_magics_changes_alone(made, magics):
    cell = "\n".join(["%%time", *magics, "if 1:", *(f"    {magic}" for magic in magics), "    f('target')", *magics])
    text = made.text.replace("]}\n", ', {"cell_type": "code", "source": ' + json.dumps(cell.splitlines(True)) + "}]}\n")
    assert read(text).skipped_cells == ()
    assert written(text, "target", "it") == text.replace("target", "it")


def test_cells_with_line_ends_of_windows():
    text = notebook(["a\r\n", "b"], "c")
    assert read(text).text == "a\r\nb\r\n\nc\n\n"
    assert inserted(text, "b", "x\r\n") == notebook(["a\r\n", "x\r\n", "b"], "c")
    assert written(text, "b\r\n", "") == notebook(["a"], "c")
    assert read(text).written([(6, 6, "x\r\n")]) == notebook(["a\r\n", "b\r\n", "x"], "c")
