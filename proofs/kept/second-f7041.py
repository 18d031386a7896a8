class Wrapped:
    import torch.distributed as dist

    dist.init_process_group(  # x
"nccl")  # ddp-codemod: ignore

    from lightning.pytorch.strategies import FSDPStrategy

    strategy = FSDPStrategy(  # x
process_group_backend="nccl")

    from lightning.pytorch import Trainer

    trainer = Trainer(  # x
devices=1)
