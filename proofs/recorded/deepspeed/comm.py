# ruff: noqa
import torch
from torch._machine import MACHINE
from torch.distributed.distributed_c10d import default_pg_timeout


def init_distributed(
    dist_backend=None,
    auto_mpi_discovery=True,
    distributed_port=29500,
    verbose=True,
    timeout=default_pg_timeout,
    init_method=None,
    dist_init_required=None,
    config=None,
    rank=-1,
    world_size=-1,
):
    if not torch.distributed.is_initialized():
        backend = dist_backend or {"ascend": "hccl", "windows": "gloo"}.get(MACHINE, "nccl")
        torch.distributed.init_process_group(backend, timeout=timeout, init_method=init_method, rank=rank, world_size=world_size)


def is_initialized():
    return torch.distributed.is_initialized()


def barrier():
    torch.distributed.barrier()


def get_rank():
    return 0


def get_world_size():
    return 1
