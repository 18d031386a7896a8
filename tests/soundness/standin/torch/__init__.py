"""Stands in for torch on a machine with one AMD GPU: what is asked of ``torch.distributed`` is printed, nothing else happens."""

from types import SimpleNamespace

from torch import cuda, distributed

__all__ = ["cuda", "distributed", "version"]

version = SimpleNamespace(hip="6.4.0", cuda=None)
