"""Starts one process: this one."""


def spawn(fn, args=(), nprocs=1, join=True):
    print("spawned")
    fn(0, *args)
