# ruff: noqa
"""Stand-in for Lightning 2: strategies that make a group where a trainer runs."""

from lightning import fabric, pytorch
from lightning.fabric import Fabric
from lightning.pytorch import LightningModule, Trainer

__version__ = "2.4.0"
