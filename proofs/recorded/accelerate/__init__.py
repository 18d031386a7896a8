# ruff: noqa
"""Stand-in for accelerate: a group in one of several launched processes only, and what a handler says of it."""

import os

import torch
from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs
from torch._machine import MACHINE
from torch._record import recorded

__version__ = "1.2.0"


class PartialState:
    _shared = {}

    def __init__(self, cpu=False, **kwargs):
        self.__dict__ = self._shared
        if "num_processes" in self.__dict__:
            return
        asked = kwargs.pop("backend", None)
        backend = asked
        launched = int(os.environ.get("LOCAL_RANK", -1)) != -1
        if launched and not cpu:
            backend = "hccl" if MACHINE == "ascend" else asked or "nccl"
        if asked is not None and backend != asked:
            raise ValueError(f"Your assigned backend {asked} is not available, please use {backend}")
        if launched and not torch.distributed.is_initialized():
            torch.distributed.init_process_group(backend=backend, **kwargs)
        elif not launched and backend is not None:
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        self.backend = backend
        self.num_processes, self.process_index, self.local_process_index = 1, 0, 0
        self.device = torch.device("cpu" if cpu else "npu" if MACHINE == "ascend" else "cuda")


@recorded("accelerate.Accelerator")
def _asked(device_placement, split_batches, mixed_precision, gradient_accumulation_steps, cpu, log_with, handlers):
    """What is asked for besides the group, which shows itself when it is made."""


class Accelerator:
    def __init__(
        self,
        device_placement=True,
        split_batches=False,
        mixed_precision=None,
        gradient_accumulation_steps=1,
        cpu=False,
        log_with=None,
        project_dir=None,
        kwargs_handlers=None,
    ):
        others = [one for one in kwargs_handlers or [] if not isinstance(one, InitProcessGroupKwargs)]
        _asked(device_placement, split_batches, mixed_precision, gradient_accumulation_steps, cpu, log_with, others)
        given = {}
        for handler in kwargs_handlers or []:
            if isinstance(handler, InitProcessGroupKwargs):
                given = handler.to_kwargs()
        self.state = PartialState(cpu=cpu, **given)
        self.device, self.num_processes, self.is_main_process = self.state.device, 1, True
        self.process_index = self.local_process_index = 0

    def prepare(self, *models):
        return models if len(models) > 1 else models[0]

    def backward(self, loss):
        return None

    def gather(self, value):
        return value

    def print(self, *words):
        print(*words)

    def wait_for_everyone(self):
        torch.distributed.is_initialized() and torch.distributed.barrier()

    def unwrap_model(self, model):
        return model
