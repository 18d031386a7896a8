"""On any machine whose torch may lack torch.distributed, what a library does there is told, also where no group of the project's changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
ACCELERATE = (
    "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\nmodel = accelerator.prepare(torch.nn.Linear(4, 1))\n"
    "accelerator.backward(model(torch.ones(1, 4)).sum())\naccelerator.end_training()\n"
)
LIGHTNING = (
    "import hydra\nfrom lightning.pytorch import LightningModule\n\n\n@hydra.main(config_path='.', config_name='run')\n"
    "def main(config):\n    hydra.utils.instantiate(config.trainer).fit(LightningModule())\n\n\nmain()\n"
)
STRATEGY = "trainer:\n  _target_: lightning.pytorch.Trainer\n  strategy: ddp\n"


def told(root: Path, *rules: str) -> list[tuple[str, int, str]]:
    found = survey(Options((root,), RULES.platforms["single-gpu"], RULES, fixes=rules, root=root))
    return [(note.name, note.line, note.rule) for note in found.advisories if note.rule.startswith("no-distributed")]


def test_what_accelerate_needs_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ACCELERATE)
    expected = [("train.py", 4, "no-distributed-accelerate"), ("train.py", 7, "no-distributed-end-training")]
    assert told(tmp_path, "single-process", "without-distributed") == expected
    assert told(tmp_path, "single-process") == []


def test_a_trainer_that_is_built_on_accelerate(tmp_path: Path) -> None:
    text = "from transformers import Trainer, AutoModel\n\n\ndef main():\n    trainer = Trainer(AutoModel.from_pretrained('m'))\n    trainer.train()\n\n\nmain()\n"
    (tmp_path / "tests").mkdir()
    for name in ("train.py", "tests/test_train.py"):
        (tmp_path / name).write_text(text)
    (tmp_path / "use.py").write_text("from transformers import AutoModel\n\nprint(AutoModel.from_pretrained('m'))\n")
    assert told(tmp_path, "single-process", "without-distributed") == [("train.py", 5, "no-distributed-accelerate")]
    assert told(tmp_path, "single-process") == []


def test_a_strategy_in_settings(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING)
    (tmp_path / "run.yaml").write_text(STRATEGY)
    assert told(tmp_path, "single-process", "without-distributed") == [("run.yaml", 3, "no-distributed-strategy")]
    assert told(tmp_path, "single-process") == []


@pytest.mark.parametrize("test", ["torch.distributed.is_available()", "first and torch.distributed.is_available()"])
def test_what_runs_only_with_the_package_is_not_told(tmp_path: Path, test: str) -> None:
    guarded = ACCELERATE.replace("accelerator.end_", f"if {test}:\n    accelerator.end_").replace(
        "accelerator =", "first = True\naccelerator ="
    )
    (tmp_path / "train.py").write_text(guarded)
    assert [rule for _, _, rule in told(tmp_path, "without-distributed")] == ["no-distributed-accelerate"]


@pytest.mark.parametrize("test", ["first or torch.distributed.is_available()", "first"])
def test_another_test_of_the_package_hides_nothing(tmp_path: Path, test: str) -> None:
    asked = ACCELERATE.replace("accelerator.end_", f"if {test}:\n    accelerator.end_").replace(
        "accelerator =", "first = True\naccelerator ="
    )
    (tmp_path / "train.py").write_text(asked)
    assert "no-distributed-end-training" in [rule for _, _, rule in told(tmp_path, "without-distributed")]
