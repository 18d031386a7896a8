"""Runs of the command line on small projects, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("state")))
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def output(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., bytes]:
    """What a command gives."""

    def run(*words: str) -> bytes:
        capfdbinary.readouterr()
        code = main(words)
        out, err = capfdbinary.readouterr()
        assert code in (0, 1), err.decode()
        return out

    return run


@pytest.fixture
def document(output: Callable[..., bytes]) -> Callable[..., dict[str, Any]]:
    """The same, as JSON."""

    def run(*words: str) -> dict[str, Any]:
        out = output(*words)
        assert out.isascii()
        found: dict[str, Any] = json.loads(out)
        return found

    return run


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A project whose names, text and line ends are out of the ordinary, inside a repository whose top lies above it."""
    root = tmp_path / "top" / "sub project"
    root.mkdir(parents=True)
    (tmp_path / "top" / ".git").mkdir()
    (root / "pyproject.toml").touch()
    head = "import torch.distributed as dist\n"
    files = {
        "a b#%,:é.py": head + 'x = "é𐐀"; dist.init_process_group("nccl")\n',
        "crlf.py": (head + '\ndist.init_process_group(\n    backend="nccl"\n)\n').replace("\n", "\r\n"),
        "end.py": head + 'dist.init_process_group("nccl")',
        "one.py": head + 'def a(): dist.init_process_group("nccl")\ndef b():\n    dist.init_process_group("nccl")\n',
        "n.ipynb": json.dumps(
            {"cells": [{"cell_type": "code", "metadata": {}, "source": [head, 'dist.init_process_group("nccl")']}]}
        ),
        "why.py": head + "dist.init_process_group('a_backend_of_no_one_here')\n",
    }
    for name, text in files.items():
        (root / name).write_bytes(text.encode("utf-8"))
    (root / "gbk.py").write_bytes(("# -*- coding: gbk -*-\n" + head + '名 = "nccl"\ndist.init_process_group(名)\n').encode("gbk"))
    (root / "bom.py").write_bytes(b"\xef\xbb\xbf" + (head + 'dist.init_process_group("nccl")\n').encode())
    (root / "py2.py").write_text('import torch.distributed as dist\nprint "2"\ndist.init_process_group("nccl")\n')
    return root


@pytest.fixture
def made() -> Callable[..., dict[str, str]]:
    return _made


@pytest.fixture
def texts() -> Callable[..., dict[str, str]]:
    return _texts


def _made(root: Path, platform: str, *fixes: str) -> dict[str, str]:
    """The text of every file once all edits are made, safe or not, as the engine makes them."""
    rules = load()
    found = survey(Options((root,), rules.platforms[platform], rules, fixes, root))
    rendered = render(found, unsafe=True)
    encodings = {name: source.file.encoding for name, source in found.sources.items()}
    return {change.name: change.after.decode(encodings[change.name]) for change in rendered.changes}


def _texts(root: Path, names: list[str]) -> dict[str, str]:
    """The text of files as it is."""
    encodings = {"gbk.py": "gbk", "bom.py": "utf-8-sig"}
    return {name: (root / name).read_bytes().decode(encodings.get(name, "utf-8")) for name in names}


@pytest.fixture
def unsure(tmp_path: Path) -> str:
    """A project of two files in which it is not shown that a group is used, so that their edits are unsafe."""
    folder = tmp_path / "unsure"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    text = "from accelerate import Accelerator\n\naccelerator = Accelerator()\nmodel = accelerator.prepare(1)\n"
    for name in ("first.py", "second.py"):
        (folder / name).write_text(text)
    return str(folder)
