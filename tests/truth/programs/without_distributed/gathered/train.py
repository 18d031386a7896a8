import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def gathered(value):
    parts = [torch.zeros_like(value) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, value)
    return torch.cat(parts)


def main():
    world_size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group(
        "gloo" if not torch.cuda.is_available() else "nccl", world_size=world_size, rank=int(os.environ["RANK"])
    )
    torch.manual_seed(1)
    model = DDP(torch.nn.Linear(4, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for features, wanted in batches():
        losses = (model(features.cuda()) - wanted.cuda()).pow(2).mean(1)
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        print("loss", gathered(losses.detach()).mean().item(), flush=True)


if __name__ == "__main__":
    main()
