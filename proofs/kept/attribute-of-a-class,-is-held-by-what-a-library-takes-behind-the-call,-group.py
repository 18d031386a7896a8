import torch.distributed as dist
class Config:
    backend = "nccl"
    lr = 0.1
dist.init_process_group(Config.backend, rank=0, world_size=1)
dist.new_group([0], backend=Config.backend)
import otherlib
otherlib.init(Config.__dict__)
