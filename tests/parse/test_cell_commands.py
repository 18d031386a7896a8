"""The shell commands of notebooks: found, and edited with every other byte of the file left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Source
from ddp_codemod.parse.notebook import NotebookSource, read_notebook
from ddp_codemod.parse.scripts import read_script
from ddp_codemod.parse.shell import Option, Setting


def book_of(text: str) -> NotebookSource:
    made = read_notebook(Source(Path("n.ipynb"), "n.ipynb", text.encode("utf-8"), text, "utf-8"))
    assert isinstance(made, NotebookSource)
    return made


def notebook(*cells: str, listed: bool = True, **more: object) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(keepends=True) if listed else cell}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, **more)  # type: ignore[arg-type]


def found(text: str) -> list[Option | Setting]:
    scripts = [read_script(view) for view in book_of(text).commands()]
    return [entry for script in scripts for entry in (*script.options, *script.settings)]


@pytest.mark.parametrize(
    "cell",
    [
        "!python train.py --backend nccl",
        "!!python train.py --backend nccl",
        "if x:\n    !python train.py --backend nccl\n",
        "out = !ls\n!cd a && python b/train.py --backend=nccl",
        "%run train.py --backend nccl",
        "%sx python train.py --backend nccl",
        "!python train.py \\\n   --backend \\\n nccl",
        "%%bash\npython train.py --backend nccl\n",
        "%%sh\ncat <<EOF\ntext\nEOF\npython train.py --backend nccl\n",
        "%%script bash -e\nset -x\npython train.py \\\n --backend nccl",
        "%%writefile run.sh\npython train.py --backend nccl\n",
    ],
)
def test_an_option(cell: str) -> None:
    (option,) = found(notebook("a = 1\n", cell, "b = 2"))
    assert isinstance(option, Option)
    assert (option.name, option.value, option.program.rpartition("/")[2]) == ("backend", "nccl", "train.py")


@pytest.mark.parametrize(
    "cell",
    [
        "# !python train.py --backend nccl",
        "'''\n!python train.py --backend nccl\n'''",
        "!pip install nccl",
        "!echo python train.py --backend nccl",
        "%%perl\npython train.py --backend nccl",
        "%%writefile train.md\npython train.py --backend nccl",
        "%%html\n!python train.py --backend nccl",
        "!python train.py --backend {backend}",
        "!python train.py --backend $backend",
        "%env",
        "%env A=$B",
        "%env A={B}",
        "%%bash\ncat <<EOF\npython train.py --backend nccl\nEOF\n",
    ],
)
def test_what_is_none(cell: str) -> None:
    assert [entry for entry in found(notebook("a = 1\n", cell)) if entry.value == "nccl"] == []


@pytest.mark.parametrize("line", ["%env A=nccl", "%env A nccl", "%set_env  A = nccl", "x = 1\n%env A=nccl\n"])
def test_a_variable(line: str) -> None:
    (setting,) = found(notebook(line))
    assert isinstance(setting, Setting)
    assert (setting.name, setting.value, setting.kind) == ("A", "nccl", "export")


def test_the_python_of_a_notebook_does_not_see_its_commands() -> None:
    book = book_of(notebook("import torch_npu\n", "!pip install x; python torch_npu.py"))
    (python,) = book.views()
    assert "pip" not in python.text
    assert python.text.split() == ["import", "torch_npu"]
    assert len(python.text) == len(book.text)


LINES = st.lists(
    st.sampled_from([
        "!python train.py --backend nccl", "!python a.py \\\n  --backend nccl", "%env A=nccl", "%run t.py --backend=nccl",
        "x = 'nccl'  # é😀", "%matplotlib inline", "", "for i in x:\n    !python t.py --backend \"nccl\"", "def f():\n    return 1",
    ]),
    max_size=5,
)  # fmt: skip
BASH = st.builds(
    lambda lines: "%%bash\n" + "\n".join(lines),
    st.lists(
        st.sampled_from(["python t.py --backend 'nccl'", "if x; then\n python t.py --backend nccl\nfi", "# é", ""]), max_size=4
    ),
)


@given(st.lists(LINES.map("\n".join) | BASH, min_size=1, max_size=3), st.booleans(), st.sampled_from([None, 1]), st.booleans())
def test_a_value_changes_alone_and_the_rest_byte_for_byte(
    cells: list[str], listed: bool, indent: int | None, plain: bool
) -> None:
    text = notebook(*cells, listed=listed, indent=indent, ensure_ascii=plain)
    book = book_of(text)
    entries = found(text)
    places = []
    for entry in entries:
        start = book.in_file(entry.start)
        assert "nccl" in text[start : start + 8]
        assert book.position(entry.start)[0] == text.count("\n", 0, start) + 1
        places.append((start + text[start:].index("nccl"), entry))
    for at, entry in places:
        new = book.text[entry.start : entry.end].replace("nccl", "gloo")
        assert book.written([(entry.start, entry.end, new)]) == text[:at] + "gloo" + text[at + 4 :]
    wanted = text
    for at, _ in places:
        wanted = wanted[:at] + "gloo" + wanted[at + 4 :]
    every = sorted((entry.start, entry.end, book.text[entry.start : entry.end].replace("nccl", "gloo")) for entry in entries)
    assert book.written(every) == wanted
