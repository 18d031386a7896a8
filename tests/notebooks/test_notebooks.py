"""Notebooks from the command line to the patch."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ddp_codemod.cli import main

Run = Callable[..., tuple[int, str]]
Notebook = Callable[..., bytes]
IMPORTS = "import torch.distributed as dist\n"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    return folder


@pytest.fixture
def run(root: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str, platform: str = "rocm") -> tuple[int, str]:
        capfd.readouterr()
        code = main([*words, "--platform", platform])
        return code, capfd.readouterr().out

    return command


def cell(source: str | Sequence[str], kind: str = "code", **more: object) -> dict[str, object]:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else list(source)
    outputs = {"execution_count": 3, "outputs": [{"output_type": "stream", "text": ['init_process_group("nccl")\n']}]}
    return {"cell_type": kind, "metadata": {}, **(outputs if kind == "code" else {}), "source": lines, **more}


@pytest.fixture
def notebook(root: Path) -> Notebook:
    """Write a notebook as Jupyter does, and give its bytes."""

    def write(*cells: str | dict[str, object], name: str = "n.ipynb") -> bytes:
        made = [one if isinstance(one, dict) else cell(one) for one in cells]
        metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        document = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        data = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
        (root / name).write_bytes(data)
        return data

    return write


def lines(*cells: str) -> list[str]:
    return [line for one in cells for line in one.splitlines()]


def python_lines(path: Path) -> list[str]:
    """The lines of the code cells."""
    cells = json.loads(path.read_bytes())["cells"]
    return [line.rstrip("\n") for one in cells if one["cell_type"] == "code" for line in one["source"]]


MIXED = (
    cell('# init_process_group("nccl")', "markdown"),
    "%matplotlib inline\n!pip install torch  # it's \\\n   here\n" + IMPORTS,
    "%%bash\ntorchrun train.py --dist_backend nccl",
    "%%time\nfiles = !ls *.nccl\n"
    'def main(rank):\n    %time x = "é 你好 😀"\n    dist.init_process_group("nccl", rank=rank)  # \\ nccl\n    !nvidia-smi\n',
    "from accelerate import notebook_launcher\nnotebook_launcher(main, num_processes=2)\nmain?",
    "!python train.py --dist_backend nccl",
)


def test_only_the_backend_changes(root, run, notebook):
    before = notebook(*MIXED)
    code, _ = run("apply", ".")
    assert code == 0
    after = (root / "n.ipynb").read_bytes()
    assert after == before.replace(b'group(\\"nccl\\", rank', b'group(\\"gloo\\", rank')
    assert run("check", ".")[0] == 0
    assert run("diff", ".") == (0, "")
    assert (root / "n.ipynb").read_bytes() == after


def test_git_takes_the_patch(root, run, notebook):
    before = notebook(*MIXED)
    patch = run("diff", ".")[1].encode()
    for words in (["init", "-q"], ["apply", "--check"], ["apply"]):
        subprocess.run(["git", *words], cwd=root, input=patch, check=True, capture_output=True)
    assert (root / "n.ipynb").read_bytes() == before.replace(b'group(\\"nccl\\", rank', b'group(\\"gloo\\", rank')
    assert (root / "n.ipynb").read_bytes() != before


def test_undo_gives_the_bytes_back(root, run, notebook):
    before = notebook(*MIXED)
    run("apply", ".")
    assert (root / "n.ipynb").read_bytes() != before
    assert main(["undo", "."]) == 0
    assert (root / "n.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    "written",
    [
        lambda document: json.dumps(document),
        lambda document: json.dumps(document, separators=(",", ":")),
        lambda document: json.dumps(document, indent=4).replace("\n", "\r\n"),
        lambda document: "\ufeff" + json.dumps(document, indent=1, ensure_ascii=False),
        lambda document: json.dumps(document, indent="\t").replace("nccl", "\\u006eccl", 1),
        lambda document: json.dumps(
            {**document, "cells": [{**one, "source": "".join(one["source"])} for one in document["cells"]]}, indent=1
        ),
    ],
)
def test_files_of_every_make(root, run, notebook, written):
    document = json.loads(notebook(*MIXED))
    before = written(document).encode()
    (root / "n.ipynb").write_bytes(before)
    assert run("apply", ".")[0] == 0
    assert (root / "n.ipynb").read_bytes() == before.replace(b'group(\\"nccl\\", rank', b'group(\\"gloo\\", rank')
    assert (root / "n.ipynb").read_bytes() != before


def test_the_backend_of_another_cell(root, run, notebook):
    before = notebook(IMPORTS + 'backend = "nccl"', "print(backend)", "dist.init_process_group(backend)")
    run("apply", ".")
    assert (root / "n.ipynb").read_bytes() == before.replace(b'= \\"nccl\\"', b'= \\"gloo\\"')


def test_the_backend_of_a_module(root, run, notebook):
    (root / "setup_ddp.py").write_text(IMPORTS + "def setup(backend='nccl'):\n    dist.init_process_group(backend)\n")
    before = notebook("from setup_ddp import setup", 'setup("nccl")\n')
    run("apply", ".")
    assert (root / "n.ipynb").read_bytes() == before.replace(b'setup(\\"nccl\\")', b'setup(\\"gloo\\")')


NEW_VARIABLE = 'os.environ.setdefault("NCCL_P2P_DISABLE", "1")'


def test_new_lines_are_strings_of_their_own(root, run, notebook):
    before = notebook("%env A=1\n" + IMPORTS, 'dist.init_process_group("nccl")')
    run("apply", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")
    text = (root / "n.ipynb").read_text()
    added = [line for line in text.splitlines() if line not in before.decode().splitlines()]
    assert added == ['    "import os\\n",', '    "' + (NEW_VARIABLE + "\n").replace('"', '\\"').replace("\n", "\\n") + '",']
    assert python_lines(root / "n.ipynb") == [
        "%env A=1", "import os", IMPORTS.rstrip(), NEW_VARIABLE, 'dist.init_process_group("nccl")'
    ]  # fmt: skip
    assert run("check", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")[0] == 0


def test_a_new_line_stays_behind_a_cell_magic(root, run, notebook):
    notebook("%%time\nimport os\n" + IMPORTS + "%time dist.init_process_group('nccl')\n")
    run("apply", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")
    assert python_lines(root / "n.ipynb") == [
        "%%time", "import os", IMPORTS.rstrip(), NEW_VARIABLE, "%time dist.init_process_group('nccl')"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "magic",
    ["%env NCCL_P2P_DISABLE=1", "%env NCCL_P2P_DISABLE 1", "%set_env NCCL_P2P_DISABLE=1", "%env NCCL_P2P_DISABLE=$x"],
)
def test_a_variable_that_a_magic_sets_is_set(root, run, notebook, magic):
    before = notebook(magic, IMPORTS + 'dist.init_process_group("nccl")')
    run("apply", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")
    assert (root / "n.ipynb").read_bytes() == before


@pytest.mark.parametrize("magic", ["!export NCCL_P2P_DISABLE=1", "%env NCCL_P2P_DISABLE", "# %env NCCL_P2P_DISABLE=1"])
def test_a_variable_that_is_only_named_is_not(root, run, notebook, magic):
    before = notebook(magic, IMPORTS + 'dist.init_process_group("nccl")')
    run("apply", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")
    assert (root / "n.ipynb").read_bytes() != before


def test_an_import_that_nothing_uses_goes_with_its_string(root, run, notebook):
    use = 'dist.init_process_group("gloo" if platform.system() == "Windows" else "nccl")\n'
    notebook(IMPORTS + "import platform", use)
    run("apply", ".", "--unsafe")
    assert python_lines(root / "n.ipynb") == [IMPORTS.rstrip(), 'dist.init_process_group("gloo")']


def test_reports_speak_of_lines_of_the_file(root, run, notebook):
    notebook(*MIXED)
    number = next(n for n, line in enumerate((root / "n.ipynb").read_text().splitlines(), 1) if "rank=rank" in line)
    document = json.loads(run("check", ".", "--format", "json")[1])
    assert [edit["line"] for edit in document["edits"]] == [number]
    (site,) = document["sites"]
    text = (root / "n.ipynb").read_text().splitlines()[site["line"] - 1]
    assert text[site["column"] : site["end_column"]] == '"nccl\\"'.replace('"', '\\"', 1)
    assert f"n.ipynb:{number}" in run("check", ".")[1]
    assert "init_process_group" in run("explain", f"n.ipynb:{number}")[1]


def test_a_line_that_says_so_is_left_alone(root, run, notebook):
    before = notebook(IMPORTS + 'dist.init_process_group("nccl")  # ddp-codemod: ignore')
    run("apply", ".")
    assert (root / "n.ipynb").read_bytes() == before


def test_a_broken_cell_is_named_and_the_others_are_handled(root, run, notebook):
    before = notebook(IMPORTS, "print 'init_process_group'", 'dist.init_process_group("nccl")')
    code, _ = run("apply", ".")
    assert code == 1
    assert (root / "n.ipynb").read_bytes() == before.replace(b'group(\\"nccl\\")"', b'group(\\"gloo\\")"')


def test_a_broken_cell_that_nothing_is_looked_for_in_is_not_named(run, notebook):
    notebook(IMPORTS, "print 'x'", 'dist.init_process_group("nccl")')
    assert run("apply", ".")[0] == 0
    assert json.loads(run("check", ".", "--format", "json")[1])["skipped"] == []


def test_a_module_that_a_cell_writes(root, run, notebook):
    before = notebook("import os", "%%writefile ddp.py\n" + IMPORTS + "dist.init_process_group('nccl')", "!torchrun ddp.py")
    run("apply", ".")
    assert (root / "n.ipynb").read_bytes() == before.replace(b"group('nccl')", b"group('gloo')")


def test_a_module_that_a_cell_writes_needs_imports_of_its_own(root, run, notebook):
    module = "%%writefile ddp.py\n" + IMPORTS
    notebook("import os\nbackend = 'x'", module, "%%writefile -a ddp.py\nbackend = 'nccl'\ndist.init_process_group(backend)")
    run("apply", ".", "--unsafe", "--rule", "nccl-p2p-off", platform="cuda")
    assert python_lines(root / "n.ipynb") == [
        "import os", "backend = 'x'", "%%writefile ddp.py", "import os", IMPORTS.rstrip(), "%%writefile -a ddp.py",
        "backend = 'nccl'", NEW_VARIABLE, "dist.init_process_group(backend)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data", [b"", b"init_process_group", b'{"init_process_group": 1}', b"\xff\xfei\0", b"\0init_process_group"]
)
def test_what_is_no_notebook_is_named_and_left(root, run, data):
    (root / "n.ipynb").write_bytes(data)
    (root / "a.py").write_text(IMPORTS + "dist.init_process_group('nccl')\n")
    assert run("apply", ".")[0] == (1 if b"init_process_group" in data else 0)
    assert (root / "n.ipynb").read_bytes() == data
    assert "gloo" in (root / "a.py").read_text()


def test_a_notebook_is_no_module(root, run, notebook):
    before = notebook('backend = "nccl"', name="settings.ipynb")
    (root / "a.py").write_text(IMPORTS + "from settings import backend\ndist.init_process_group(backend)\n")
    run("apply", ".")
    assert (root / "settings.ipynb").read_bytes() == before


def test_checkpoints_stay(root, run, notebook):
    (root / ".ipynb_checkpoints").mkdir()
    before = notebook(IMPORTS + "dist.init_process_group('nccl')", name=".ipynb_checkpoints/n-checkpoint.ipynb")
    run("apply", ".")
    assert (root / ".ipynb_checkpoints/n-checkpoint.ipynb").read_bytes() == before
