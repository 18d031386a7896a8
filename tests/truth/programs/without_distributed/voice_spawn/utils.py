import torch


def save(model):
    state = model.module.state_dict() if hasattr(model, "module") else model.state_dict()
    torch.save(state, "net.pth")
