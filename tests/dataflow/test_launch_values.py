"""What launch files give an option is found however it is written; files where nothing behind the option can be a value are not parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.sites import parsed_files

TRAIN = """import argparse
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--dist-backend", default="gloo")
args = parser.parse_args()
dist.init_process_group(args.dist_backend)
"""


def is_found(folder: Path, name: str, text: str) -> bool:
    """Whether a launch file is one to edit, or to look at, on rocm."""
    (folder / "train.py").write_text(TRAIN, "utf-8")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode())
    rules = load()
    found = survey(Options((folder,), rules.platforms["rocm"], rules, root=folder))
    listed = {one.place.name for one in found.decisions if one.action is Action.REVIEW}
    return name in listed | {edit.name for edit in found.edits}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "python train.py --dist-backend nccl\n"),
        ("run.sh", "python train.py --dist-backend=nccl\n"),
        ("run.sh", "python train.py --dist-backend 'nccl'\n"),
        ("run.sh", 'python train.py --dist-backend "nccl"\n'),
        ("run.sh", "python train.py --dist-backend \\\n    nccl --lr 1\n"),
        ("run.sh", "B=nccl\npython train.py --dist-backend $B\n"),
        ("run.sh", "B=nccl\npython train.py --dist-backend=${B:-gloo}\n"),
        ("run.sh", "python train.py --dist-backend=cpu:gloo,cuda:nccl\n"),
        ("run.bat", "python train.py --dist-backend nccl\r\n"),
        ("run.bat", "set B=nccl\r\npython train.py --dist-backend %B%\r\n"),
        ("run.ps1", "python train.py `\n  --dist-backend `\n  nccl\n"),
        ("Makefile", "B = nccl\ntrain:\n\tpython train.py --dist-backend $(B)\n"),
        ("Dockerfile", 'CMD ["python", "train.py", "--dist-backend", "nccl"]\n'),
        ("job.yaml", 'spec:\n  containers:\n  - command: ["python", "train.py", "--dist-backend", "nccl"]\n'),
        ("job.yaml", "spec:\n  containers:\n  - command:\n    - python\n    - train.py\n    - --dist-backend\n    - nccl\n"),
    ],
)
def test_a_value_is_found_however_it_is_given(tmp_path: Path, name: str, text: str) -> None:
    assert is_found(tmp_path, name, text)


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --dist-backend gloo\n",
        "python train.py --lr 1 --dist-backend\n",
        "python train.py --dist-backend-timeout nccl\n",
        "python other.py --dist-backend nccl\n",
    ],
)
def test_what_is_given_to_others_stays(tmp_path: Path, text: str) -> None:
    assert not is_found(tmp_path, "run.sh", text)


@pytest.mark.parametrize(("given", "parsed"), [("success", 0), ("fast --lr $LR", 0), ("$B", 1), ("tcp://host:1", 1), ("Gloo", 1)])
def test_a_launch_file_is_parsed_where_a_value_may_stand(
    tmp_path: Path, given: str, parsed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    read = parsed_files.parse_shell
    monkeypatch.setattr(parsed_files, "parse_shell", lambda source: seen.append(source.name) or read(source))
    (tmp_path / "run.sh").write_text(f"python train.py --dist-backend {given}\n", "utf-8")
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    rules = load()
    survey(Options((tmp_path,), rules.platforms["rocm"], rules, root=tmp_path))
    assert len(seen) == parsed
