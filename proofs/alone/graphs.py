"""Stands in for a library that is not there to be read: it asks the group where it is switched on, or by itself."""

import torch.distributed as dist


class Loader:
    def __init__(self, data, shuffle=False, use_ddp=False, rank=None):
        self.data = data[dist.get_rank() :: dist.get_world_size()] if use_ddp else data
        if rank is not None:
            dist.get_world_size()

    def __iter__(self):
        return iter(self.data)


class DistributedItems(Loader):
    def __init__(self, data):
        super().__init__(data, use_ddp=True)


def plain(data):
    return list(data)


def average_dist(value):
    return value / dist.get_world_size()
