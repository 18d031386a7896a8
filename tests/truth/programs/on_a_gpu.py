"""Tries one thing that advice is about with tensors on a GPU: two ranks, one group, one card.

Run as BACKEND CASE RANK STORE, two of them at a time; a process of its own for each case, since some end the process. Prints one JSON
object: "" where it works and gives the right numbers, else the error. Two ranks of NCCL may share a card where they say that they
are on two hosts (NCCL_HOSTID).
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
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


def on(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype, device="cuda")


def same(found: torch.Tensor, *wanted: float) -> None:
    torch.cuda.synchronize()
    if found.flatten().tolist() != list(wanted):
        raise ValueError(f"wrong numbers: {found.tolist()}")


def reduced(op: Any, *wanted: float, dtype: torch.dtype = torch.float32) -> Try:
    def attempt(rank: int) -> None:
        tensor = on(rank + 1, rank + 3, dtype=dtype)
        dist.all_reduce(tensor, op=op)
        same(tensor, *wanted)

    return attempt


def broadcast(rank: int) -> None:
    tensor = on(rank + 1)
    dist.broadcast(tensor, 1)
    same(tensor, 2)


def reduce(rank: int) -> None:
    tensor = on(rank + 1)
    dist.reduce(tensor, 0)
    same(tensor, *([3] if rank == 0 else tensor.tolist()))


def gathered(rank: int) -> None:
    parts = [on(0), on(0)]
    dist.all_gather(parts, on(rank + 1))
    same(torch.cat(parts), 1, 2)


def gathered_uneven(rank: int) -> None:
    dist.all_gather([on(0), on(0, 0)], on(*range(rank + 1)))


def gathered_into_one(rank: int) -> None:
    whole = on(0, 0)
    dist.all_gather_into_tensor(whole, on(rank + 1))
    same(whole, 1, 2)


def gathered_scalars(rank: int) -> None:
    whole = on(0, 0)
    dist.all_gather_into_tensor(whole, torch.tensor(rank + 1.0, device="cuda"))
    same(whole, 1, 2)


def gathered_at_one(rank: int) -> None:
    parts = [on(0), on(0)]
    dist.gather(on(rank + 1), parts if rank == 0 else None, dst=0)
    same(torch.cat(parts), *([1, 2] if rank == 0 else [0, 0]))


def scattered(rank: int) -> None:
    tensor = on(0)
    dist.scatter(tensor, [on(5), on(6)] if rank == 0 else None, src=0)
    same(tensor, 5 + rank)


def reduce_scattered(rank: int) -> None:
    tensor = on(0)
    dist.reduce_scatter(tensor, [on(1), on(2)])
    same(tensor, 2 + 2 * rank)


def reduce_scattered_tensor(rank: int) -> None:
    tensor = on(0)
    dist.reduce_scatter_tensor(tensor, on(1, 2))
    same(tensor, 2 + 2 * rank)


def sent(rank: int) -> None:
    tensor = on(rank + 1)
    dist.recv(tensor, 0) if rank else dist.send(tensor, 1)
    same(tensor, 1)


def sent_in_a_batch(rank: int) -> None:
    tensor = on(0)
    peers = [dist.P2POp(dist.isend, on(rank + 1), 1 - rank), dist.P2POp(dist.irecv, tensor, 1 - rank)]
    for work in dist.batch_isend_irecv(peers):
        work.wait()
    same(tensor, 2 - rank)


def all_to_all(rank: int) -> None:
    parts = [on(0), on(0)]
    dist.all_to_all(parts, [on(10 * rank), on(10 * rank + 1)])
    same(torch.cat(parts), rank, 10 + rank)


def all_to_all_single(rank: int) -> None:
    tensor = on(0, 0)
    dist.all_to_all_single(tensor, on(10 * rank, 10 * rank + 1))
    same(tensor, rank, 10 + rank)


def coalesced(rank: int) -> None:
    tensors = [on(rank + 1), on(rank + 1)]
    dist.all_reduce_coalesced(tensors)
    same(torch.cat(tensors), 3, 3)


def coalescing(gather: bool) -> Try:
    def attempt(rank: int) -> None:
        whole, tensor = on(0, 0), on(rank + 1)
        with distributed_c10d._coalescing_manager():
            if gather:
                dist.all_gather_into_tensor(whole, tensor)
            else:
                dist.all_reduce(tensor)
        same(*([whole, 1, 2] if gather else [tensor, 3]))

    return attempt


def objects(rank: int) -> None:
    found: list[Any] = [None, None]
    dist.all_gather_object(found, {"rank": rank})
    if found != [{"rank": 0}, {"rank": 1}]:
        raise ValueError(f"wrong objects: {found}")


def sparse(rank: int) -> None:
    tensor = torch.sparse_coo_tensor([[rank]], [1.0], (2,), device="cuda")
    dist.all_reduce(tensor)
    same(tensor.to_dense(), 1, 1)


def asynchronous(rank: int) -> None:
    tensor = on(rank + 1)
    dist.all_reduce(tensor, async_op=True).wait()
    same(tensor, 3)


def step(model: nn.Module, width: int = 2) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(3, width, device="cuda") * (dist.get_rank() + 1)).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()


def equal_parameters(model: nn.Module) -> None:
    mine = torch.cat([one.detach().flatten() for one in model.parameters()]).cpu()
    all_of_them: list[Any] = [None, None]
    dist.all_gather_object(all_of_them, mine.tolist())
    if all_of_them[0] != all_of_them[1]:
        raise ValueError("the ranks train apart")


def wrapped(inner: Callable[[], nn.Module], hook: Any = None, **arguments: Any) -> Try:
    def attempt(rank: int) -> None:
        torch.manual_seed(rank)
        model = DistributedDataParallel(inner().cuda(), **arguments)
        if hook is not None:
            model.register_comm_hook(None, hook)
        step(model)
        equal_parameters(model)

    return attempt


def normalized() -> nn.Module:
    return nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2)))


def fully_sharded(rank: int) -> None:
    step(FullyShardedDataParallel(nn.Linear(2, 2).cuda(), device_id=0))


def fully_shard_two(rank: int) -> None:
    from torch.distributed.fsdp import fully_shard

    model = nn.Linear(2, 2).cuda()
    fully_shard(model)
    step(model)


def mesh_of_the_group(rank: int) -> None:
    from torch.distributed.device_mesh import init_device_mesh

    found = dist.get_backend_config(init_device_mesh("cuda", (2,)).get_group())
    if "nccl" in found and dist.get_backend() == "gloo":
        raise ValueError(f"the mesh has another backend: {found}")


def distributed_tensor(rank: int) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cuda", (2,))
    whole = distribute_tensor(torch.arange(4.0, device="cuda"), mesh, [Shard(0)]).redistribute(mesh, [Replicate()]).to_local()
    same(whole, 0, 1, 2, 3)


def sharded_optimizer(rank: int) -> None:
    model = DistributedDataParallel(nn.Linear(2, 2).cuda())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    model(torch.ones(3, 2, device="cuda") * (rank + 1)).sum().backward()
    optimizer.step()
    equal_parameters(model)


def subgroup(rank: int) -> None:
    tensor = on(rank + 1)
    dist.all_reduce(tensor, group=dist.new_group([0, 1]))
    same(tensor, 3)


CASES: dict[str, Try] = {
    "all_reduce": reduced(dist.ReduceOp.SUM, 3, 7),
    "all_reduce float16": reduced(dist.ReduceOp.SUM, 3, 7, dtype=torch.float16),
    "all_reduce bfloat16": reduced(dist.ReduceOp.SUM, 3, 7, dtype=torch.bfloat16),
    "all_reduce int64": reduced(dist.ReduceOp.SUM, 3, 7, dtype=torch.int64),
    "all_reduce bool": reduced(dist.ReduceOp.MAX, 1, 1, dtype=torch.bool),
    "all_reduce MAX": reduced(dist.ReduceOp.MAX, 2, 4),
    "all_reduce AVG": reduced(dist.ReduceOp.AVG, 1.5, 3.5),
    "all_reduce PREMUL_SUM": lambda rank: dist.all_reduce(on(1), op=dist._make_nccl_premul_sum(2.0)),
    "all_reduce sparse": sparse,
    "all_reduce async": asynchronous,
    "all_reduce_coalesced": coalesced,
    "broadcast": broadcast,
    "reduce": reduce,
    "all_gather": gathered,
    "all_gather uneven": gathered_uneven,
    "all_gather_into_tensor": gathered_into_one,
    "all_gather_into_tensor of scalars": gathered_scalars,
    "gather": gathered_at_one,
    "scatter": scattered,
    "reduce_scatter": reduce_scattered,
    "reduce_scatter_tensor": reduce_scattered_tensor,
    "send and recv": sent,
    "batch_isend_irecv": sent_in_a_batch,
    "all_to_all": all_to_all,
    "all_to_all_single": all_to_all_single,
    "coalescing all_reduce": coalescing(False),
    "coalescing all_gather_into_tensor": coalescing(True),
    "all_gather_object": objects,
    "barrier": lambda rank: dist.barrier(),
    "barrier with device_ids": lambda rank: dist.barrier(device_ids=[0]),
    "monitored_barrier": lambda rank: dist.monitored_barrier(),
    "new_group": subgroup,
    "split_group": lambda rank: dist.split_group(split_ranks=[[0, 1]]),
    "shrink_group": lambda rank: dist.shrink_group([1]),
    "DDP": wrapped(lambda: nn.Linear(2, 2)),
    "DDP with device_ids": wrapped(lambda: nn.Linear(2, 2), device_ids=[0]),
    "DDP with SyncBatchNorm": wrapped(normalized, device_ids=[0]),
    "DDP with the fp16 hook": wrapped(lambda: nn.Linear(2, 2), default_hooks.fp16_compress_hook),
    "DDP with the bf16 hook": wrapped(lambda: nn.Linear(2, 2), default_hooks.bf16_compress_hook),
    "FSDP": fully_sharded,
    "fully_shard": fully_shard_two,
    "mesh": mesh_of_the_group,
    "DTensor": distributed_tensor,
    "ZeroRedundancyOptimizer": sharded_optimizer,
}


def main() -> None:
    backend, case, rank, store = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    torch.cuda.set_device(0)
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=2, timeout=timedelta(seconds=40))
    found = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CASES[case](rank)
    except Exception as why:
        found = f"{type(why).__name__}: {why}".partition("\n")[0]
    print(json.dumps({"torch": torch.__version__, "found": found}), flush=True)


if __name__ == "__main__":
    main()
