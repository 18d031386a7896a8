"""Portable style for devices: one function where several places need it, a condition elsewhere, and nothing that other machines lack."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from ddp_codemod.cli import main

MAIN = """import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from tools import mean


def main(rank):
    dist.init_process_group("nccl")
    model = torch.nn.Linear(1, 1).cuda(rank)
    model = DistributedDataParallel(model, device_ids=[rank])
    print(mean(model(torch.ones(1).cuda())), torch.cuda.device_count(), f"cuda:{rank}")
    return torch.device(f"cuda:{rank}"), torch.device("cuda:0")


if __name__ == "__main__":
    main(0)
"""
TOOLS = """import torch


def mean(total):
    return total / torch.ones(1, device="cuda")
"""
APART = """import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.manual_seed(0)
print(f"{torch.cuda.max_memory_allocated()} bytes")
"""


@pytest.fixture
def ported(tmp_path: Path) -> dict[str, str]:
    for name, text in (("train.py", MAIN), ("tools.py", TOOLS), ("apart.py", APART), ("pyproject.toml", "")):
        (tmp_path / name).write_text(text, "utf-8")
    assert main(["apply", str(tmp_path), "--platform", "ascend", "--style", "portable", "--unsafe", "-q"]) == 0
    return {name: (tmp_path / name).read_text("utf-8") for name in ("train.py", "tools.py", "apart.py")}


def test_one_function_serves_the_files_that_import_it(ported: dict[str, str]) -> None:
    assert "def device_type():" in ported["tools.py"]
    assert "return total / torch.ones(1, device=device_type())" in ported["tools.py"]
    assert "from tools import device_type, mean" in ported["train.py"]
    assert "torch.ones(1).to(device_type())" in ported["train.py"]
    assert "getattr(torch, device_type()).device_count()" in ported["train.py"]
    assert 'torch.device(f"{device_type()}:{rank}"), torch.device(f"{device_type()}:0")' in ported["train.py"]


def test_a_number_is_one_of_any_machine(ported: dict[str, str]) -> None:
    assert "torch.nn.Linear(1, 1).to(rank)" in ported["train.py"]
    assert "device_ids=[rank]" in ported["train.py"]


def test_a_file_apart_has_a_condition(ported: dict[str, str]) -> None:
    assert (
        '(torch.npu if hasattr(torch, "npu") and torch.npu.is_available() else torch.cuda).manual_seed(0)' in ported["apart.py"]
    )
    assert (
        "hasattr(torch, 'npu') and torch.npu.is_available() else torch.cuda).max_memory_allocated()} bytes" in ported["apart.py"]
    )


def test_no_other_machine_needs_the_plugin(ported: dict[str, str]) -> None:
    for text in ported.values():
        assert text.count("import torch_npu") <= 1
        assert "import torch_npu" not in text.replace("try:\n    import torch_npu\nexcept ImportError:", "")


def test_a_second_run_finds_nothing(tmp_path: Path, ported: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["check", str(tmp_path), "--platform", "ascend", "--style", "portable"])
    assert "Nothing to change" in capsys.readouterr().err
    assert ported


def test_the_function_tells_the_machines_apart(ported: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", torch)
    scope: dict[str, object] = {}
    exec(ported["tools.py"], scope)
    told = scope["device_type"]
    assert callable(told)
    assert told() == "cuda"
    torch.npu = types.SimpleNamespace(is_available=lambda: True)  # type: ignore[attr-defined]
    assert told() == "npu"
    torch.npu = types.SimpleNamespace(is_available=lambda: False)  # type: ignore[attr-defined]
    assert told() == "cuda"


USER = "import torch\nfrom kit.{} import one\n\n\ndef run(x):\n    return x.cuda()\n\n\nrun(torch.ones(1)).sum().backward()\n"
ONE = "import math\n\n\ndef one():\n    return math.pi\n"


def port(root: Path, files: dict[str, str]) -> dict[str, str]:
    (root / "pyproject.toml").touch()
    for name, text in {"kit/__init__.py": "", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    main(["apply", str(root), "--platform", "ascend", "--style", "portable", "--unsafe", "--no-cache"])
    return {name: (root / name).read_text("utf-8") for name in files}


@pytest.mark.parametrize("better", ["devices", "available_devices", "dist_utils", "comms", "utils", "misc"])
def test_a_file_about_machines_holds_the_function_though_fewer_import_it(tmp_path: Path, better: str) -> None:
    files = {f"kit/{better}.py": ONE, "kit/rich_utils.py": ONE, "a.py": USER.format(better)}
    files |= {"b.py": USER.format("rich_utils"), "c.py": USER.format("rich_utils")}
    after = port(tmp_path, files)
    assert "def device_type" in after[f"kit/{better}.py"]
    assert after["kit/rich_utils.py"] == ONE
    for name in ("a.py", "b.py", "c.py"):
        assert f"from kit.{better} import " in after[name]
        assert "x.to(device_type())" in after[name]
        assert "torch_npu" not in after[name]  # which the function's file imports
    assert "import torch_npu" in after[f"kit/{better}.py"]


def test_a_file_that_would_import_in_a_circle_holds_none(tmp_path: Path) -> None:
    files = {"kit/devices.py": "import kit.b\n\n\ndef one():\n    return 1\n", "kit/rich_utils.py": ONE}
    files |= {"kit/a.py": USER.format("devices"), "kit/b.py": USER.format("rich_utils"), "kit/c.py": USER.format("rich_utils")}
    after = port(tmp_path, files)
    assert "device_type" not in after["kit/devices.py"]


def test_a_default_is_the_functions_result_without_an_import_of_torch(tmp_path: Path) -> None:
    config = "from kit.devices import one\n\n\nclass Config:\n    device: str = 'cuda'\n"
    train = "import torch\nfrom config import Config\nfrom kit.devices import one\n\ntorch.ones(1, requires_grad=True).to(Config.device).cuda().backward()\n"
    after = port(tmp_path, {"kit/devices.py": ONE, "config.py": config, "train.py": train})
    assert "device: str = device_type()\n" in after["config.py"]
    assert "import torch" not in after["config.py"]


def test_a_condition_has_no_brackets_within_those_of_a_call(tmp_path: Path) -> None:
    after = port(tmp_path, {"train.py": "import torch\n\ntorch.ones(1, requires_grad=True).cuda().sum().backward()\n"})
    assert '.to("npu" if hasattr(torch, "npu") and torch.npu.is_available() else "cuda").sum()' in after["train.py"]
