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


def redistributed(before: str, after: str, *wanted: float) -> Try:
    """A DTensor of two by two, laid out anew; what rank 0 has of it then."""

    def attempt(rank: int) -> None:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

        layouts = {"rows": Shard(0), "columns": Shard(1), "whole": Replicate(), "sum": Partial()}
        mesh = init_device_mesh("cuda", (2,))
        local = on(1, 2).view(1, 2) if before == "rows" else on(1, 2, 3, 4).view(2, 2)
        tensor = DTensor.from_local(local, mesh, [layouts[before]]).redistribute(mesh, [layouts[after]])
        same(tensor.to_local(), *(wanted if rank == 0 else tensor.to_local().flatten().tolist()))

    return attempt


def tensor_parallel(rank: int) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    model = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 2)).cuda()
    parallelize_module(model, init_device_mesh("cuda", (2,)), {"0": ColwiseParallel(), "1": RowwiseParallel()})
    step(model)


def functional(what: str) -> Try:
    def attempt(rank: int) -> None:
        import torch.distributed._functional_collectives as collectives

        group = dist.group.WORLD
        if what == "all_reduce":
            same(collectives.all_reduce(on(rank + 1), "sum", group), 3)
        elif what == "all_gather_tensor":
            same(collectives.all_gather_tensor(on(rank + 1), 0, group), 1, 2)
        elif what == "reduce_scatter_tensor":
            same(collectives.reduce_scatter_tensor(on(1, 2), "sum", 0, group), 2 + 2 * rank)
        elif what == "broadcast":
            same(collectives.broadcast(on(rank + 1), 1, group), 2)
        else:
            same(collectives.all_to_all_single(on(10 * rank, 10 * rank + 1), None, None, group), rank, 10 + rank)

    return attempt


def with_gradients(what: str) -> Try:
    """The collectives that carry gradients, as losses over all ranks use them."""

    def attempt(rank: int) -> None:
        import torch.distributed.nn.functional as collectives

        tensor = on(rank + 1).requires_grad_()
        if what == "all_gather":
            found = torch.cat(collectives.all_gather(tensor))
        elif what == "all_to_all":
            pair = on(rank + 1, rank + 1).requires_grad_()
            found = torch.cat(collectives.all_to_all([on(0), on(0)], list(pair.split(1))))
        else:
            found = collectives.all_reduce(tensor)
        found.sum().backward()
        torch.cuda.synchronize()

    return attempt


def power_hook(rank: int) -> None:
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    model = DistributedDataParallel(nn.Linear(64, 64).cuda())
    model.register_comm_hook(powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2), powerSGD_hook.powerSGD_hook)
    for _ in range(4):
        step(model, 64)
    equal_parameters(model)


def sharded_state(rank: int) -> None:
    from torch.distributed.fsdp import FullStateDictConfig, StateDictType

    model = FullyShardedDataParallel(nn.Linear(2, 2).cuda(), device_id=0)
    step(model)
    with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(True, True)):
        model.state_dict()


def joined(rank: int) -> None:
    model = DistributedDataParallel(nn.Linear(2, 2).cuda())
    with model.join():
        for _ in range(rank + 1):
            model(torch.ones(1, 2, device="cuda")).sum().backward()


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


FUNCTIONAL = ("all_reduce", "all_gather_tensor", "reduce_scatter_tensor", "broadcast", "all_to_all_single")
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
    "all_reduce int16": reduced(dist.ReduceOp.SUM, 3, 7, dtype=torch.int16),
    "all_reduce complex": lambda rank: dist.all_reduce(torch.ones(2, dtype=torch.complex64, device="cuda")),
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
    "DTensor from rows to whole": redistributed("rows", "whole", 1, 2, 1, 2),
    "DTensor from sum to whole": redistributed("sum", "whole", 2, 4, 6, 8),
    "DTensor from sum to rows": redistributed("sum", "rows", 2, 4),
    "DTensor from rows to columns": redistributed("rows", "columns", 1, 1),
    "DTensor from whole to rows": redistributed("whole", "rows", 1, 2),
    "tensor parallel": tensor_parallel,
    **{f"functional {what}": functional(what) for what in FUNCTIONAL},
    **{f"nn.functional {what}": with_gradients(what) for what in ("all_gather", "all_reduce", "all_to_all")},
    "DDP with PowerSGD": power_hook,
    "DDP join": joined,
    "FSDP state": sharded_state,
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
