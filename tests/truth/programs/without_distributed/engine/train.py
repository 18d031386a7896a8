import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from engine import Trainer


def worker(rank, world_size):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29513", rank=rank, world_size=world_size)
    Trainer(rank).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    world_size = torch.cuda.device_count()
    mp.spawn(worker, args=(world_size,), nprocs=world_size, join=True)
