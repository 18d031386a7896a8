"""Where torch may lack its distributed package, no strategy that makes a group is given to a trainer that may get one device."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
HYDRA = """import hydra
from lightning.pytorch import Trainer


@hydra.main(config_path=".", config_name="settings")
def main(config):
    hydra.utils.instantiate(config.trainer).fit(model)


main()
"""
SETTINGS = "trainer:\n  _target_: lightning.pytorch.Trainer\n  accelerator: gpu\n  devices: auto\n"
PROGRAMS = {
    "devices": "from lightning.pytorch import Trainer\n\nTrainer(accelerator='gpu', devices='auto').fit(model)\n",
    "all": "from lightning.pytorch import Trainer\n\nTrainer(accelerator='gpu', devices=-1).fit(model)\n",
    "left out": "from lightning.pytorch import Trainer\n\nTrainer().fit(model)\n",
    "fabric": "import lightning as L\n\nfabric = L.Fabric(accelerator='cuda', devices='auto')\nfabric.backward(loss)\n",
    "command line": "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI(Model, Data)\n",
    "settings": HYDRA,
}


def outcome(root: Path, text: str, platform: str) -> tuple[str, list[str]]:
    """All new text with unsafe fixes, and the keys of what needs review."""
    (root / "train.py").write_text(text)
    if text is HYDRA:
        (root / "settings.yaml").write_text(SETTINGS)
    found = survey(Options((root,), RULES.platforms[platform], RULES, root=root))
    told = [one.reason.key for one in found.decisions if one.action is Action.REVIEW]
    return "".join(change.after.decode() for change in render(found, True).changes), told


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_for_a_person(tmp_path: Path, name: str) -> None:
    after, told = outcome(tmp_path, PROGRAMS[name], "rocm-windows")
    assert "DDPStrategy" not in after
    assert told in (["review-object-open"], ["review-settings-open"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_where_torch_has_the_package_the_strategy_is_given(tmp_path: Path, name: str) -> None:
    after, told = outcome(tmp_path, PROGRAMS[name], "windows")
    assert "DDPStrategy" in after
    assert not told


def test_several_devices_get_it(tmp_path: Path) -> None:
    """Two devices are two processes: there is no program that would train without the package."""
    text = "from lightning.pytorch import Trainer\n\nTrainer(accelerator='gpu', devices=2).fit(model)\n"
    after, _ = outcome(tmp_path, text, "rocm-windows")
    assert "DDPStrategy(" in after
