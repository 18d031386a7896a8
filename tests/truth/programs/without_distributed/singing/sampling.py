from torch.utils.data.distributed import DistributedSampler


class Buckets(DistributedSampler):
    """Batches of like lengths."""

    def __init__(self, data, num_replicas=None, rank=None, shuffle=True):
        super().__init__(data, num_replicas=num_replicas, rank=rank, shuffle=shuffle)
