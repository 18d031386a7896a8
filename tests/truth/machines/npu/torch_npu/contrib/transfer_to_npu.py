"""In place of the vendor's import: the part of what it maps that these tests need."""

import functools
import types

import torch
import torch._dynamo  # which looks at torch.cuda when it is first imported
import torch.distributed as dist

from torch_npu import npu


def mapped(value):
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("npu", value.index or 0)
    return value.replace("cuda", "npu").replace("nccl", "hccl") if isinstance(value, str) else value


def mapping(function):
    @functools.wraps(function)
    def call(*given, **named):
        return function(*map(mapped, given), **{name: mapped(value) for name, value in named.items()})

    return call


torch.cuda.__class__ = types.ModuleType
for name, value in vars(npu).items():
    if not name.startswith("__"):
        setattr(torch.cuda, name, value)
torch.Tensor.cuda, torch.nn.Module.cuda, torch.Tensor.is_cuda = torch.Tensor.npu, torch.nn.Module.npu, torch.Tensor.is_npu
torch.Tensor.to, torch.nn.Module.to = mapping(torch.Tensor.to), mapping(torch.nn.Module.to)
torch.zeros, torch.tensor, torch.load, torch.autocast = map(mapping, (torch.zeros, torch.tensor, torch.load, torch.autocast))
dist.init_process_group = mapping(dist.init_process_group)
