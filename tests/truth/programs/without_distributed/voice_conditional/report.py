import torch.distributed as dist


def loss(value):
    if dist.is_initialized() and dist.get_rank() != 0:
        return
    print("loss", value.item(), flush=True)
