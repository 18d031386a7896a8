"""Tries what the advice of the rule data is about, on a machine without a GPU: two ranks, one gloo group, CPU tensors.

Prints one JSON object: for each thing that was tried "" where it works, else the error. Run as RANK STORE, two of them at a time.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import distributed_c10d
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

Try = Callable[[int], Any]


def step(model: nn.Module, width: int = 2) -> None:
    model(torch.ones(2, width)).sum().backward()


def hooked(hook: Any) -> None:
    model = DistributedDataParallel(nn.Linear(2, 2))
    model.register_comm_hook(None, hook)
    step(model)


def passed_on(rank: int) -> None:
    tensor = torch.ones(2)
    if rank:
        dist.recv(tensor, 0)
    else:
        dist.send(tensor, 1)
    peers = [dist.P2POp(dist.isend, torch.ones(2), 1 - rank), dist.P2POp(dist.irecv, tensor, 1 - rank)]
    for work in dist.batch_isend_irecv(peers):
        work.wait()


def coalesced(rank: int) -> None:
    with distributed_c10d._coalescing_manager():
        dist.all_gather_into_tensor(torch.zeros(4), torch.ones(2))


def zero(rank: int) -> None:
    model = DistributedDataParallel(nn.Linear(2, 2))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    step(model)
    optimizer.step()


def limits(rank: int) -> None:
    """Whether NCCL's time limit is another than gloo's."""
    if distributed_c10d._get_default_timeout("nccl") != distributed_c10d._get_default_timeout("gloo"):
        raise ValueError("another limit")


@contextmanager
def warned() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


GROUP: dict[str, Try] = {
    "sum": lambda rank: dist.all_reduce(torch.ones(2)),
    "premul": lambda rank: dist.all_reduce(torch.ones(2), op=dist._make_nccl_premul_sum(2.0)),
    "avg": lambda rank: dist.all_reduce(torch.ones(2), op=dist.ReduceOp.AVG),
    "reduce-scatter": lambda rank: dist.reduce_scatter(torch.ones(2), [torch.ones(2), torch.ones(2)]),
    "reduce-scatter-tensor": lambda rank: dist.reduce_scatter_tensor(torch.ones(2), torch.ones(4)),
    "all-gather-into-tensor": lambda rank: dist.all_gather_into_tensor(torch.zeros(4), torch.ones(2)),
    "all-to-all": lambda rank: dist.all_to_all([torch.zeros(1), torch.zeros(1)], [torch.ones(1), torch.ones(1)]),
    "all-to-all-single": lambda rank: dist.all_to_all_single(torch.zeros(2), torch.ones(2)),
    "all-gather": lambda rank: dist.all_gather([torch.zeros(2), torch.zeros(2)], torch.ones(2)),
    "all-gather-uneven": lambda rank: dist.all_gather([torch.zeros(1), torch.zeros(2)], torch.ones(rank + 1)),
    "point-to-point": passed_on,
    "coalesced": coalesced,
    "barrier": lambda rank: dist.barrier(device_ids=[rank]),
    "split": lambda rank: dist.split_group(split_ranks=[[0], [1]]),
    "shrink": lambda rank: dist.shrink_group([1]),
    "new-group": lambda rank: dist.new_group([0, 1]),
    "new-group-nccl": lambda rank: dist.new_group([0, 1], backend="nccl"),
    "new-group-options": lambda rank: dist.new_group([0, 1], backend="gloo", pg_options=object()),
    "nccl-options": lambda rank: dist.ProcessGroupNCCL.Options(),
    "fp16-hook": lambda rank: hooked(default_hooks.fp16_compress_hook),
    "bf16-hook": lambda rank: hooked(default_hooks.bf16_compress_hook),
    "bf16-wrapper": lambda rank: hooked(default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook)),
    "ddp": lambda rank: step(DistributedDataParallel(nn.Linear(2, 2))),
    "device-ids": lambda rank: DistributedDataParallel(nn.Linear(2, 2), device_ids=[rank]),
    "device-output": lambda rank: DistributedDataParallel(nn.Linear(2, 2), output_device=1),
    "device-batchnorm": lambda rank: step(
        DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))))
    ),
    "fsdp": lambda rank: step(FullyShardedDataParallel(nn.Linear(2, 2))),
    "fsdp-on-the-cpu": lambda rank: step(FullyShardedDataParallel(nn.Linear(2, 2), device_id=torch.device("cpu"))),
    "zero": zero,
    "timeout": limits,
}
ALONE: dict[str, Try] = {
    "device-id-number": lambda rank: dist.init_process_group("gloo", device_id=0, store=dist.HashStore(), rank=0, world_size=1),
    "device-id-cuda": lambda rank: dist.init_process_group(
        "gloo", device_id=torch.device("cuda", 0), store=dist.HashStore(), rank=0, world_size=1
    ),
    "device-id-cpu": lambda rank: dist.init_process_group(
        "gloo", device_id=torch.device("cpu"), store=dist.HashStore(), rank=0, world_size=1
    ),
    "device-method": lambda rank: torch.ones(1).cuda(),
    "module-cuda": lambda rank: nn.Linear(1, 1).cuda(),
    "to-cuda": lambda rank: torch.ones(1).to("cuda"),
    "to-number": lambda rank: torch.ones(1).to(0),
    "at-cuda": lambda rank: torch.ones(1, device="cuda:0"),
    "no-device": lambda rank: 1 // torch.cuda.device_count(),
    "seed": lambda rank: torch.cuda.manual_seed_all(0),
    "state": lambda rank: torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8)),
    "empty-cache": lambda rank: torch.cuda.empty_cache(),
    "memory": lambda rank: torch.cuda.max_memory_allocated(),
    "scaler": lambda rank: torch.cuda.amp.GradScaler(),
    "device-object": lambda rank: torch.device("cuda", 0),
}
# What is called with other than nothing, or has to be used before it fails.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "torch.cuda.set_device": (0,),
    "torch.cuda.set_per_process_memory_fraction": (0.5,),
    "torch.cuda.nvtx.range_push": ("x",),
    "torch.cuda.get_device_properties": (0,),
    "torch.cuda.can_device_access_peer": (0, 1),
    "torch.accelerator.set_device_index": (0,),
    "torch.accelerator.set_device_idx": (0,),
}


def named(name: str) -> Try:
    """A call of a name of the rule data."""

    def call(rank: int) -> None:
        made: Any = torch
        for part in name.split(".")[1:]:
            made = getattr(made, part)
        made = made(*ARGUMENTS.get(name, ()))
        if hasattr(made, "__enter__"):
            made.__enter__()

    return call


def outcome(attempt: Try, rank: int) -> str:
    try:
        with warned():
            attempt(rank)
    except Exception as why:
        return f"{type(why).__name__}: {why}".partition("\n")[0]
    return ""


def main() -> None:
    rank, store, names = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    found = {}
    for name, attempt in ALONE.items():
        found[name] = outcome(attempt, rank)
        if dist.is_initialized():  # before 2.6 a refused device_id leaves a group behind
            dist.destroy_process_group()
    found |= {name: outcome(named(name), rank) for name in names if not dist.is_initialized()}
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2, timeout=timedelta(seconds=60))
    for name, attempt in GROUP.items():
        found[name] = outcome(attempt, rank)
    dist.destroy_process_group()
    about = {"torch": torch.__version__, "nccl": dist.is_nccl_available(), "gpus": torch.cuda.device_count()}
    print(json.dumps({**about, "found": found}))


if __name__ == "__main__":
    main()
