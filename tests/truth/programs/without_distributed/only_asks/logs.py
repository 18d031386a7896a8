from torch import distributed


def say(*words):
    rank = distributed.get_rank() if distributed.is_initialized() else 0
    if rank == 0:
        print(*words, flush=True)
