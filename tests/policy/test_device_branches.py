"""A backend of another device's package stays where the package is imported whenever the group is made, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

IMPORT = "import habana_frameworks.torch.distributed.hccl"
GROUP = "dist.init_process_group('hccl')"
HEAD = "import torch.distributed as dist\n\n\n"


def action(folder: Path, text: str, platform: str = "rocm") -> Action:
    (folder / "train.py").write_text(HEAD + text, "utf-8")
    rules = load()
    (made,) = survey(Options((folder,), rules.platforms[platform], rules, root=folder)).decisions
    return made.action


@pytest.mark.parametrize(
    "text",
    [
        f"def init():\n    {IMPORT}\n    {GROUP}\n",
        f"def init():\n    {GROUP}\n    from habana_frameworks.torch import hpu\n",
        f"def init(n):\n    {IMPORT}\n    if n > 1:\n        {GROUP}\n",
        f"{IMPORT}\n\n\ndef init():\n    {GROUP}\n",
    ],
)
def test_it_is_left_to_that_device(tmp_path: Path, text: str) -> None:
    assert action(tmp_path, text) is Action.KEEP


@pytest.mark.parametrize(
    "text",
    [
        f"def prepare():\n    {IMPORT}\n\n\ndef init():\n    {GROUP}\n",  # which need not run
        f"def init(n):\n    if n:\n        {IMPORT}\n    {GROUP}\n",
        f"def init():\n    import habana\n    {GROUP}\n",
        f"def init():\n    from .habana_frameworks import torch\n    {GROUP}\n",
        f"def init():\n    {GROUP}\n",
    ],
)
def test_elsewhere_it_is_changed(tmp_path: Path, text: str) -> None:
    assert action(tmp_path, text) is Action.EDIT


def test_on_that_device_it_is_right(tmp_path: Path) -> None:
    assert action(tmp_path, f"def init():\n    {IMPORT}\n    {GROUP}\n", "hpu") is Action.KEEP
