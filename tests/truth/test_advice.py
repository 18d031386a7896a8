"""The advice of the rule data against the torch that is installed: a torch that changes what holds fails here, and misleads nobody."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.versions import Stated, holds

PROGRAM = Path(__file__).parent / "programs/what_holds.py"
ADVICE = load().advice
# What fails where an advice holds for the installed torch, and works where it does not; with what the error says.
FAILS = {
    "premul": ("gloo-premul-sum", "Cannot use ReduceOp.PREMUL_SUM"),
    "avg": ("gloo-avg", "Cannot use ReduceOp.AVG"),
    "reduce-scatter": ("gloo-reduce-scatter", "does not support reduce_scatter"),
    "reduce-scatter-tensor": ("gloo-reduce-scatter-tensor", "reduce_scatter"),
    "all-gather-into-tensor": ("gloo-all-gather-into-tensor", "no support for"),
    "all-to-all": ("gloo-all-to-all-list", "does not support alltoall"),
    "all-gather-uneven": ("gloo-uneven-all-gather", "invalid tensor size"),
    "barrier": ("gloo-barrier-devices", "device_ids not supported"),
    "split": ("gloo-split-group", "not safe to split"),
    "shrink": ("gloo-shrink-group", "does not support shrinking"),
    "bf16-hook": ("gloo-bf16-hook", "BF16 all reduce communication hook required"),
    "bf16-wrapper": ("gloo-bf16-hook", "BF16 all reduce communication hook required"),
    "device-ids": ("device-ids", "device_ids and output_device"),
    "device-output": ("device-output", "device_ids and output_device"),
    "device-batchnorm": ("device-batchnorm", "SyncBatchNorm"),
    "fsdp": ("device-fsdp", ""),
    "device-id-number": ("device-id", "device_id"),
    "device-id-cuda": ("device-id", "device_id"),
    "device-id-cpu": ("device-id", "device_id"),
    "device-method": ("device-method", ""),
    "module-cuda": ("device-method", ""),
    "to-cuda": ("device-to", ""),
    "to-number": ("device-to", ""),
    "at-cuda": ("device-keyword", ""),
    "no-device": ("device-count", "ZeroDivisionError"),
}
# What there is no advice about, because it works.
WORKS = [
    "sum", "all-to-all-single", "all-gather", "point-to-point", "coalesced", "new-group", "new-group-options", "fp16-hook", "ddp",
    "fsdp-on-the-cpu", "zero", "seed", "state", "empty-cache", "memory", "scaler", "device-object",
]  # fmt: skip
NAMED = [
    (ident, name)
    for ident in ("device-set", "device-statement", "device-accelerator", "device-question", "device-tensor-class")
    for name in ADVICE[ident].pattern.names  # type: ignore[union-attr]
]
# Names that other versions of torch have.
ELSEWHERE = {"torch.accelerator.set_device_idx", "torch.cuda.reset_max_memory_reserved"}
NOT_YET = re.compile(r"module 'torch.distributed' has no attribute '(split|shrink)_group'")
SINCE = {"device-id-cuda": ">=2.7", "device-id-number": ">=2.7"}  # not looked at by 2.4.1
# What a torch that is built for CUDA takes without a device too: it has NVTX and NCCL in it, and makes an event when it is recorded.
OF_THE_BUILD = {
    "bf16-hook", "bf16-wrapper", "torch.cuda.nvtx.range_push", "torch.cuda.nvtx.range_pop", "torch.cuda.Event", "torch.cuda.nccl.version",
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two ranks found."""
    store = tmp_path_factory.mktemp("store") / "file"
    names = [name for _, name in NAMED]
    ranks = [
        subprocess.Popen(
            [sys.executable, PROGRAM, str(rank), str(store), *(names if rank == 0 else ())],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        ended = [rank.communicate(timeout=300) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0], ended
    found: list[dict[str, Any]] = [json.loads(out.splitlines()[-1]) for out, _ in ended]
    if found[0]["gpus"]:
        pytest.skip("this machine has a GPU")
    return found


def of_the_build(measured: list[dict[str, Any]], what: str) -> None:
    """Leave out what is asked of another build of torch, or of another release."""
    if NOT_YET.search(measured[0]["found"][what]):
        pytest.skip("this torch has no such name")
    if what in SINCE and not holds(SINCE[what], Stated("torch", f"=={measured[0]['torch']}", "installed")):
        pytest.skip("this torch takes it without a look")
    if what in OF_THE_BUILD and measured[0]["nccl"]:
        assert not measured[0]["found"][what]
        pytest.skip("a torch that is built for CUDA takes it")


@pytest.mark.parametrize("what", FAILS)
def test_what_advice_says_fails_does(measured: list[dict[str, Any]], what: str) -> None:
    ident, says = FAILS[what]
    of_the_build(measured, what)
    torch = Stated("torch", f"=={measured[0]['torch']}", "installed")
    for rank in measured:
        error = rank["found"][what]
        if holds(ADVICE[ident].when.get("torch", ""), torch):
            assert error, f"{ident} no longer holds: restrict it to the versions before this torch"
            assert says in error
        else:
            assert not error, f"{ident} holds for this torch too: {error}"


@pytest.mark.parametrize("what", WORKS)
def test_what_no_advice_is_about_works(measured: list[dict[str, Any]], what: str) -> None:
    assert [rank["found"][what] for rank in measured] == ["", ""]


def test_nccl_and_gloo_have_time_limits_of_their_own(measured: list[dict[str, Any]]) -> None:
    if not measured[0]["nccl"]:
        pytest.skip("a torch without NCCL has one limit")
    torch = Stated("torch", f"=={measured[0]['torch']}", "installed")
    assert bool(measured[0]["found"]["timeout"]) is holds(ADVICE["gloo-timeout"].when["torch"], torch)


@pytest.mark.parametrize("what", ["new-group-nccl", "nccl-options"])
def test_a_torch_without_nccl_has_neither_its_groups_nor_their_options(measured: list[dict[str, Any]], what: str) -> None:
    if measured[0]["nccl"]:
        pytest.skip("this torch has NCCL built in")
    assert all(rank["found"][what] for rank in measured)
    assert "nccl-options" in ADVICE


@pytest.mark.parametrize(("ident", "name"), NAMED)
def test_a_machine_without_a_device_refuses_each_name(measured: list[dict[str, Any]], ident: str, name: str) -> None:
    of_the_build(measured, name)
    error = measured[0]["found"][name]
    assert error, f"{ident}: {name} works without a device now"
    if name not in ELSEWHERE and not name.startswith("torch._C._cuda"):  # builds for the CPU have none of these
        assert f"has no attribute '{name.rpartition('.')[2]}'" not in error, "there is no such name"
