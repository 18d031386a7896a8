"""A group of IMITATED_RANKS of which this is rank 0; with IMITATED_RANKS=0 none can be made."""

import os

_MADE = []


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1):
    ranks = int(os.environ["IMITATED_RANKS"])
    if not ranks:
        raise RuntimeError("no group can be made on this machine")
    _MADE.append(ranks)


def _asked(what):
    if not _MADE:
        raise RuntimeError("Default process group has not been initialized")
    if _MADE[-1] > 1 and what not in ("rank", "size"):  # who is told what it would have asked need not ask
        print("group:", what)
    return _MADE[-1]


def is_available():
    return True


def is_initialized():
    return bool(_MADE)


def get_rank(group=None):
    _asked("rank")
    return 0


def get_world_size(group=None):
    return _asked("size")


def barrier(group=None):
    _asked("barrier")


def all_reduce(tensor, op=None, group=None, async_op=False):
    _asked("all_reduce")


def broadcast(tensor, src, group=None, async_op=False):
    _asked("broadcast")


def all_gather(tensor_list, tensor, group=None, async_op=False):
    _asked("all_gather")
    for part in tensor_list:
        part.copy_(tensor)


def all_to_all(outputs, inputs, group=None, async_op=False):
    _asked("all_to_all")


def destroy_process_group(group=None):
    _asked("destroy")
    _MADE.clear()
