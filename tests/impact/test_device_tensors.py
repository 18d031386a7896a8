"""A default group on a backend that takes no tensors of the device: changed where the program hands it some, kept where not."""

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Action, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

GLOO = 'import torch\nimport torch.distributed as dist\n\n\ndef setup():\n    dist.init_process_group("gloo")\n'
WRAP = "from torch.nn.parallel import DistributedDataParallel as DDP\n\n\n"
KEYWORD = WRAP + "def train(model, rank):\n    return DDP(model, device_ids=[rank])\n"
MOVED = WRAP + "def train(model):\n    return DDP(model.cuda())\n"
CHOSEN = WRAP + "import torch\n\n\ndef train(model, rank):\n    torch.cuda.set_device(rank)\n    return DDP(model)\n"
PLAIN = WRAP + "def train(model):\n    return DDP(model)\n"
SEND = "import torch\nimport torch.distributed as dist\n\n\ndef total(x):\n    {}\n"
SHARDED = (
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\n\ndef train(model):\n    return FSDP(model.cuda())\n"
)


def found(folder: Path, files: dict[str, str], platform: str = "ascend") -> Survey:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    rules = load()
    return survey(Options((folder,), rules.platforms[platform], rules, root=folder))


def backends(made: Survey) -> list[str]:
    made_of = (edit.after for edit in made.edits if edit.rule == "unsupported-backend")
    return [text for text in made_of if text is not None and "import" not in text]


@pytest.mark.parametrize(
    "used",
    [
        KEYWORD,
        MOVED,
        MOVED.replace("cuda", "npu"),
        CHOSEN,
        SHARDED,
        SEND.format("dist.all_reduce(x.cuda())"),
        SEND.format('dist.all_reduce(torch.zeros(1, device="cuda"))'),
        SEND.format('y = torch.zeros(1, device=torch.device("cuda", 0)).detach()\n    dist.broadcast(y, 0)'),
        SEND.format('y = x.to(f"npu:{dist.get_rank()}")\n    dist.all_gather([y], y)'),
        SEND.format('dist.all_reduce(torch.zeros(1, device="cuda"), group=None)'),
    ],
)
def test_what_hands_the_group_tensors_of_the_device(tmp_path: Path, used: str) -> None:
    assert backends(found(tmp_path, {"train.py": GLOO + "\n\n" + used})) == ['"cpu:gloo,npu:hccl"']


@pytest.mark.parametrize(
    ("platform", "both"),
    [("xpu", "xpu:xccl"), ("mlu", "mlu:cncl"), ("musa", "musa:mccl"), ("hpu", "hpu:hccl"), ("ascend", "npu:hccl")],
)
def test_every_platform_of_another_device(tmp_path: Path, platform: str, both: str) -> None:
    assert backends(found(tmp_path, {"train.py": GLOO + "\n\n" + KEYWORD}, platform)) == [f'"cpu:gloo,{both}"']


@pytest.mark.parametrize("platform", ["rocm", "cpu", "macos", "windows", "mixed-gpu"])
def test_where_gloo_takes_tensors_of_the_device(tmp_path: Path, platform: str) -> None:
    assert backends(found(tmp_path, {"train.py": GLOO + "\n\n" + KEYWORD}, platform)) == []


@pytest.mark.parametrize("line", ["from group import setup\n\n", "import group\n\n"])
def test_a_file_that_imports_the_group(tmp_path: Path, line: str) -> None:
    assert backends(found(tmp_path, {"group.py": GLOO, "train.py": line + KEYWORD})) == ['"cpu:gloo,npu:hccl"']


def test_a_file_that_the_program_of_the_group_imports(tmp_path: Path) -> None:
    files = {"train.py": "import wrapping\n" + GLOO, "wrapping.py": KEYWORD}
    assert backends(found(tmp_path, files)) == ['"cpu:gloo,npu:hccl"']


def test_the_default_of_an_option_takes_it_among_its_choices(tmp_path: Path) -> None:
    text = (
        "import argparse\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--backend", default="gloo", choices=["gloo", "nccl"])\nargs = parser.parse_args()\n'
        "dist.init_process_group(args.backend)\n\n\n" + KEYWORD
    )
    made = found(tmp_path, {"train.py": text})
    assert '"cpu:gloo,npu:hccl"' in "".join(backends(made))


