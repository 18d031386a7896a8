"""Stands in for torch where one process trains: whatever asks for a process group ends the program unless there is one."""

import torch.cuda
import torch.distributed
import torch.multiprocessing
import torch.nn
import torch.utils
import torch.utils.data  # noqa: F401


class Tensor:
    """A list of numbers."""

    def __init__(self, *values):
        self.values = list(values)

    def detach(self):
        return Tensor(*self.values)

    def copy_(self, other):
        self.values = list(other.values)
        return self

    def __mul__(self, number):
        return Tensor(*(value * number for value in self.values))

    def __repr__(self):
        return f"Tensor{tuple(self.values)}"
