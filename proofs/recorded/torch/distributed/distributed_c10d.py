# ruff: noqa
import datetime
import os

from torch._machine import MACHINE
from torch._record import recorded

default_pg_timeout = datetime.timedelta(minutes=30)


class Backend(str):
    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"

    backend_list = [UNDEFINED, GLOO, NCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())


class ReduceOp:
    SUM = "SUM"
    AVG = "AVG"
    MAX = "MAX"


class ProcessGroup:
    def __init__(self, backend):
        self.backend = backend

    def __repr__(self):
        return "ProcessGroup"


class group:
    WORLD = None


class _State:
    backend = None
    rank = 0
    world_size = 1


_groups = []


def is_available():
    return True


def is_nccl_available():
    return MACHINE in ("nvidia", "rocm")


def is_gloo_available():
    return True


def is_mpi_available():
    return False


def is_torchelastic_launched():
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_initialized():
    return _State.backend is not None


@recorded("torch.distributed.init_process_group", env=("USE_LIBUV",))
def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    _State.backend = "undefined" if backend is None else Backend(backend)
    _State.rank = max(rank, 0)
    _State.world_size = max(world_size, 1)


@recorded("torch.distributed.new_group")
def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
):
    made = ProcessGroup(Backend(backend) if backend else _State.backend)
    _groups.append(made)
    return made


@recorded("torch.distributed.new_subgroups")
def new_subgroups(
    group_size=None,
    group=None,
    timeout=None,
    backend=None,
    pg_options=None,
    group_desc=None,
):
    made = ProcessGroup(Backend(backend) if backend else _State.backend)
    return made, [made]


def get_backend(group=None):
    if group is not None:
        return group.backend
    return _State.backend


def get_rank(group=None):
    return _State.rank


def get_world_size(group=None):
    return _State.world_size


@recorded("torch.distributed.barrier")
def barrier(group=None, async_op=False, device_ids=None):
    return None


@recorded("torch.distributed.all_reduce")
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    return None


@recorded("torch.distributed.broadcast")
def broadcast(tensor, src=None, group=None, async_op=False):
    return None


@recorded("torch.distributed.destroy_process_group")
def destroy_process_group(group=None):
    if group is None:
        _State.backend = None


class TCPStore:
    @recorded("torch.distributed.TCPStore")
    def __init__(
        self,
        host_name,
        port,
        world_size=None,
        is_master=False,
        timeout=None,
        wait_for_workers=True,
        multi_tenant=False,
        master_listen_fd=None,
        use_libuv=True,
    ):
        self.host, self.port = host_name, port

    def __repr__(self):
        return "TCPStore"


class FileStore:
    @recorded("torch.distributed.FileStore")
    def __init__(self, file_name, world_size=-1):
        self.path = file_name

    def __repr__(self):
        return "FileStore"


class HashStore:
    @recorded("torch.distributed.HashStore")
    def __init__(self):
        pass

    def __repr__(self):
        return "HashStore"


class PrefixStore:
    @recorded("torch.distributed.PrefixStore")
    def __init__(self, prefix, store):
        pass

    def __repr__(self):
        return "PrefixStore"


class ProcessGroupNCCL:
    class Options:
        @recorded("torch.distributed.ProcessGroupNCCL.Options")
        def __init__(self, is_high_priority_stream=False):
            self.is_high_priority_stream = is_high_priority_stream

        def __repr__(self):
            return "Options"


@recorded("torch.distributed.split_group")
def split_group(parent_pg=None, split_ranks=None):
    return None


def all_gather_object(out, obj, group=None):
    out[0] = obj


def is_backend_available(name):
    return name.lower() == "gloo" or (name.lower() == "nccl" and is_nccl_available())


def is_xccl_available():
    return False
