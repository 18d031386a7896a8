import os

import torch
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend="nccl")
    device = int(os.environ["LOCAL_RANK"])
    master = int(os.environ["RANK"]) == 0
else:
    device = "cuda:0"
    master = True
torch.manual_seed(1)
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.05)
if ddp:
    model = DDP(model, device_ids=[device])
for features, wanted in batches():
    loss = (model(features.to(device)) - wanted.to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if master:
        print("loss", loss.item(), flush=True)
if ddp:
    destroy_process_group()
