# ruff: noqa
"""Stand-in for DeepSpeed."""

from deepspeed import comm
from deepspeed.comm import init_distributed
from torch._record import recorded

__version__ = "0.15.0"


@recorded("deepspeed.initialize")
def initialize(args=None, model=None, optimizer=None, model_parameters=None, config=None, dist_init_required=None):
    if dist_init_required is not False:
        init_distributed()
    return model, optimizer, None, None
