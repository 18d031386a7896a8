"""A package that programs have installed and that is no part of the project."""

from collections.abc import Callable
from typing import Any

NCCL, GLOO, MPI, MIXED, NOTHING = "nccl", "gloo", "mpi", "cpu:gloo,cuda:nccl", None


class Settings:
    """Settings that somebody else chose."""

    def __init__(self, name: str) -> None:
        self.backend = globals()[name]


def pick(name: str) -> Any:
    return globals()[name]


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Changes nothing, which no reader of the project can know."""

    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


def forced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calls with nccl, whatever was given."""

    def inner(*args: Any, **kwargs: Any) -> Any:
        return function("nccl")

    return inner


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)
