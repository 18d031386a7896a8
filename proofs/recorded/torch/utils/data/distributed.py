# ruff: noqa
from torch._record import recorded


class DistributedSampler:
    @recorded("torch.utils.data.DistributedSampler")
    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0):
        self.dataset = dataset

    def set_epoch(self, epoch):
        return None

    def __repr__(self):
        return "DistributedSampler"
