import os

import misc
import torch


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


def main():
    distributed = misc.init_distributed_mode()
    torch.manual_seed(1 + misc.get_rank())
    model = torch.nn.Linear(4, 1).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), 0.05)
    if distributed:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[int(os.environ["LOCAL_RANK"])])
    for features, wanted in batches():
        loss = (model(features.to("cuda")) - wanted.to("cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told = misc.all_reduce_mean(loss.item())
        if misc.is_main_process():
            print("loss", told, flush=True)


if __name__ == "__main__":
    main()
