"""Commands of configuration files: options, programs and variables, at the places where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source
from ddp_codemod.parse.config import parse_config
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.manifest import read
from ddp_codemod.parse.shell import Script


def script(folder: Path, name: str, text: str) -> Script:
    (folder / name).write_text(text, encoding="utf-8")
    source = read_text(folder / name, folder)
    assert isinstance(source, Source)
    document = parse_config(source)
    assert isinstance(document, Document)
    return read(document)


@pytest.mark.parametrize(
    "text",
    [
        "command: python train.py --backend nccl\n",
        'command: ["python", "train.py", "--backend", "nccl"]\n',
        "command: [python]\nargs: [train.py, --backend=nccl]\n",
        "args: [--backend, nccl]\nentrypoint: python train.py\n",
        "run: |\n  cd src && python train.py \\\n    --backend nccl; echo done\n",
        "run: >\n  python train.py\n  --backend nccl\n",
        "script:\n  - pip install .\n  - python train.py --backend 'nccl'\n",
        'command: ["bash", "-c", "torchrun --nproc_per_node=2 train.py --backend nccl"]\n',
        "program: ${workspaceFolder}/train.py\nargs: [--backend, nccl]\n",
    ],
)
def test_an_option_of_a_program(tmp_path: Path, text: str) -> None:
    found = script(tmp_path, "job.yaml", text)
    (option,) = [option for option in found.options if option.name == "backend"]
    assert (option.value, option.program) == ("nccl", "train.py")
    assert "nccl" in found.text(option)
    assert option.line == text[: text.index("nccl")].count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "description: python train.py --backend nccl\n",
        "command: echo python train.py --backend nccl\n",
        "command: [python, train.py]\nother:\n  args: [--backend, nccl]\n",
        "script:\n  - python train.py\n  - other --backend nccl\n",
        "run: |\n  python train.py\n  other --backend nccl\n",
    ],
)
def test_no_option_of_the_program(tmp_path: Path, text: str) -> None:
    assert not [o for o in script(tmp_path, "job.yaml", text).options if o.name == "backend" and o.program == "train.py"]


@pytest.mark.parametrize(
    "text",
    [
        "environment:\n  BACKEND: nccl\n",
        "environment:\n  - BACKEND=nccl\n",
        "env:\n  - name: OTHER\n    value: x\n  - name: BACKEND\n    value: nccl\n",
    ],
)
def test_a_variable(tmp_path: Path, text: str) -> None:
    found = script(tmp_path, "job.yaml", text)
    assert ("BACKEND", "nccl") in {(setting.name, setting.value) for setting in found.settings}


def test_nothing_is_written(tmp_path: Path) -> None:
    found = script(tmp_path, "job.yaml", "command: python train.py --backend nccl\n")
    with pytest.raises(ValueError, match="not edited"):
        found.written(found.options[0], "gloo")
