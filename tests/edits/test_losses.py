"""An import stays where another file takes the name from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Recipe
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

TRAIN = """import platform
import torch.distributed as dist

dist.init_process_group("nccl" if platform.system() != "Windows" else "gloo")
"""


def drops_the_import(root: Path, other: str) -> bool:
    (root / "pkg").mkdir()
    (root / "pkg" / "__init__.py").touch()
    (root / "pkg" / "train.py").write_text(TRAIN)
    (root / "pkg" / "other.py").write_text(other)
    rules = load()
    found = survey(Options((root,), rules.platforms["rocm"], rules, root=root))
    assert any(edit.after == '"gloo"' for edit in found.edits)
    return any(edit.recipe == Recipe("remove-import-name", (("name", "platform"),)) for edit in found.edits)


@pytest.mark.parametrize(
    "other",
    [
        "from train import platform\n",
        "from pkg.train import platform\n",
        "from .train import platform as where\n",
        "from .train import *\n\nprint(platform)\n",
        "from . import train\n\nprint(train.platform.system())\n",
        "import pkg.train\n\nprint(pkg.train.platform.system())\n",
        "import pkg.train as t\n\nprint(t.platform.system())\n",
        "from pkg import (  # all of it)\n    train,\n)\n\nprint(train.platform)\n",
        "from \\\n    train \\\n    import platform\n",
    ],
)
def test_a_name_that_another_file_takes_stays(tmp_path: Path, other: str) -> None:
    assert not drops_the_import(tmp_path, other)


@pytest.mark.parametrize(
    "other",
    [
        "import platform\n\nprint('python pkg/train.py', platform.system())\n",
        "from elsewhere import platform\n\ntrain = 1\nprint(train, platform)\n",
        "import platform\nimport pkg.train\n\nprint(platform.node())\n",
    ],
)
def test_a_name_that_another_file_has_from_elsewhere_goes(tmp_path: Path, other: str) -> None:
    assert drops_the_import(tmp_path, other)
