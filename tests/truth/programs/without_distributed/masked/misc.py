import os

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp, all_reduce


def init_distributed_mode():
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        print("Not using distributed mode")
        return False
    dist.init_process_group(backend="nccl", init_method="env://")
    dist.barrier()
    return True


def is_dist_avail_and_initialized():
    if not dist.is_available():
        return False
    if not dist.is_initialized():  # noqa: SIM103 - as such projects write it
        return False
    return True


def get_world_size():
    if not is_dist_avail_and_initialized():
        return 1
    return dist.get_world_size()


def get_rank():
    if not is_dist_avail_and_initialized():
        return 0
    return dist.get_rank()


def is_main_process():
    return get_rank() == 0


def all_reduce_mean(x):
    world_size = get_world_size()
    if world_size > 1:
        x_reduce = torch.tensor(x).cuda()
        all_reduce(x_reduce, op=ReduceOp.SUM)
        x_reduce /= world_size
        return x_reduce.item()
    return x
