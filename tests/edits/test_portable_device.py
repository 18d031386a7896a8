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
    assert "from tools import mean, device_type" in ported["train.py"]
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
