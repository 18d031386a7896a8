import torch.distributed as dist


def mean_over_ranks(value):
    value = value.clone().detach()
    dist.all_reduce(value, op=dist.ReduceOp.SUM)
    return (value / dist.get_world_size()).item()
