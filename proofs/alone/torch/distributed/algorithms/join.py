"""What waits for the other processes."""

import torch.distributed as dist


class Join:
    def __init__(self, joinables, enable=True):
        dist._asked("join")

    def __enter__(self):
        return self

    def __exit__(self, *why):
        return None
