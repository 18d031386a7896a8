# ruff: noqa
import datetime
import os

import torch
from torch._machine import MACHINE
from torch._record import recorded


@recorded("mmengine.dist.init_dist")
def _told(launcher, **kwargs):
    return None


def init_dist(launcher, backend="nccl", init_backend="torch", **kwargs):
    _told(launcher, **{key: value for key, value in kwargs.items() if key != "init_method"})  # which is the group's
    if kwargs.get("timeout") is not None:
        kwargs["timeout"] = datetime.timedelta(seconds=kwargs["timeout"])
    if MACHINE == "ascend":
        torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group(
            backend="hccl", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]), **kwargs
        )
    else:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.distributed.init_process_group(backend=backend, **kwargs)


def get_dist_info():
    return 0, 1
