import torch
import torch.multiprocessing as mp
from torch.distributed import all_reduce, destroy_process_group, get_world_size, init_process_group, is_initialized
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def shown(loss):
    if is_initialized():
        all_reduce(loss)
        loss = loss / get_world_size()
    print("loss", loss.item(), flush=True)


def run(rank, n_gpus):
    init_process_group("nccl", init_method="tcp://127.0.0.1:29514", world_size=n_gpus, rank=rank)
    torch.manual_seed(1)
    net = DDP(torch.nn.Linear(4, 1).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    for features, wanted in batches():
        loss = (net(features.cuda(rank)) - wanted.cuda(rank)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown(loss.detach())
    destroy_process_group()


if __name__ == "__main__":
    n_gpus = torch.cuda.device_count()
    mp.spawn(run, args=(n_gpus,), nprocs=n_gpus)
