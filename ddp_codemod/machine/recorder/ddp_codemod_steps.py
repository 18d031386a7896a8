"""Tells what each rank's first optimizer steps work with: ranks whose gradients all differ train apart, though their group formed.

Python 3.8, its standard library and the torch of the program only. Nothing is reported of a process that is alone.
"""

# ruff: noqa: UP006, UP035
from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Callable, Dict, List

STEPS = 3  # the first may have a learning rate of 0
SAMPLED = 16  # parameters, spread over all of them, the first and the last included


def record(module: Any, say: Callable[..., None], frames: Callable[[], Any], part: Callable[[], bool]) -> None:
    """``module``: torch.optim.optimizer; ``part``: whether the program made groups of some ranks only, which share what others do not."""
    before = getattr(module, "register_optimizer_step_pre_hook", None)
    after = getattr(module, "register_optimizer_step_post_hook", None)
    if before is None or after is None:
        return  # an older torch
    state: Dict[str, Any] = {"first": None, "step": 0}

    def ranks() -> int:
        group = sys.modules.get("torch.distributed")
        alone = group is None or not group.is_available() or not group.is_initialized()
        return 1 if alone else int(group.get_world_size())  # type: ignore[union-attr]

    def gradients(optimizer: Any, *_: Any) -> None:
        if state["first"] is None and ranks() > 1:
            state["first"] = optimizer
        if state["first"] is optimizer:
            some = _sample_parameters(optimizer)
            state["grads"], state["held"] = [_sum_of(one.grad) for one in some], [_checksum_of(one) for one in some]

    def parameters(optimizer: Any, *_: Any) -> None:
        if state["first"] is not optimizer:
            return
        state["step"] += 1
        some = _sample_parameters(optimizer)
        say(
            step="stepped",
            number=state["step"],
            rank=sys.modules["torch.distributed"].get_rank(),
            ranks=ranks(),
            optimizer=type(optimizer).__name__,
            shards=part() or any(map(_is_shard, some)) or _has_shards(optimizer),
            sizes=[int(one.numel()) for one in some],
            grads=state["grads"],
            held=state["held"],
            params=[_checksum_of(one) for one in some],
            frames=frames(),
        )
        if state["step"] >= STEPS:  # torch is in the middle of its hooks: they stay, and do nothing
            state["first"] = STEPS

    before(_ignore_errors(gradients))
    after(_ignore_errors(parameters))


def _ignore_errors(function: Callable[..., None]) -> Callable[..., None]:
    """The program goes on whatever happens here."""

    def hook(*given: Any) -> None:
        with contextlib.suppress(Exception):
            function(*given)

    return hook


def _sample_parameters(optimizer: Any) -> List[Any]:
    every = [one for group in optimizer.param_groups for one in group["params"]]
    return [every[index * (len(every) - 1) // (SAMPLED - 1)] for index in range(SAMPLED)] if len(every) > SAMPLED else every


def _sum_of(tensor: Any) -> Any:
    """The sum of what a tensor holds, without signs; None where there is none."""
    if tensor is None:
        return None
    tensor = tensor.detach()
    tensor = tensor.coalesce().values() if tensor.is_sparse else tensor
    return float(tensor.abs().sum(dtype=_precise_type(tensor)))


def _checksum_of(tensor: Any) -> float:
    """A sum with signs and places: a first step of Adam changes every value by the same amount, up or down."""
    torch: Any = sys.modules["torch"]
    values = tensor.detach().flatten().to(_precise_type(tensor))
    return float((values * (torch.arange(values.numel(), device=values.device) % 97 + 1)).sum())


def _precise_type(tensor: Any) -> Any:
    torch: Any = sys.modules["torch"]
    return torch.float32 if tensor.device.type == "mps" else torch.float64


def _is_shard(parameter: Any) -> bool:
    """Whether each rank holds another part of a parameter: FSDP, tensor parallelism."""
    kinds = {kind.__name__ for kind in type(parameter).__mro__}
    marks = ("_fsdp_flattened", "tensor_model_parallel")
    return bool(kinds & {"DTensor", "FlatParameter", "ShardedTensor"}) or any(getattr(parameter, mark, False) for mark in marks)


def _has_shards(optimizer: Any) -> bool:
    """Whether the optimizer, or a library that the program uses, works on what each rank holds alone."""
    names = os.environ.get("DDP_CODEMOD_SHARDING", "").split(",")
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(optimizer).__mro__}
    return any(name in sys.modules or name in kinds for name in names if name)
