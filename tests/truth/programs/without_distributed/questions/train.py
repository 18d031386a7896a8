import torch
import torch.distributed as dist


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def setup(rank, world_size):
    backend = "nccl" if dist.is_nccl_available() else "gloo"
    dist.init_process_group(backend, init_method="tcp://127.0.0.1:29515?use_libuv=0", rank=rank, world_size=world_size)
    print("launched", dist.is_torchelastic_launched(), "backend", dist.get_backend())


def cleanup():
    if dist.is_initialized():
        dist.destroy_process_group()


def train(rank, world_size):
    setup(rank, world_size)
    torch.manual_seed(1)
    net = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.Sequential(torch.nn.Linear(4, 1)))
    net = torch.nn.parallel.DistributedDataParallel(net.to("cuda"))
    optimizer = torch.optim.SGD(net.parameters(), 0.05)
    for features, wanted in batches():
        loss = (net(features.to("cuda")) - wanted.to("cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), flush=True)
    cleanup()


if __name__ == "__main__":
    train(0, torch.cuda.device_count())
