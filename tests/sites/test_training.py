"""Which files train: what calls for gradients, or a library's trainer, and nothing that only speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.training import training_files

LIGHTNING = "import pytorch_lightning as pl\n"


def trains(folder: Path, text: str) -> bool:
    file = folder / "one.py"
    file.write_text(text, "utf-8")
    return training_files(Project(folder, [file]), load().processes) == {"one.py"}


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
    ],
)
def test_what_only_defines_it_or_speaks_of_it_does_not(tmp_path: Path, text: str) -> None:
    assert not trains(tmp_path, text)
