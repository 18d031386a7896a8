"""Commands that a README says to type are noted where no edit of the code cures them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Survey
from ddp_codemod.report.table import wrap_text
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import Stated

RULES = load()
LAUNCHERS = {"launcher-without-libuv", "accelerate-without-libuv"}
GROUP = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def look(folder: Path, files: dict[str, str], platform: str = "windows", torch: str = "==2.5.1") -> Survey:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    versions = {"torch": Stated("torch", torch, "test")}
    return survey(Options((folder,), RULES.platforms[platform], RULES, root=folder, versions=versions))


def noted(found: Survey) -> list[tuple[str, int]]:
    return [(one.name, one.line) for one in found.advisories if one.rule in LAUNCHERS]


@pytest.mark.parametrize(
    "line",
    [
        "torchrun --nproc_per_node=2 train.py",
        "    torchrun train.py",
        "$ torchrun train.py",
        "> torchrun train.py",
        "CUDA_VISIBLE_DEVICES=0,1 OMP_NUM_THREADS=1 torchrun train.py",
        "python -m torch.distributed.run train.py",
        "python3.11 -m torch.distributed.launch --nproc_per_node=8 train.py",
        "accelerate launch train.py",
        "accelerate launch --config_file a.yaml \\",
        "torchrun \\",
    ],
)
@pytest.mark.parametrize("name", ["README.md", "README_zh.md", "readme.rst", "src/README.md"])
def test_a_command_that_is_typed(tmp_path: Path, line: str, name: str) -> None:
    text = f"# Training\n\n```shell\n{line}\n```\n"
    assert noted(look(tmp_path, {"src/train.py": GROUP, name: text})) == [(name, 4)]


@pytest.mark.parametrize(
    "text",
    [
        "Start it with torchrun, or with accelerate launch.\n",
        "torchrun is what starts it - on several cards.\n",
        "`torchrun` starts several processes.\n",
        "accelerate launch: see below\n",
        "python train.py\n",
        "my-torchrun train.py\n",
        "# torchrun\n",
        "",
    ],
)
def test_prose_is_no_command(tmp_path: Path, text: str) -> None:
    assert noted(look(tmp_path, {"train.py": GROUP, "README.md": text})) == []


@pytest.mark.parametrize(
    ("files", "platform", "torch"),
    [
        ({"train.py": GROUP, "README.md": "torchrun train.py\n"}, "rocm", "==2.5.1"),  # libuv is built in there
        ({"train.py": GROUP, "README.md": "torchrun train.py\n"}, "windows", "==2.3.1"),  # asks for none
        ({"train.py": "print(1)\n", "README.md": "torchrun train.py\n"}, "windows", "==2.5.1"),  # makes no group
        ({"a/train.py": GROUP, "b/README.md": "torchrun train.py\n"}, "windows", "==2.5.1"),  # another folder's
        ({"train.py": GROUP, "docs/notes.md": "torchrun train.py\n"}, "windows", "==2.5.1"),
        ({"train.py": GROUP, "README.md": "\udcff torchrun train.py\n"}, "windows", "==2.5.1"),  # no text
    ],
)
def test_nothing_is_noted(tmp_path: Path, files: dict[str, str], platform: str, torch: str) -> None:
    assert noted(look(tmp_path, files, platform, torch)) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("torchrun --nproc_per_node=1 train.py", "launcher-without-libuv"),  # one process has torchrun's store too
        ("accelerate launch train.py --steps 4", "accelerate-without-libuv"),
        ("accelerate launch --num_processes 12 train.py", "accelerate-without-libuv"),
        ("accelerate launch --num_processes 1 train.py", None),
        ("accelerate launch --num-processes=1 train.py", None),
        ("accelerate launch \\\n    --num_processes=1 \\\n    train.py", None),
        (
            "accelerate launch --mixed_precision fp16 train.py\naccelerate launch --num_processes 1 train.py",
            "accelerate-without-libuv",
        ),
    ],
)
@pytest.mark.parametrize("name", ["README.md", "start.sh"])
def test_a_launcher_is_named_where_it_needs_libuv(tmp_path: Path, line: str, rule: str | None, name: str) -> None:
    text = f"```shell\n{line}\n```\n" if name.endswith(".md") else f"{line}\n"
    found = look(tmp_path, {"train.py": GROUP, name: text}, "rocm-windows")
    at = 2 if name.endswith(".md") else 1
    assert [(one.rule, one.line) for one in found.advisories if one.rule in LAUNCHERS] == ([(rule, at)] if rule else [])


def test_all_lines_are_in_one_note(tmp_path: Path) -> None:
    files = {"train.py": GROUP, "README.md": "torchrun train.py\ntorchrun train.py --big\n", "run.sh": "torchrun train.py\n"}
    [note] = [one for one in look(tmp_path, files).advisories if one.rule == "launcher-without-libuv"]
    assert dict(note.message.args)["lines"] == "2, run.sh:1"


def test_ascii_text_is_wrapped_as_any_other() -> None:
    text = "Commands that a README says to type (see below) are noted: a, b.  c"
    assert wrap_text(text, 20) == [line.rstrip("。") for line in wrap_text(f"{text}。", 21)]


SHARDED = (
    "import torch.distributed as dist\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\n"
    'dist.init_process_group("nccl")\nFSDP(None)\n'
)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"README.md": "```\nconda install python=3.11 pytorch==2.1.0 -c pytorch -y\n```\n"}, True),
        ({"README.md": "```\npip install torch==2.1.0\n```\n", "setup.py": ""}, True),
        ({"README.md": "```\npip install torch==2.5.0\n```\n"}, False),
        ({"README.md": "```\npip install torch\n```\n"}, False),
        ({"README.md": "pip install torch==2.1.0\n", "requirements.txt": "torch==2.5.0\n"}, False),  # what is stated counts more
        ({"b/README.md": "```\npip install torch==2.1.0\n```\n"}, False),  # another folder's
        ({}, False),
    ],
)
def test_what_a_readme_installs_is_the_version_that_a_note_goes_by(tmp_path: Path, files: dict[str, str], said: bool) -> None:
    for name, text in {**files, "a/train.py": SHARDED}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["rocm"], RULES, root=tmp_path))
    assert ("gloo-reduce-scatter-tensor" in {one.rule for one in found.advisories}) is said


LIGHTNING = "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI().trainer.fit()\n"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("python train.py fit --trainer.accelerator gpu", [4]),
        ("python train.py trainer.accelerator=gpu", [4]),
        ("python train.py fit --trainer.accelerator cpu", []),
        ("python other.py fit --trainer.accelerator gpu", []),
    ],
)
def test_a_command_that_gives_a_trainer_a_gpu(tmp_path: Path, line: str, lines: list[int]) -> None:
    found = look(tmp_path, {"train.py": LIGHTNING, "README.md": f"# Training\n\n```shell\n{line}\n```\n"}, "cpu")
    assert [one.line for one in found.advisories if one.rule == "device-trainer-launch"] == lines
