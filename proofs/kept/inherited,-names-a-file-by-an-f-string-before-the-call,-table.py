import torch.distributed as dist
class Config:
    backend = "nccl"
    lr = 0.1
class Mine(Config):
    lr = 0.2
with open(f'ckpt-{Mine.backend}.pt', 'w') as out:
    out.write('1')
options = {"backend": Mine.backend, "rank": 0, "world_size": 1}
dist.init_process_group(**options)
