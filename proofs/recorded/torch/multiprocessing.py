# ruff: noqa
from torch._record import recorded


@recorded("torch.multiprocessing.set_start_method")
def set_start_method(method, force=False):
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs the first process's share here."""
    fn(0, *args)
