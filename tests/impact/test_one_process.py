"""Programs that train in one process, without any group: their device is ported like that of others, and nobody else's is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

MODEL = "import torch\n\n\ndef to_device(x):\n    return x.cuda()\n"
SOLVER = "from model import to_device\n\n\ndef train(net, x):\n    net(to_device(x)).sum().backward()\n"
TRAIN = "import torch\nfrom solver import train\n\nif __name__ == '__main__':\n    train(torch.nn.Linear(1, 1).cuda(), torch.ones(1))\n"
INFER = "import torch\n\nif __name__ == '__main__':\n    torch.nn.Linear(1, 1).cuda()\n"
GROUP = "import torch\nimport torch.distributed as dist\n\nif __name__ == '__main__':\n    dist.init_process_group('nccl')\n"
STEP = "class Task(LightningModule):\n    def training_step(self, batch):\n        self.manual_backward(batch.cuda())\n"


def found(folder: Path, platform: str, **files: str) -> Survey:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    rules = load()
    return survey(Options((folder,), rules.platforms[platform], rules, root=folder))


def ported(found: Survey) -> set[tuple[str, int]]:
    """The file and line of each place that a rule about devices has an edit or an item for."""
    places = (one.place for one in found.decisions if (one.rule or "").startswith("device-"))
    return {(place.name, found.sources[place.name].position(place.start)[0]) for place in places}


@pytest.mark.parametrize("platform", ["ascend", "cpu"])
def test_the_program_and_what_it_imports_are_ported(tmp_path: Path, platform: str) -> None:
    every = found(tmp_path, platform, model=MODEL, solver=SOLVER, train=TRAIN, infer=INFER)
    assert ported(every) == {("model.py", 5), ("train.py", 5)}
    assert (every.unreached, every.without_entry_point) == (("infer.py",), 0)


def test_so_it_is_beside_programs_that_make_a_group(tmp_path: Path) -> None:
    every = found(tmp_path, "ascend", model=MODEL, solver=SOLVER, train=TRAIN, infer=INFER, group=GROUP)
    assert ported(every) == {("model.py", 5), ("train.py", 5)}
    assert every.unreached == ("infer.py",)


@pytest.mark.parametrize("platform", ["rocm", "windows", "cuda", "single-gpu"])
def test_where_there_is_a_cuda_device_nothing_is_ported(tmp_path: Path, platform: str) -> None:
    every = found(tmp_path, platform, model=MODEL, solver=SOLVER, train=TRAIN)
    assert (every.decisions, every.edits, every.unreached, every.without_entry_point) == ((), (), (), 0)


def test_a_program_that_only_infers_is_not_ported_for_what_its_model_could_do(tmp_path: Path) -> None:
    infer = f"from step import Task\n{INFER}"
    every = found(tmp_path, "cpu", step=f"from lightning import LightningModule\n\n\n{STEP}", infer=infer)
    assert (ported(every), every.edits, every.without_entry_point) == (set(), (), 2)


def test_a_file_of_functions_that_is_a_program_too_speaks_for_itself_alone(tmp_path: Path) -> None:
    train = f"{MODEL}\n\nif __name__ == '__main__':\n    to_device(torch.ones(1, requires_grad=True)).sum().backward()\n"
    every = found(tmp_path, "cpu", train=train, infer=f"from train import to_device\n{INFER}")
    assert ported(every) == {("train.py", 5)}
    assert every.unreached == ("infer.py",)


def test_tests_are_no_training_programs(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_model.py").write_text(f"{INFER}    torch.ones(1).cuda().backward()\n", "utf-8")
    every = found(tmp_path, "cpu")
    assert (every.decisions, every.without_entry_point) == ((), 1)


OPTION = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--device')\nargs = parser.parse_args()\n"


def test_commands_of_programs_that_use_the_device_are_looked_at_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(
        "python infer.py --device cuda\npython train.py --device 'cuda:0'\npython count.py --device cuda\n", "utf-8"
    )
    (tmp_path / "README.md").write_text(
        "Type:\n\n```\npython train.py --device cuda\npython count.py --device cuda\n```\n", "utf-8"
    )
    train = TRAIN.replace(".cuda()", ".to(args.device)")
    every = found(tmp_path, "cpu", model=MODEL, solver=SOLVER, train=OPTION + train, infer=OPTION + INFER, count=OPTION)
    assert [(one.name, one.line) for one in every.advisories] == [("README.md", 4), ("run.sh", 1), ("run.sh", 2)]
