"""Launch files that choose devices by a variable: it becomes the platform's own, in the whole file or not at all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.model import Action, Decision
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def port(root: Path, files: dict[str, str], *options: str, platform: str = "ascend") -> None:
    for name, text in {"train.py": TRAIN, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    main(["apply", str(root), "--unsafe", "--no-cache", "--platform", platform, *options])


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("run.sh", "CUDA_VISIBLE_DEVICES=${gpus[$i]} python train.py", "NEW=${gpus[$i]} python train.py"),
        ("run.sh", "export CUDA_VISIBLE_DEVICES='0,1'\npython train.py", "export NEW='0,1'\npython train.py"),
        ("run.sh", "env CUDA_VISIBLE_DEVICES=$(seq -s, 0 3) torchrun train.py", "env NEW=$(seq -s, 0 3) torchrun train.py"),
        (
            "run.sh",
            "export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}\npython train.py",
            "export NEW=${NEW:-0}\npython train.py",
        ),
        ("Makefile", "train:\n\tCUDA_VISIBLE_DEVICES=0 python train.py", "train:\n\tNEW=0 python train.py"),
        (
            "Makefile",
            "export CUDA_VISIBLE_DEVICES ?= 0,1\ntrain:\n\tpython train.py",
            "export NEW ?= 0,1\ntrain:\n\tpython train.py",
        ),
        ("Dockerfile", "FROM x\nENV CUDA_VISIBLE_DEVICES 0\nCMD python train.py", "FROM x\nENV NEW 0\nCMD python train.py"),
    ],
)
@pytest.mark.parametrize(("platform", "new"), [("ascend", "ASCEND_RT_VISIBLE_DEVICES"), ("xpu", "ZE_AFFINITY_MASK")])
def test_the_variable_becomes_the_devices_own(
    tmp_path: Path, name: str, before: str, after: str, platform: str, new: str
) -> None:
    port(tmp_path, {name: f"{before}\n"}, platform=platform)
    assert (tmp_path / name).read_text("utf-8") == f"{after}\n".replace("NEW", new)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"go.sh": "bash run.sh\n", "run.sh": "python train.py\n"}, "go.sh"),
        ({"run.sh": ". ./path.sh\npython train.py\n", "path.sh": "LC_ALL=C\n"}, "path.sh"),
    ],
)
def test_so_it_does_in_files_that_start_or_serve_the_one_with_the_program(
    tmp_path: Path, files: dict[str, str], name: str
) -> None:
    line = "export CUDA_VISIBLE_DEVICES=0\n"
    port(tmp_path, {**files, name: line + files[name]})
    assert (tmp_path / name).read_text("utf-8") == line.replace("CUDA", "ASCEND_RT") + files[name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", 'CUDA_VISIBLE_DEVICES="" python train.py\n'),
        ("run.sh", "CUDA_VISIBLE_DEVICES=-1 python train.py\n"),
        ("run.sh", "CUDA_VISIBLE_DEVICES=3,1 python train.py\n"),
        ("run.sh", "CUDA_VISIBLE_DEVICES=GPU-8932f937 python train.py\n"),
        ("run.sh", "CUDA_VISIBLE_DEVICES=0 python train.py\nCUDA_VISIBLE_DEVICES= python train.py\n"),
        ("run.bat", "set CUDA_VISIBLE_DEVICES=0\npython train.py\n"),
        ("compose.yaml", "train:\n  command: python train.py\n  environment:\n    CUDA_VISIBLE_DEVICES: 0,1\n"),
    ],
)
def test_what_may_mean_something_else_there_is_listed_and_stays(tmp_path: Path, name: str, text: str) -> None:
    port(tmp_path, {name: text})
    assert (tmp_path / name).read_text("utf-8") == text
    assert [(one.call.name, one.action) for one in _find_decisions(tmp_path)] == [(name, Action.REVIEW)]


def test_for_other_machines_too_it_is_listed(tmp_path: Path) -> None:
    port(tmp_path, {"run.sh": "CUDA_VISIBLE_DEVICES=0 python train.py\n"}, "--style", "portable")
    assert (tmp_path / "run.sh").read_text("utf-8").startswith("CUDA")
    assert [one.action for one in _find_decisions(tmp_path, style="portable")] == [Action.REVIEW]


def test_the_command_that_is_shown_has_the_devices_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = "# Train\n\n```sh\nCUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py\n```\n"
    port(tmp_path, {"README.md": readme})
    assert "ASCEND_RT_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py" in capsys.readouterr().out
    assert (tmp_path / "README.md").read_text("utf-8") == readme


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("serve.sh", "CUDA_VISIBLE_DEVICES=0 python -m http.server\n"),  # another program
        ("run.sh", "# CUDA_VISIBLE_DEVICES=0 python train.py\npython train.py  # not CUDA_VISIBLE_DEVICES=0\n"),
        ("run.sh", "echo $CUDA_VISIBLE_DEVICES\npython train.py\n"),  # nobody sets it here
        ("run.sh", "export NVIDIA_CUDA_VISIBLE_DEVICES=0 MY_CUDA_VISIBLE_DEVICES_LIST=0\npython train.py\n"),
        ("run.sh", "export CUDA_VISIBLE_DEVICES=0 ASCEND_RT_VISIBLE_DEVICES=0\npython train.py\n"),
        ("tests/run.sh", "CUDA_VISIBLE_DEVICES=0 python train.py\n"),
        (".github/workflows/ci.yml", "jobs:\n  a:\n    env:\n      CUDA_VISIBLE_DEVICES: 0\n    run: python train.py\n"),
        ("README.md", "# Train\n\n```sh\nCUDA_VISIBLE_DEVICES=0 python train.py\n```\n"),
    ],
)
def test_what_stays_without_a_word(tmp_path: Path, name: str, text: str) -> None:
    port(tmp_path, {name: text})
    assert (tmp_path / name).read_text("utf-8") == text
    assert _find_decisions(tmp_path) == []


@pytest.mark.parametrize("platform", ["rocm", "cuda", "cpu", "metax"])
def test_machines_that_heed_it_or_have_no_device_keep_it(tmp_path: Path, platform: str) -> None:
    port(tmp_path, {"run.sh": "CUDA_VISIBLE_DEVICES=0 python train.py\n"}, platform=platform)
    assert (tmp_path / "run.sh").read_text("utf-8") == "CUDA_VISIBLE_DEVICES=0 python train.py\n"


def test_the_ported_script_gives_each_process_its_device(tmp_path: Path) -> None:
    """The script is run: what each program finds in its environment is under the new name, and the count is right."""
    script = (
        "gpus=(4 5)\nexport CUDA_VISIBLE_DEVICES=0,1,2\nn=$(echo $CUDA_VISIBLE_DEVICES | tr , ' ' | wc -w)\n"
        "for i in 0 1; do\n  CUDA_VISIBLE_DEVICES=${gpus[$i]} python train.py $n\ndone\n"
    )
    port(tmp_path, {"run.sh": script})
    stand_in = tmp_path / "bin" / "python"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\necho "$ASCEND_RT_VISIBLE_DEVICES/$CUDA_VISIBLE_DEVICES/$2"\n', "utf-8")
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"
    got = subprocess.run(
        ["bash", "run.sh"], cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=True, timeout=30
    )
    assert got.stdout.split() == ["4//3", "5//3"]


def _find_decisions(root: Path, style: Literal["pin", "portable"] = "pin") -> list[Decision]:
    found = survey(Options((root,), RULES.platforms["ascend"], RULES, root=root, style=style))
    return [one for one in found.decisions if one.rule == "device-visible"]


@pytest.mark.parametrize("names", [("a.sh", "b.sh"), ("b.sh", "a.sh")])
def test_files_that_name_each_other_are_both_ported_in_any_order(tmp_path: Path, names: tuple[str, str]) -> None:
    first, second = names
    files = {
        first: f"export CUDA_VISIBLE_DEVICES=0\nbash {second}\nbash c.sh\n",
        second: f"export CUDA_VISIBLE_DEVICES=1\nbash {first}\n",
        "c.sh": "python train.py\n",
    }
    port(tmp_path, files)
    assert all("ASCEND_RT_VISIBLE_DEVICES" in (tmp_path / name).read_text("utf-8") for name in names)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_reason_names_both_variables_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    (tmp_path / "run.sh").write_text("CUDA_VISIBLE_DEVICES=0 python train.py\n", "utf-8")
    main(["check", str(tmp_path), "--unsafe", "--no-cache", "--platform", "ascend", "--lang", lang, "-v"])
    said = capsys.readouterr().out
    assert "CUDA_VISIBLE_DEVICES" in said
    assert "ASCEND_RT_VISIBLE_DEVICES" in said
    assert "VISIBLE_npu" not in said
