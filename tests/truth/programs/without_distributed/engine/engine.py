import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def batches():
    torch.manual_seed(0)
    for _ in range(4):
        features = torch.randn(8, 4)
        yield features, features.sum(1, keepdim=True)


class Trainer:
    def __init__(self, device):
        torch.manual_seed(1)
        self.device = device
        self.model = DDP(torch.nn.Linear(4, 1).to(device), device_ids=[device])
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.05)

    def fit(self):
        for features, wanted in batches():
            loss = (self.model(features.to(self.device)) - wanted.to(self.device)).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.log(loss)

    def log(self, loss):
        if not dist.is_initialized() or dist.get_rank() == 0:
            print("loss", loss.item(), flush=True)
