import os

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


@record
def main():
    rank = int(os.environ.get("RANK", 0))
    if dist.is_nccl_available():
        dist.init_process_group("nccl")
    else:
        dist.init_process_group("gloo")
    torch.manual_seed(1)
    model = DDP(torch.nn.Linear(4, 1).cuda(), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for features, wanted in batches():
        loss = (model(features.cuda()) - wanted.cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print("loss", loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
