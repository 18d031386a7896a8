# ruff: noqa
from torch._machine import MACHINE
from torch._record import recorded


def is_available():
    return MACHINE != "ascend"


def device_count():
    return 2 if is_available() else 0


def current_device():
    return 0


def get_device_name(device=None):
    return "Stand-in"


@recorded("torch.cuda.set_device")
def set_device(device):
    return None


@recorded("torch.cuda.manual_seed_all")
def manual_seed_all(seed):
    return None


@recorded("torch.cuda.synchronize")
def synchronize(device=None):
    return None


@recorded("torch.cuda.empty_cache")
def empty_cache():
    return None


def is_bf16_supported():
    return True


class amp:
    class GradScaler:
        @recorded("torch.cuda.amp.GradScaler")
        def __init__(self, enabled=True):
            pass
