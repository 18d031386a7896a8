import os

import torch
import torch.distributed as dist
from meters import mean_over_ranks
from torch.nn.parallel import DistributedDataParallel


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1).to(local_rank)
    optimizer = torch.optim.SGD(model.parameters(), 0.05 / world_size)
    model = DistributedDataParallel(model, device_ids=[local_rank])
    for features, wanted in batches():
        loss = (model(features.to(local_rank)) - wanted.to(local_rank)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told = mean_over_ranks(loss)
        if rank == 0:
            print("loss", told, flush=True)
    dist.barrier()


main()
