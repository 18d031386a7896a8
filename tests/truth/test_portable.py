"""Portable patches, run on two machines each: the one they are for gets what works there, the old one what it always got."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

LINUX = {"os.name": "posix", "platform.system": "Linux", "sys.platform": "linux"}
NVIDIA = {**LINUX, "gpus": 2, "names": ["A", "A"], "cuda": True, "nccl": True, "plugins": False}
NPU = {**LINUX, "gpus": 0, "nccl": False, "accelerator": "npu"}
# what the target machine is, what its programs have to ask for, and what their code asks for today
TARGETS: dict[str, tuple[dict[str, Any], str, str]] = {
    "rocm": ({**LINUX, "gpus": 1, "hip": True, "nccl": True}, "gloo", "nccl"),
    "windows": (
        {"os.name": "nt", "platform.system": "Windows", "sys.platform": "win32", "gpus": 1, "nccl": False},
        "gloo",
        "nccl",
    ),
    "cpu": ({**LINUX, "gpus": 0, "nccl": True}, "gloo", "nccl"),
    "macos": (
        {"os.name": "posix", "platform.system": "Darwin", "sys.platform": "darwin", "gpus": 0, "nccl": False},
        "gloo",
        "nccl",
    ),
    "mixed-gpu": ({**NVIDIA, "names": ["A", "B"]}, "gloo", "nccl"),
    "ascend": (NPU, "hccl", "nccl"),
    "xpu": ({**NPU, "accelerator": "xpu"}, "xccl", "nccl"),
    "mlu": ({**NPU, "accelerator": "mlu"}, "cncl", "nccl"),
    "musa": ({**NPU, "accelerator": "musa"}, "mccl", "nccl"),
    "sdaa": ({**NPU, "accelerator": "sdaa"}, "tccl", "nccl"),
    "gcu": ({**NPU, "accelerator": "gcu"}, "eccl", "nccl"),
    "neuron": ({**NPU, "accelerator": "neuron"}, "neuron", "nccl"),
    "tpu": ({**NPU, "accelerator": "tpu"}, "tpu_dist", "nccl"),
    "hpu": ({**NPU, "accelerator": "hpu"}, "hccl", "nccl"),
    "cuda": (NVIDIA, "nccl", "hccl"),
    "rocm-rccl": ({**LINUX, "gpus": 1, "hip": True, "nccl": True}, "nccl", "hccl"),
}
PLUGIN = {
    **{
        "ascend": "torch_npu",
        "mlu": "torch_mlu",
        "musa": "torch_musa",
        "sdaa": "torch_sdaa",
        "gcu": "torch_gcu",
        "neuron": "torch_neuronx",
        "tpu": "torch_tpu",
    },
    "hpu": "habana_frameworks.torch.distributed.hccl",
}
PROGRAMS = {
    "literal.py": 'import torch.distributed as dist\n\ndist.init_process_group(backend="{old}", rank=0, world_size=1)\n',
    "option.py": (
        "import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--backend", default="{old}", choices=["{old}"])\n'
        "torch.distributed.init_process_group(parser.parse_args().backend)\n"
    ),
    "parameter.py": (
        "from torch.distributed import Backend, init_process_group\n\n\n"
        'def setup(backend="{old}"):\n    init_process_group(backend)\n\n\nsetup()\n'
    ),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, truth: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    """What each patched program asks for, by platform, program and machine ("new" or "old"); torch is imported once for all."""
    folder = tmp_path_factory.mktemp("portable")
    keys, jobs = [], []
    for platform, (machine, _wanted, old) in TARGETS.items():
        root = folder / platform
        root.mkdir()
        for name, text in PROGRAMS.items():
            (root / name).write_text(text.format(old=old), encoding="utf-8")
        truth.apply(root, platform, "--style", "portable", "--unsafe")
        before = NPU if old == "hccl" else NVIDIA
        for name in PROGRAMS:
            for side, on in (("new", machine), ("old", before)):
                keys.append((platform, name, side))
                jobs.append({"machine": {"root": str(root), **on}, "entry": name, "arguments": [], "environment": {}})
    asked, answered = folder / "jobs.json", folder / "results.json"
    asked.write_text(json.dumps(jobs), encoding="utf-8")
    script = str(truth.machines / "recorder.py")
    ran = truth.run([sys.executable, script, str(asked), str(answered)], folder, truth.clean_environment())
    assert ran.status == 0, ran.output
    results = json.loads(answered.read_text(encoding="utf-8"))
    assert not [result["error"] for result in results if result["error"]]
    return {key: result["records"][0] for key, result in zip(keys, results, strict=True)}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("platform", TARGETS)
def test_the_new_platform_gets_what_works(recorded: Any, platform: str, program: str) -> None:
    record = recorded[platform, program, "new"]
    assert record["backend"] == TARGETS[platform][1]
    assert platform not in PLUGIN or PLUGIN[platform] in record["plugins"]
    assert platform != "windows" or record["environment"].get("USE_LIBUV") == "0"


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("platform", TARGETS)
def test_the_old_platform_gets_what_it_always_got(recorded: Any, platform: str, program: str) -> None:
    record = recorded[platform, program, "old"]
    assert record["backend"] == TARGETS[platform][2]
    assert record["init_method"] is None
    assert record["environment"] == {}


@pytest.mark.parametrize("platform", TARGETS)
def test_a_second_run_changes_nothing(recorded: Any, tmp_path_factory: pytest.TempPathFactory, truth: Any, platform: str) -> None:
    assert recorded
    root = tmp_path_factory.getbasetemp() / "portable0" / platform
    texts = {path.name: path.read_bytes() for path in Path(root).glob("*.py")}
    assert texts
    truth.apply(root, platform, "--style", "portable", "--unsafe")
    assert {path.name: path.read_bytes() for path in Path(root).glob("*.py")} == texts


ASK = """
import torch
import torch.distributed as dist
print(dist.is_nccl_available(), dist.get_default_backend_for_device("cuda"))
for device in ("npu", torch.accelerator.current_accelerator()):
    try:
        print(dist.get_default_backend_for_device(device))
    except (RuntimeError, TypeError, ValueError) as why:
        print(type(why).__name__)
"""


def test_what_torch_picks_for_a_device_is_no_portable_choice(tmp_path: Path, truth: Any) -> None:
    """Why no condition of the rule data is get_default_backend_for_device: were this to change, it would be the shortest for some."""
    ran = truth.run([sys.executable, "-c", ASK], tmp_path, truth.clean_environment())
    built, npu, here = [line for line in ran.output.splitlines() if not line.startswith((" ", "/"))]
    if built.startswith("True"):
        pytest.skip("a build with NCCL")
    assert built == "False nccl"  # wrong on Windows, and of no use where RCCL fails
    assert npu == "RuntimeError"  # without the plugin, which other machines lack
    assert here == "TypeError"  # no accelerator here: what stood there before gave an error too, or gloo
