# ruff: noqa
from torch._record import recorded
from torch.utils.data import distributed
from torch.utils.data.distributed import DistributedSampler


class Dataset:
    pass


class DataLoader:
    @recorded("torch.utils.data.DataLoader")
    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        num_workers=0,
        pin_memory=False,
        drop_last=False,
    ):
        self.dataset = dataset

    def __iter__(self):
        return iter(self.dataset)

    def __len__(self):
        return len(self.dataset)
