# ruff: noqa
"""What torch_npu adds to torch."""

from torch._record import recorded


def is_available():
    return True


def device_count():
    return 2


def current_device():
    return 0


@recorded("torch.npu.set_device")
def set_device(device):
    return None


@recorded("torch.npu.empty_cache")
def empty_cache():
    return None