def test_what_has_no_backend_for_each_device_gets_the_device_s_own_unsafely(tmp_path: Path) -> None:
    files = {"train.py": GLOO + "\n\n" + KEYWORD, "requirements.txt": "torch==1.11.0\n"}
    made = found(tmp_path, files)
    assert backends(made) == ['"hccl"']
    assert {edit.applicability.value for edit in made.edits if edit.after == '"hccl"'} == {"unsafe"}


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": GLOO + "\n\n" + PLAIN},
        {"train.py": GLOO + "\n\n" + WRAP + "def train(model):\n    return DDP(model, device_ids=None)\n"},
        {"train.py": GLOO + "    dist.barrier()\n"},
        {"train.py": GLOO + "    dist.all_gather_object([None], 1)\n"},
        {"train.py": GLOO + "    dist.all_reduce(torch.zeros(1))\n"},
        {"train.py": GLOO + '    dist.all_reduce(torch.zeros(1, device="cpu"))\n'},
        {"train.py": GLOO + "    dist.all_reduce(torch.zeros(1).cuda().cpu())\n"},
        {
            "train.py": GLOO
            + '    side = dist.new_group(backend="nccl")\n    dist.all_reduce(torch.zeros(1).cuda(), group=side)\n'
        },
        {"train.py": GLOO + "    torch.zeros(1).cuda()\n"},
        {"train.py": GLOO.replace("gloo", "cpu:gloo,npu:hccl") + "\n\n" + KEYWORD},
        {"train.py": GLOO.replace("gloo", "hccl") + '    dist.new_group(backend="gloo")\n\n\n' + KEYWORD},
        {"train.py": GLOO.replace("gloo", "fake") + "\n\n" + KEYWORD},
        {"test_steps.py": GLOO, "train.py": KEYWORD},
        {"cpu.py": GLOO, "gpu.py": GLOO.replace("gloo", "hccl") + "\n\n" + KEYWORD},
        {"group.py": GLOO, "train.py": "from other.group import setup\n\n" + KEYWORD},
        {"train.py": GLOO, "tests/test_train.py": "import train\n" + KEYWORD},
        {
            "train.py": "import sys\n"
            + GLOO.replace("    dist", "    if sys.platform == 'win32':\n        dist")
            + "\n\n"
            + KEYWORD
        },
        {"train.py": GLOO + "\n\n" + WRAP + "import sys\n\nif sys.platform == 'win32':\n    DDP(None, device_ids=[0])\n"},
    ],
)
def test_what_stays(tmp_path: Path, files: dict[str, str]) -> None:
    made = found(tmp_path, files)
    assert [text for text in backends(made) if "gloo" in text] == []


def test_what_stays_is_not_said_to_work_for_the_device(tmp_path: Path) -> None:
    made = found(tmp_path, {"train.py": GLOO + "    dist.barrier()\n"})
    assert [(one.action, one.reason.key) for one in made.decisions] == [(Action.KEEP, "keep-cpu-tensors")]


def test_a_word_of_the_device_beside_a_model_is_a_note(tmp_path: Path) -> None:
    made = found(tmp_path, {"train.py": GLOO + "\n\n" + PLAIN + "\n\nprint(torch.cuda.is_available())\n"})
    assert backends(made) == []
    assert [note.rule for note in made.advisories] == ["gloo-is-for-cpu-tensors"]


def test_a_trainer_that_asks_for_a_gpu_hands_its_strategy_tensors_of_the_device(tmp_path: Path) -> None:
    text = (
        "from pytorch_lightning import Trainer\nfrom pytorch_lightning.strategies import DDPStrategy\n\n"
        'Trainer(accelerator="gpu", devices=2, strategy=DDPStrategy(process_group_backend="gloo")).fit(None)\n'
    )
    assert backends(found(tmp_path, {"train.py": text})) == ['"cpu:gloo,npu:hccl"']
    assert backends(found(tmp_path, {"train.py": text.replace('"gpu"', '"cpu"')})) == []
