"""Samplers that ask the group for what they are not told."""

import torch.distributed as dist


class DistributedSampler:
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True):
        self.parts = dist.get_world_size() if num_replicas is None else num_replicas
        self.rank = dist.get_rank() if rank is None else rank
        self.dataset = dataset

    def __iter__(self):
        return iter(self.dataset[self.rank :: self.parts])
