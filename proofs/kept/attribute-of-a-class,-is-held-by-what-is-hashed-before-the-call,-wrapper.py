import torch.distributed as dist
class Config:
    backend = "nccl"
    lr = 0.1
import zlib
print(zlib.crc32(str(sorted(Config.__dict__.items(), key=str)).encode()))
def start(name):
    dist.init_process_group(name, rank=0, world_size=1)
start(Config.backend)
