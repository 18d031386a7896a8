import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from sharing import is_shared, same_everywhere


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def main():
    count = torch.cuda.device_count()
    mp.spawn(run, nprocs=count, args=(count,))


def run(rank, count):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29517?use_libuv=0", world_size=count, rank=rank)
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).cuda(rank)
    net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    for features, wanted in batches():
        loss = (net(features.cuda(rank)) - wanted.cuda(rank)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if is_shared():
            same_everywhere([parameter.grad for parameter in net.parameters()])
        optimizer.step()
        if rank == 0:
            print("loss", loss.item(), flush=True)


if __name__ == "__main__":
    main()
