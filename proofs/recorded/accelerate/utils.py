# ruff: noqa
"""What handlers give, as accelerate 1.x does it: only what differs from a handler made of nothing."""

import copy
from dataclasses import dataclass
from datetime import timedelta
from typing import Optional


class KwargsHandler:
    def to_dict(self):
        return copy.deepcopy(self.__dict__)

    def to_kwargs(self):
        default = self.__class__().to_dict()
        return {key: value for key, value in self.to_dict().items() if default[key] != value}


@dataclass
class DistributedDataParallelKwargs(KwargsHandler):
    find_unused_parameters: bool = False
    static_graph: bool = False


@dataclass
class InitProcessGroupKwargs(KwargsHandler):
    backend: Optional[str] = "nccl"
    init_method: Optional[str] = None
    timeout: Optional[timedelta] = None

    def __post_init__(self):
        if self.timeout is None:
            self.timeout = timedelta(seconds=1800 if self.backend != "nccl" else 600)


def set_seed(seed):
    return None
