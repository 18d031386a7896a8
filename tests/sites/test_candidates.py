"""Which files are parsed at all: none that cannot use a surface."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.pipeline import Run
from ddp_codemod.run.prefilter import Prefilter

Write = Callable[[dict[str, str]], Path]


@pytest.fixture
def run(tmp_path: Path) -> Callable[[dict[str, str]], Run]:
    def made(files: dict[str, str]) -> Run:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        rules = load()
        return Run(Prefilter(Options((tmp_path,), rules.platforms["rocm"], rules, root=tmp_path)))

    return made


def test_a_common_word_counts_only_where_its_package_is_mentioned(run: Callable[[dict[str, str]], Run]) -> None:
    plain = {"a.py": "def Parallel():\n    pass\n\n\nParallel()\n", "b.py": "from a import Parallel\n\nParallel()\n"}
    assert run(plain).candidates.names == []
    assert "b.py" in run({**plain, "compat.py": "import ignite\n"}).candidates.names


def test_a_package_that_is_part_of_another_name_is_not_mentioned(run: Callable[[dict[str, str]], Run]) -> None:
    assert run({"a.py": "import numpy\n\nx = numpy.array([1])\ninit_collective_group(x)\n"}).candidates.names == []  # ray


def test_a_surface_reached_through_another_file_is_a_candidate(run: Callable[[dict[str, str]], Run]) -> None:
    files = {
        "compat.py": "from torch import distributed as dist\n",
        "a.py": "from compat import dist\n\ndist.init_process_group('nccl')\n",
    }
    made = run(files)
    assert made.candidates.names == ["a.py"]
    assert [edit.name for edit in made.survey().edits] == ["a.py"]


def test_files_that_cannot_use_a_surface_are_not_parsed(run: Callable[[dict[str, str]], Run]) -> None:
    files = {f"plain{number}.py": "import torch\n\nlaunch = torch.nn.Linear\n" for number in range(5)}
    made = run({**files, "train.py": "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"})
    made.survey()
    assert set(made.project._modules) == {"train.py"}


def test_the_argument_of_a_property_setter_is_given_by_no_call(run: Callable[[dict[str, str]], Run]) -> None:
    files = {
        "model.py": (
            "import torch.distributed as dist\n\n\nclass Model:\n    @property\n    def cfg(self):\n        return self._cfg\n\n"
            "    @cfg.setter\n    def cfg(self, cfg):\n        self._cfg = cfg\n        dist.init_process_group(cfg)\n"
        ),
        "other.py": "def run(cfg):\n    return cfg\n",
    }
    made = run(files)
    assert not made.survey().edits
    assert "other.py" not in made.project._modules
