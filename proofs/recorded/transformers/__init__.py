# ruff: noqa
"""Stand-in for transformers: arguments that start the process, and a parser of them."""

import argparse
import dataclasses
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Optional

from accelerate import PartialState
from torch._record import recorded

__version__ = "4.46.0"


@dataclass
class TrainingArguments:
    output_dir: str = "out"
    learning_rate: float = 5e-5
    num_train_epochs: float = 3.0
    per_device_train_batch_size: int = 8
    ddp_backend: Optional[str] = field(default=None, metadata={"help": "The backend to be used for distributed training"})
    ddp_timeout: int = 1800
    use_cpu: bool = False
    bf16: bool = False
    report_to: Optional[str] = None

    def __post_init__(self):
        _arguments(**{one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.name != "ddp_backend"})
        self.state = PartialState(cpu=self.use_cpu, backend=self.ddp_backend, timeout=timedelta(seconds=self.ddp_timeout))

    @property
    def device(self):
        return self.state.device

    @property
    def world_size(self):
        return 1


@recorded("transformers.TrainingArguments")
def _arguments(**given):
    return None


class HfArgumentParser:
    def __init__(self, dataclass_types):
        self.types = dataclass_types if isinstance(dataclass_types, (list, tuple)) else [dataclass_types]

    def parse_args_into_dataclasses(self, args=None):
        parser = argparse.ArgumentParser()
        for kind in self.types:
            for one in dataclasses.fields(kind):
                parser.add_argument(f"--{one.name}", default=one.default, type=type(one.default) if one.default else str)
        given = vars(parser.parse_args(args))
        return tuple(kind(**{one.name: given[one.name] for one in dataclasses.fields(kind)}) for kind in self.types)


@recorded("transformers.Trainer")
def _trains(model, train_dataset):
    """What is trained; the arguments show themselves when they are made."""


class Trainer:
    def __init__(self, model=None, args=None, train_dataset=None):
        self.args = args
        _trains(model, train_dataset)

    def train(self):
        print("trained")
