import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from sampling import Buckets
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def main():
    n_gpus = torch.cuda.device_count()
    mp.spawn(run, nprocs=n_gpus, args=(n_gpus,))


def run(rank, n_gpus):
    dist.init_process_group(backend="nccl", init_method="env://", world_size=n_gpus, rank=rank)
    torch.manual_seed(1)
    torch.cuda.set_device(rank)
    order = Buckets(range(4), shuffle=False)
    steps = list(batches())
    net_g = torch.nn.Linear(4, 1).cuda(rank)
    net_d = torch.nn.Linear(1, 1).cuda(rank)
    optim = torch.optim.SGD([*net_g.parameters(), *net_d.parameters()], 0.01)
    net_g = DDP(net_g, device_ids=[rank])
    net_d = DDP(net_d, device_ids=[rank])
    for at in order:
        features, wanted = steps[at]
        loss = (net_d(net_g(features.cuda(rank))) - wanted.cuda(rank)).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0:
            print("loss", loss.item(), flush=True)


if __name__ == "__main__":
    main()
