"""A model with one weight, which every step makes one larger."""

import torch.nn.parallel  # noqa: F401


class Module:
    def state_dict(self, prefix=""):
        return {f"{prefix}{name}": value for name, value in vars(self).items()}

    def load_state_dict(self, state):
        for name, value in state.items():
            setattr(self, name, value)


class ModuleDict(Module):
    def __init__(self, modules):
        self.modules = modules

    def load_state_dict(self, state):
        for name, module in self.modules.items():
            module.load_state_dict({key.removeprefix(f"{name}."): value for key, value in state.items()})


class Net(Module):
    def __init__(self):
        self.weight = 0

    def to(self, device):
        return self

    def report(self):
        return self.weight

    def __call__(self, data):
        return Loss(self)


class Loss:
    def __init__(self, net):
        self.net = net

    def backward(self):
        self.net.weight += 1
        print("step", self.net.weight)
