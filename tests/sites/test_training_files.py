"""Which files train: what calls for gradients, or a library's trainer, and nothing that only speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.training_files import find_training_files

LIGHTNING = "import pytorch_lightning as pl\n"


def trains(folder: Path, text: str) -> bool:
    one, other = folder / "one.py", folder / "other.py"
    one.write_text(text, "utf-8")
    other.write_text("import torch\n", "utf-8")
    rules = load()
    return find_training_files(Project(folder, [one, other]), rules.processes, rules.idioms) == {"one.py"}


@pytest.mark.parametrize(
    "text",
    [
        "loss.backward()\n",
        "scaler.scale(loss) . backward (retain_graph=True)\n",
        "class Solver:\n    def step(self, loss):\n        self.accelerator.backward(loss)\n",
        f"{LIGHTNING}pl.Trainer().fit(model)\n",
        "from lightning import Trainer\ntrainer = Trainer()\ntrainer.fit(model)\n",
    ],
)
def test_a_file_that_calls_for_gradients_or_a_trainer_trains(tmp_path: Path, text: str) -> None:
    assert trains(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "# loss.backward()\n",
        "'''\nExample::\n\n    loss.backward()\n'''\n",
        "class F(Function):\n    @staticmethod\n    def backward(ctx, grad):\n        return grad\n",
        "class F(Function):\n    @staticmethod\n    def backward(ctx, grad):\n        return kernels.backward(grad, *ctx.saved_tensors)\n",
        "hook = loss.backward\n",
        "backward(loss)\n",
        "from sklearn.svm import SVC\nSVC().fit(x, y)\n",
        f"{LIGHTNING}class Task(pl.LightningModule):\n    def training_step(self, batch):\n        self.manual_backward(self.loss(batch))\n",
        f"{LIGHTNING}fit = 1\n",
        "def broken(:\n    loss.backward()\n",
        "import paddle\n\nloss.backward()\n",
    ],
)
def test_what_only_defines_it_or_speaks_of_it_does_not(tmp_path: Path, text: str) -> None:
    assert not trains(tmp_path, text)


def test_a_project_without_torch_trains_with_something_else(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("loss.backward()\n", "utf-8")
    rules = load()
    assert find_training_files(Project(tmp_path, [file]), rules.processes, rules.idioms) == set()
