# ruff: noqa
"""Stand-in for DeepSpeed."""

from deepspeed import comm
from deepspeed.comm import init_distributed
from torch._record import recorded

__version__ = "0.15.0"


@recorded("deepspeed.initialize")
def _made(model, config):
    """What is made, once there is a group."""


def initialize(args=None, model=None, optimizer=None, model_parameters=None, config=None, dist_init_required=None):
    if dist_init_required is not False:
        init_distributed()
    _made(model, config)
    return model, optimizer, None, None
