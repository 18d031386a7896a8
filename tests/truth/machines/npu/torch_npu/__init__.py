"""In place of the plugin for Ascend devices, on a CPU build of torch: "npu" lies on the CPU, hccl is answered by gloo.

torch.cuda stays what a CPU build has, so what is sent to "cuda" fails as it does there. What the project's own files still ask of it, and a
model on the device whose group has no hccl, is printed or refused.
"""

import functools
import os
import sys
import types
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

COUNT = 2
ROOT = str(Path.cwd().resolve())
current = [0]


def is_npu(device):
    if isinstance(device, torch.device):
        return device.type == "npu"
    return (isinstance(device, int) and not isinstance(device, bool)) or (isinstance(device, str) and device.startswith("npu"))


def on_cpu(function, moved=lambda self: None):
    """The function, with the CPU in place of the device."""

    @functools.wraps(function)
    def call(self, *given, **named):
        if (given and is_npu(given[0])) or is_npu(named.get("device")):
            moved(self)
        given = tuple("cpu" if place == 0 and is_npu(value) else value for place, value in enumerate(given))
        return function(
            self, *given, **{name: "cpu" if name == "device" and is_npu(value) else value for name, value in named.items()}
        )

    return call


def set_device(device):
    index = device if isinstance(device, int) else torch.device(device).index
    if not is_npu(device) or not 0 <= (index or 0) < COUNT:
        raise RuntimeError(f"no such NPU: {device}")
    current[0] = index or 0


def mark(module):
    module.lies_on_npu = True


npu = types.ModuleType("torch_npu.npu")
npu.__dict__.update(
    is_available=lambda: True, device_count=lambda: COUNT, current_device=lambda: current[0], set_device=set_device,
    synchronize=lambda device=None: None, empty_cache=lambda: None, manual_seed_all=lambda seed: None, manual_seed=lambda seed: None,
    get_amp_supported_dtype=lambda: [torch.float16, torch.bfloat16], is_initialized=lambda: True, _is_in_bad_fork=lambda: False,
)  # fmt: skip
npu.amp = types.ModuleType("torch_npu.npu.amp")
npu.amp.autocast = functools.partial(torch.autocast, "npu")
npu.amp.GradScaler = functools.partial(torch.amp.GradScaler, "npu")
torch.utils.rename_privateuse1_backend("npu")
torch.npu = sys.modules["torch.npu"] = sys.modules["torch_npu.npu"] = npu
torch.Tensor.to, torch.nn.Module.to = on_cpu(torch.Tensor.to), on_cpu(torch.nn.Module.to, mark)
torch.Tensor.npu = lambda self, device=None, non_blocking=False: self
torch.nn.Module.npu = lambda self, device=None: self.to("npu")
torch.Tensor.is_npu = True


def made_on_cpu(function):
    """A function that makes tensors, with the CPU in place of the device."""
    return lambda *given, **named: function(
        *given, **{key: "cpu" if key == "device" and is_npu(value) else value for key, value in named.items()}
    )


for name in ("zeros", "ones", "tensor", "rand", "randn", "arange", "empty", "full"):
    setattr(torch, name, made_on_cpu(getattr(torch, name)))
load = torch.load
torch.load = lambda file, map_location=None, **named: load(file, "cpu" if is_npu(map_location) else map_location, **named)
torch._C._get_accelerator = lambda *given: torch.device("cpu")  # which barrier() asks
dist.is_hccl_available = lambda: True
dist.Backend.register_backend(
    "hccl", lambda store, rank, size, timeout: dist.ProcessGroupGloo(store, rank, size, timeout), devices=["npu", "cpu"]
)
init = DistributedDataParallel.__init__


def wrapped(self, module, device_ids=None, output_device=None, **named):
    if getattr(module, "lies_on_npu", False) and "hccl" not in str(dist.get_backend_config(named.get("process_group"))):
        raise RuntimeError("No backend type associated with device type npu")
    init(self, module, **named)


DistributedDataParallel.__init__ = wrapped


class Watched(types.ModuleType):
    """torch.cuda, which says what the project's own files ask of it."""

    def __getattribute__(self, name):
        frame = sys._getframe(1)
        if not name.startswith("__") and os.path.realpath(frame.f_code.co_filename).startswith(ROOT):
            print(f"asked torch.cuda.{name} at {frame.f_code.co_filename}:{frame.f_lineno}", flush=True)
        return types.ModuleType.__getattribute__(self, name)


torch.cuda.__class__ = Watched
