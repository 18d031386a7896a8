# ruff: noqa
"""Stand-in for a library of somebody else that has backends of its own."""

from torch._record import recorded

from otherlib import comm


@recorded("otherlib.init")
def init(backend=None, **options):
    return None


@recorded("otherlib.init_process_group")
def init_process_group(backend=None, init_method=None, world_size=-1, rank=-1):
    return None


@recorded("otherlib.register")
def register(name, value=None):
    return value


@recorded("otherlib.log")
def log(name=None, value=None, **more):
    return None


class Trainer:
    @recorded("otherlib.Trainer")
    def __init__(self, comm=None, **options):
        self.comm = comm

    def fit(self, *args):
        comm.send(self.comm)


class Store:
    def __init__(self, url):
        self.url = url
        log("Store", url)

    def put(self, key, value):
        log(key, value)
