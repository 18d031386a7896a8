# ruff: noqa
from torch.distributed.distributed_c10d import (
    HashStore,
    PrefixStore,
    ProcessGroupNCCL,
    split_group,
    all_gather_object,
    is_backend_available,
    is_xccl_available,
    Backend,
    FileStore,
    ProcessGroup,
    ReduceOp,
    TCPStore,
    all_reduce,
    barrier,
    broadcast,
    default_pg_timeout,
    destroy_process_group,
    get_backend,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    new_group,
    new_subgroups,
)
from torch.distributed import distributed_c10d

from torch.distributed import device_mesh
from torch.distributed.device_mesh import init_device_mesh
