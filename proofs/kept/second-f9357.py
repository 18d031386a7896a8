def wrapped(  # x
):
  import torch.distributed as dist

  dist.init_process_group(  # x
"nccl")  # ddp-codemod: ignore
  #
