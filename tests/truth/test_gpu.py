"""What advice says of gloo with tensors on a GPU, against a real one: two ranks on the first card. Skipped on a machine without CUDA."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.versions import Stated, holds

PROGRAM = Path(__file__).parent / "programs/on_a_gpu.py"
ADVICE = load().advice
CRASHES = "the process ended"
# What fails on gloo, with the advice that says so and what the error says; measured on an H100 with torch 2.11.0+cu130.
FAILS = {
    "all_reduce PREMUL_SUM": ("gloo-premul-sum", "Cannot use ReduceOp.PREMUL_SUM"),
    "all_reduce_coalesced": ("gloo-all-reduce-coalesced", "unsupported device type cuda"),
    "all_gather uneven": ("gloo-uneven-all-gather", "invalid tensor size"),
    "send and recv": ("gloo-point-to-point", ""),
    "batch_isend_irecv": ("gloo-point-to-point", ""),
    "all_to_all": ("gloo-all-to-all-list", "does not support alltoall"),
    "coalescing all_reduce": ("gloo-coalescing", "unsupported device type cuda"),
    "coalescing all_gather_into_tensor": ("gloo-coalescing", CRASHES),
    "functional all_gather_tensor": ("gloo-functional-all-gather", CRASHES),
    "DTensor from rows to whole": ("gloo-functional-all-gather", CRASHES),
    "split_group": ("gloo-split-group", "not safe to split"),
    "shrink_group": ("gloo-shrink-group", "does not support shrinking"),
}
UNADVISED = {"all_gather_into_tensor of scalars", "all_reduce int16"}  # no code says by itself what shape or type a tensor has


def outcome(case: str, folder: Path) -> str:
    """What the two ranks of one case found: "" where both worked."""
    command = [sys.executable, "-W", "ignore", str(PROGRAM), "gloo", case]
    ranks = [
        subprocess.Popen([*command, str(rank), str(folder / case.replace(" ", "-"))], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    try:
        printed = [rank.communicate(timeout=180)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    found = [json.loads(out.splitlines()[-1])["found"] if out.strip() else CRASHES for out in printed]
    return next(filter(None, found), "")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or torch.version.cuda is None:
        pytest.skip("this machine has no GPU with CUDA")
    sys.path.insert(0, str(PROGRAM.parent))
    from on_a_gpu import CASES

    folder = tmp_path_factory.mktemp("stores")
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(CASES, pool.map(lambda case: outcome(case, folder), CASES), strict=True))


@pytest.mark.torch
def test_what_advice_says_of_a_gpu_holds(measured: dict[str, str]) -> None:
    import torch

    stated = Stated("torch", f"=={torch.__version__.partition('+')[0]}", "installed")
    for case, (ident, says) in FAILS.items():
        if holds(ADVICE[ident].when.get("torch", ""), stated):
            assert measured[case], f"{ident} no longer holds for {case}: restrict it to the versions before this torch"
            assert says in measured[case], case


@pytest.mark.torch
def test_what_no_advice_is_about_works_on_a_gpu(measured: dict[str, str]) -> None:
    works = {case: found for case, found in measured.items() if case not in FAILS and case not in UNADVISED}
    assert not any(works.values()), works
