"""Configuration files that ask Lightning for GPUs: edited where there is none, and only in the mapping of a Trainer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
TRAIN = """import sys
import yaml
from lightning.pytorch import Trainer

with open(sys.argv[1]) as file:
    Trainer(strategy="ddp", **yaml.safe_load(file)["trainer"]).fit(make())
"""


def edited(root: Path, text: str, *options: str, name: str = "settings.yaml", train: str = TRAIN) -> str:
    (root / "train.py").write_text(train, "utf-8")
    (root / name).write_text(text, "utf-8")
    main(["apply", str(root), "--unsafe", "--no-cache", *(options or ("--platform", "cpu"))])
    return (root / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("accelerator: gpu\n  devices: 2", "accelerator: cpu\n  devices: 2"),
        ("accelerator: 'cuda'  # fast\n  devices: auto", "accelerator: 'cpu'  # fast\n  devices: auto"),
        ("devices: [0, 1]  # both\n  accelerator: gpu", "devices: 2  # both\n  accelerator: cpu"),
        ("devices: -1\n  accelerator: gpu", "devices: 1\n  accelerator: cpu"),
        ('devices: "0,1"\n  accelerator: gpu', "devices: 2\n  accelerator: cpu"),
        ("max_steps: 1\n  sync_batchnorm: True\n  accelerator: gpu", "max_steps: 1\n  sync_batchnorm: false\n  accelerator: cpu"),
    ],
)
def test_a_trainer_is_asked_for_the_cpu_and_a_number_of_processes(tmp_path: Path, before: str, after: str) -> None:
    rest = "\nmodel:\n  accelerator: gpu\n  width: 2\n"
    assert edited(tmp_path, f"trainer:\n  {before}{rest}") == f"trainer:\n  {after}{rest}"


@pytest.mark.parametrize(
    "text",
    [
        "trainer:\n  accelerator: auto\n  devices: 2\n",
        "trainer:\n  accelerator: cpu\n  devices: 2\n",
        "model:\n  accelerator: gpu\n  width: 2\n",  # no Trainer's
        "trainer:\n  accelerator: gpu\n  devices:\n  - 0\n  - 1\n",  # a note says what to do
        "trainer:\n  accelerator: gpu\n  devices: [0,\n    1]\n",
    ],
)
def test_other_settings_stay(tmp_path: Path, text: str) -> None:
    assert edited(tmp_path, text) == text


@pytest.mark.parametrize(
    "options", [("--platform", "rocm"), ("--platform", "ascend"), ("--platform", "cpu", "--style", "portable")]
)
def test_it_stays_where_there_is_a_gpu_a_device_of_its_own_or_where_others_run_it(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    text = "trainer:\n  accelerator: gpu\n  devices: 2\n"
    assert edited(tmp_path, text, *options) == text


def test_json_keeps_its_quotes_and_is_read_as_before(tmp_path: Path) -> None:
    text = '{"trainer": {"accelerator": "gpu", "devices": [0, 1], "max_steps": 1}}\n'
    assert edited(tmp_path, text, name="settings.json") == text.replace('"gpu"', '"cpu"').replace("[0, 1]", "2")


def test_what_is_not_edited_is_said_and_what_is_edited_is_not_said_again(tmp_path: Path) -> None:
    edited(tmp_path, "trainer:\n  accelerator: gpu\n  devices: 2\nlater:\n  accelerator: gpu\n  devices:\n  - 0\n")
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path))
    assert [(one.rule, one.line) for one in found.advisories if one.name] == [("device-trainer-file", 5)]


RUN = """import sys
import torch
import yaml
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, _):
        return self.layer(batch).sum()

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(4, 1))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

    def on_train_end(self):
        print("trained with", self.trainer.world_size)


with open(sys.argv[1]) as file:
    Trainer(logger=False, enable_checkpointing=False, **yaml.safe_load(file)["trainer"]).fit(Model())
"""


def test_two_processes_train_with_it(tmp_path: Path) -> None:
    pytest.importorskip("lightning")
    edited(tmp_path, "trainer:\n  accelerator: gpu\n  devices: [0, 1]\n  strategy: ddp\n  max_steps: 1\n", train=RUN)
    made = subprocess.run(
        [sys.executable, "train.py", "settings.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert "trained with 2" in made.stdout, made.stderr
