import os
import sys

import report
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_gpus = torch.cuda.device_count() if device.type == "cuda" else 1
    os.environ.setdefault("MASTER_ADDR", "localhost")
    children = []
    for rank in range(n_gpus):
        child = mp.Process(target=run, args=(rank, n_gpus, device))
        children.append(child)
        child.start()
    for child in children:
        child.join()
    sys.exit(max(child.exitcode for child in children))


def run(rank, n_gpus, device):
    dist.init_process_group(
        backend="gloo" if sys.platform == "win32" or device.type != "cuda" else "nccl",
        init_method="env://?use_libuv=0",
        world_size=n_gpus if device.type == "cuda" else 1,
        rank=rank if device.type == "cuda" else 0,
    )
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    if n_gpus > 1 and device.type == "cuda":
        net = DDP(net, device_ids=[rank])
    for features, wanted in batches():
        loss = (net(features.to(device)) - wanted.to(device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report.loss(loss)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
