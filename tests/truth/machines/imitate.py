"""Imitates another machine, on a CPU, for the code of one project.

A machine is a dict with ``root`` (the project's folder) and any of

``gpus``: how many devices torch.cuda shows; ``hip``: they are AMD's
``os.name``, ``sys.platform``, ``platform.system``: what the project's own files are told
``cuda``: torch is a CUDA build; ``names``: what the GPUs are called
``nccl``: whether torch was built with it
``accelerator``: "npu" and its like, which then is there as torch.npu
``npu``: true where the plugin for Ascend devices is installed, and they are there
``libuv``: false where torch was built without it
``distributed``: false where torch was built without torch.distributed, which then is a bare module
``sockets``: false where no socket can be opened and no process group formed

Tensors and modules stay on the CPU wherever they are sent. torch.distributed is left alone: a CPU build has gloo and no NCCL.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import os
import platform
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any


def install(machine: dict[str, Any]) -> None:
    """Make this process the machine; torch is changed when the process has imported it, which many never do."""
    _tell_project(machine)
    if machine.get("npu"):
        sys.path.append(str(Path(__file__).with_name("npu")))
    if not machine.get("distributed", True):
        sys.meta_path.insert(0, _WithoutDistributed())
    _once_imported("torch", lambda: _change_torch(machine))


def _change_torch(machine: dict[str, Any]) -> None:
    if "gpus" in machine:
        _show_gpus(machine["gpus"], machine.get("hip", False))
    import torch

    if "names" in machine:
        torch.cuda.get_device_name = lambda device=None: machine["names"][device or 0]
    if machine.get("cuda"):
        torch.version.cuda = "12.8"
    if "nccl" in machine:
        torch.distributed.is_nccl_available = lambda: machine["nccl"]
    if "accelerator" in machine:
        name = machine["accelerator"]
        setattr(torch, name, getattr(torch, name, types.SimpleNamespace()))  # torch has xpu of its own
        for function, answer in _device_module(1).items():
            setattr(getattr(torch, name), function, answer)
    if not machine.get("sockets", True):
        _close_network()
    if not machine.get("libuv", True):
        import nolibuv

        nolibuv.install()


class _WithoutDistributed(importlib.abc.MetaPathFinder):
    """Takes out of torch's library what a build with USE_DISTRIBUTED=0 lacks, before torch looks for it."""

    lacks = ("_c10d_init", "_distributed_c10d", "_rpc_init", "_distributed_rpc", "_dist_autograd_init", "_distributed_autograd")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch._C":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            for part in (*self.lacks, "_faulty_agent_init"):
                sys.modules.pop(f"torch._C.{part}", None)
                if hasattr(module, part):
                    delattr(module, part)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _close_network() -> None:
    """No group, no store and no socket but those between the processes of one program."""
    import socket

    import torch.distributed

    def refused(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("this machine forbids process groups")

    torch.distributed.init_process_group = torch.distributed.distributed_c10d.init_process_group = refused
    torch.distributed.TCPStore = torch.distributed.FileStore = refused
    real = socket.socket.__init__

    def init(self: Any, family: int = socket.AF_INET, *rest: Any, **options: Any) -> None:
        if family != socket.AF_UNIX and "fileno" not in options:
            raise RuntimeError("this machine forbids sockets")
        real(self, family, *rest, **options)

    socket.socket.__init__ = init  # type: ignore[method-assign]


def _once_imported(name: str, act: Callable[[], None]) -> None:
    """Act as soon as the module is there whole."""
    importing, waiting = builtins.__import__, [act]

    def watching(*arguments: Any, **options: Any) -> Any:
        result = importing(*arguments, **options)
        module = sys.modules.get(name)
        if waiting and module is not None and not getattr(module.__spec__, "_initializing", False):
            waiting.pop()()
        return result

    builtins.__import__ = watching


class _Told(types.ModuleType):
    """A standard module, but for the attributes that the machine answers differently."""

    def __init__(self, real: types.ModuleType, **told: Any) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(told, _real=real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)


def _tell_project(machine: dict[str, Any]) -> None:
    """Only files of the project get the told modules: pathlib and others break when os.name lies to them."""
    told = {}
    if "os.name" in machine:
        told["os"] = _Told(os, name=machine["os.name"])
    if "sys.platform" in machine:
        told["sys"] = _Told(sys, platform=machine["sys.platform"])
    if "platform.system" in machine:
        told["platform"] = _Told(platform, system=lambda: machine["platform.system"])
    if not told:
        return
    real_import, root = builtins.__import__, Path(machine["root"]).resolve()

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = real_import(name, globals, locals, fromlist, level)
        ours = level == 0 and name in told and root in Path((globals or {}).get("__file__") or "/").resolve().parents
        return told[name] if ours else module

    builtins.__import__ = importing


def _device_module(count: int) -> dict[str, Callable[..., Any]]:
    """What torch.cuda and its like answer on a machine with so many devices."""
    current = [0]

    def set_device(device: Any) -> None:
        index = _index(device)
        if count and index is not None and index >= count:
            raise RuntimeError("CUDA error: invalid device ordinal")
        current[0] = index or 0

    return {
        "is_available": lambda: count > 0,
        "device_count": lambda: count,
        "set_device": set_device,
        "current_device": lambda: current[0],
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
    }


def _show_gpus(count: int, hip: bool) -> None:
    import torch
    from torch.nn.parallel import DistributedDataParallel

    for name, answer in _device_module(count).items():
        setattr(torch.cuda, name, answer)
    if hip:
        torch.version.hip = "6.4.0"

    for owner in (torch.Tensor, torch.nn.Module):
        _keep_on_cpu(owner)
    construct = DistributedDataParallel.__init__

    def init(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *rest: Any, **options: Any) -> None:
        construct(self, module, None, None, *rest, **options)  # device_ids are refused for a model on the CPU

    DistributedDataParallel.__init__ = init


def _keep_on_cpu(owner: Any) -> None:
    send = owner.to

    def to(self: Any, *places: Any, **options: Any) -> Any:
        named = {name: "cpu" if name == "device" and _on_gpu(value) else value for name, value in options.items()}
        return send(self, *("cpu" if _on_gpu(place) else place for place in places), **named)

    owner.to = to
    owner.cuda = lambda self, device=None, non_blocking=False: self


def _index(device: Any) -> int | None:
    if isinstance(device, str):
        return int(device.partition(":")[2] or 0)
    return device if isinstance(device, int) else getattr(device, "index", None)


def _on_gpu(place: Any) -> bool:
    import torch

    if isinstance(place, torch.device):
        return place.type not in ("cpu", "meta")
    if isinstance(place, str):
        return place.partition(":")[0] not in ("cpu", "meta")
    return isinstance(place, int) and not isinstance(place, bool)
