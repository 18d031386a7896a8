"""Files of settings that name a device are told of where the user asked, and nowhere else in the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

TRAIN = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\ntorch.cuda.set_device(0)\n'


def told(root: Path, *paths: Path) -> set[str]:
    rules = load()
    found = survey(Options(paths or (root,), rules.platforms["ascend"], rules, root=root))
    return {note.name for note in found.advisories if note.rule == "device-setting-file"}


def test_a_neighbours_settings_are_not_told_of(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(TRAIN, encoding="utf-8")
        (tmp_path / name / "base.yaml").write_text("device: cuda\n", encoding="utf-8")
    assert told(tmp_path, tmp_path / "mine") == {"mine/base.yaml"}
    assert told(tmp_path) == {"mine/base.yaml", "other/base.yaml"}
