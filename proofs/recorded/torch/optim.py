# ruff: noqa
from torch._record import recorded


class Optimizer:
    def step(self):
        return None

    def zero_grad(self, set_to_none=True):
        return None

    def state_dict(self):
        return {}


class SGD(Optimizer):
    @recorded("torch.optim.SGD")
    def __init__(self, params, lr=1e-3, momentum=0, weight_decay=0):
        self.lr = lr


class Adam(Optimizer):
    @recorded("torch.optim.Adam")
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), weight_decay=0):
        self.lr = lr


class AdamW(Optimizer):
    @recorded("torch.optim.AdamW")
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), weight_decay=0.01):
        self.lr = lr
