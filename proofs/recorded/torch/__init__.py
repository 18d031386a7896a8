# ruff: noqa
"""Stand-in for torch: does nothing, and writes down what it was asked for."""

import ast as _ast

from torch._machine import MACHINE as _machine
from torch._record import recorded as _recorded

__version__ = "2.4.1"

float16 = "float16"
bfloat16 = "bfloat16"
float32 = "float32"


class device:
    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        elif ":" in type:
            type, index = type.split(":")[0], int(type.split(":")[1])
        self.type, self.index = type, index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __eq__(self, other):
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Tensor:
    def __init__(self, values=(), device="cpu"):
        self.values, self.device = values, device

    def to(self, *args, **kwargs):
        return self

    def cuda(self, *args, **kwargs):
        return self

    def item(self):
        return self.values

    def __repr__(self):
        return f"tensor({self.values!r})"


@_recorded("torch.tensor")
def tensor(data, dtype=None, device=None):
    return Tensor(data, device)


@_recorded("torch.zeros")
def zeros(*size, dtype=None, device=None):
    return Tensor(0.0, device)


@_recorded("torch.ones")
def ones(*size, dtype=None, device=None):
    return Tensor(1.0, device)


@_recorded("torch.manual_seed")
def manual_seed(seed):
    return None


@_recorded("torch.set_num_threads")
def set_num_threads(count):
    return None


@_recorded("torch.save")
def save(obj, f):
    with open(f, "w", encoding="utf-8") as out:
        out.write(repr(obj))


@_recorded("torch.load")
def load(f, map_location=None, weights_only=None):
    with open(f, encoding="utf-8") as source:
        return _ast.literal_eval(source.read())


class autocast:
    @_recorded("torch.autocast")
    def __init__(self, device_type, dtype=None, enabled=True):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


from torch import (
    backends,
    cuda,
    distributed,
    multiprocessing,
    nn,
    optim,
    utils,
    version,
)

if _machine == "ascend":
    from torch import npu
