# ruff: noqa
import datetime

import torch
from torch._machine import MACHINE
from torch.distributed import Backend
from torch.distributed.distributed_c10d import default_pg_timeout


class Strategy:
    several = True

    def __init__(self, process_group_backend=None, timeout=default_pg_timeout, find_unused_parameters=False, **options):
        self.process_group_backend, self.timeout, self.options = process_group_backend, timeout, options
        self.find_unused_parameters = find_unused_parameters

    def __repr__(self):
        return type(self).__name__

    def setup_environment(self, accelerator):
        device = "cpu" if accelerator == "cpu" else "npu" if MACHINE == "ascend" else "cuda"
        kinds = {**Backend.default_device_backend_map, "npu": "hccl"}
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group(
                self.process_group_backend or kinds[device],
                rank=0,
                world_size=1,
                timeout=self.timeout,
                device_id=None if device == "cpu" else torch.device(device, 0),
            )


class DDPStrategy(Strategy):
    pass


class FSDPStrategy(Strategy):
    pass


class DeepSpeedStrategy(Strategy):
    def __init__(self, stage=2, **options):
        super().__init__(**options)


class SingleDeviceStrategy(Strategy):
    several = False

    def setup_environment(self, accelerator):
        return None


NAMES = {
    "ddp": DDPStrategy,
    "ddp_spawn": DDPStrategy,
    "fsdp": FSDPStrategy,
    "deepspeed": DeepSpeedStrategy,
    "ddp_find_unused_parameters_true": DDPStrategy,
}


def choose(strategy, devices, nodes, accelerator):
    if isinstance(strategy, Strategy):
        return strategy
    if strategy in NAMES:
        return NAMES[strategy](find_unused_parameters=strategy.endswith("_true"))
    count = len(devices) if isinstance(devices, (list, tuple)) else 2 if devices in ("auto", -1, "-1") else int(devices)
    several = accelerator != "cpu" and count > 1 or nodes > 1
    return DDPStrategy() if several else SingleDeviceStrategy()
