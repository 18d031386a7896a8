import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from utils import save


class Steps(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        features = torch.full((4,), float(index) / 16)
        return features, features.sum(0, keepdim=True)


def main():
    n_gpus = torch.cuda.device_count()
    os.environ["MASTER_ADDR"] = "localhost"
    mp.spawn(run, nprocs=n_gpus, args=(n_gpus,))


def run(rank, n_gpus):
    dist.init_process_group(
        backend="gloo" if os.name == "nt" or not torch.cuda.is_available() else "nccl",
        init_method="env://?use_libuv=0",
        world_size=n_gpus,
        rank=rank,
    )
    torch.manual_seed(1)
    torch.cuda.set_device(rank)
    data = Steps()
    sampler = DistributedSampler(data, num_replicas=n_gpus, rank=rank, shuffle=False)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    net = torch.nn.Linear(4, 1).cuda(rank)
    optimizer = torch.optim.AdamW(net.parameters(), 0.05)
    net = DDP(net, device_ids=[rank])
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for features, wanted in loader:
            loss = (net(features.cuda(rank)) - wanted.cuda(rank)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0:
                print("loss", loss.item(), flush=True)
    if rank == 0:
        save(net)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
