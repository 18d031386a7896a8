"""The wrapping."""

import contextlib

import torch.distributed as dist


class DistributedDataParallel:
    def __init__(self, module, device_ids=None, output_device=None, find_unused_parameters=False):
        dist._asked("wrap")
        self.module = module

    def __call__(self, data):
        return self.module(data)

    @contextlib.contextmanager
    def no_sync(self):
        dist._asked("no_sync")
        yield

    @contextlib.contextmanager
    def join(self, enable=True):
        dist._asked("join")
        yield

    def state_dict(self, prefix=""):
        return self.module.state_dict(f"{prefix}module.")

    def load_state_dict(self, state):
        self.module.load_state_dict({key.removeprefix("module."): value for key, value in state.items()})
