"""Which of the files that mention a surface are parsed: those that can use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.pipeline import Run
from ddp_codemod.run.prefilter import Prefilter

IMPORT = "from torch.distributed import init_process_group\n"
USING = [
    "init_process_group('nccl')\n",
    "(init_process_group)('nccl')\n",
    "init_process_group \\\n    ('nccl')\n",
    "import functools\nfunctools.partial(init_process_group, 'nccl')()\n",
    "import functools\nfunctools.partial(\n    init_process_group, 'nccl')()\n",
    "start = init_process_group\nstart('nccl')\n",
    "start = (init_process_group)  # later\nstart('nccl')\n",
    "from torch.distributed import init_process_group as start\nstart('nccl')\n",
    "from torch.distributed import (\n    init_process_group as start,\n)\nstart('nccl')\n",
    "start, stop = init_process_group, print\nstart('nccl')\n",
    "start = print if len([]) else init_process_group\nstart('nccl')\n",
    "for start in [init_process_group]:\n    start('nccl')\n",
    "{'torch': init_process_group}['torch']('nccl')\n",
    "def maker():\n    return init_process_group\n\n\nmaker()('nccl')\n",
    "import torch\n\ngetattr(torch.distributed, 'init_process_group')('nccl')\n",
    "def setup(start=init_process_group):\n    start('nccl')\n",
]
NOT_USING = [
    "",
    "def f(start: init_process_group) -> None:\n    pass\n",
    "__all__ = ['init_process_group']\n",
    "# not init_process_group\n",
    "'''init_process_group'''\n",
    "x = init_process_group.__name__\n",
]
CLASSES = {
    "base.py": "from pytorch_lightning.strategies import DDPStrategy\n\n\nclass Ours(DDPStrategy):\n    pass\n",
    "leaf.py": "from base import Ours as Base\nimport pytorch_lightning.strategies as DDPStrategy\n\n\nclass Leaf(Base):\n    pass\n",
    "use.py": "from leaf import Leaf\n\nLeaf(process_group_backend='nccl')\n",
    "note.py": "from leaf import Leaf\n\n\ndef f(x: Leaf): ...\n",
}


def run(folder: Path, files: dict[str, str]) -> Run:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    rules = load()
    return Run(Prefilter(Options((folder,), rules.platforms["rocm"], rules, root=folder)))


@pytest.mark.parametrize("text", USING)
def test_a_file_that_uses_a_surface_is_found(tmp_path: Path, text: str) -> None:
    made = run(tmp_path, {"a.py": IMPORT + text})
    assert made.users.names == ["a.py"]
    assert [decision.surface for decision in made.survey().decisions] == ["torch.init_process_group"]


@pytest.mark.parametrize("text", NOT_USING)
def test_a_file_that_only_mentions_one_is_not_parsed(tmp_path: Path, text: str) -> None:
    made = run(tmp_path, {"a.py": IMPORT + text})
    assert made.candidates.names == ["a.py"]
    assert not made.survey().decisions
    assert not made.project._modules


def test_classes_are_followed_through_files_and_other_names(tmp_path: Path) -> None:
    made = run(tmp_path, CLASSES)
    assert set(made.users.derived) == {"Ours", "Leaf"}
    assert [edit.name for edit in made.survey().edits] == ["use.py"]
    assert "note.py" not in made.project._modules


def test_a_file_that_cannot_be_read_is_named_only_if_it_may_use_a_surface(tmp_path: Path) -> None:
    made = run(tmp_path, {"a.py": IMPORT + "print 'old'\n", "b.py": "print 'init_process_group'\n", "c.py": IMPORT + "a b\n"})
    assert [skipped.name for skipped in made.survey().skipped] == []
    made = run(tmp_path, {"a.py": IMPORT + "print 'old'\ninit_process_group()\n"})
    assert [skipped.name for skipped in made.survey().skipped] == ["a.py"]
