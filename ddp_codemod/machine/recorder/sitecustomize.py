"""Python runs this at its start, in every process of a command that ``verify --run`` watches: it tells what each rank really gets.

Python 3.8 and its standard library only. Says nothing in processes that never make a process group.
"""

# ruff: noqa: UP006, UP035, B905, PTH100, PTH120
from __future__ import annotations

import faulthandler
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from typing import Any, Callable, Dict, List, Set, Tuple

import ddp_codemod_stand_in as stand_in  # type: ignore[import-not-found]
import ddp_codemod_told as told  # type: ignore[import-not-found]

GROUPS, STEPS, TORCH = "torch.distributed.distributed_c10d", "torch.optim.optimizer", "torch"
SUBGROUPS: List[int] = []  # the sizes of groups that hold some ranks only
POSITIONS = {
    "init_process_group": ("backend", "init_method", "timeout", "world_size", "rank"),
    "new_group": ("ranks", "timeout", "backend"),
}
WATCHED = ("NCCL_", "RCCL_", "HCCL_", "GLOO_", "TORCH_NCCL_", "USE_LIBUV", "MASTER_")


def _name_arguments(call: str, positional: Tuple[Any, ...], named: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments by their names."""
    return dict(zip(POSITIONS[call], positional), **named)


def _format_value(value: Any) -> Any:
    return None if value is None else str(value)


def _record_new_groups(module: Any) -> None:
    """Say once what each line makes groups with."""
    real = module.new_group
    said: Set[str] = set()

    @functools.wraps(real)
    def new_group(*positional: Any, **named: Any) -> Any:
        asked = _format_value(_name_arguments("new_group", positional, named).get("backend"))
        result = told.made(positional, named, asked)
        if repr((asked, result)) not in said:
            said.add(repr((asked, result)))
            rank = module.get_rank() if module.is_initialized() else None
            told.say(step="group", call="new_group", rank=rank, backend=asked, **result)
        members = _name_arguments("new_group", positional, named).get("ranks")
        if members is not None and module.is_initialized() and len(members) < module.get_world_size():
            SUBGROUPS.append(len(members))
        return real(*positional, **named)

    module.new_group = new_group


def _wrap_init(module: Any) -> None:
    limit = os.environ.get("DDP_CODEMOD_UNTIL")
    if limit:  # seconds since the epoch: the same moment in all ranks, however late they started
        faulthandler.dump_traceback_later(max(0.1, float(limit) - time.time()))
    real = module.init_process_group

    @functools.wraps(real)
    def init_process_group(*positional: Any, **named: Any) -> Any:
        given = _name_arguments("init_process_group", positional, named)
        asked = {name: _format_value(given.get(name)) for name in ("backend", "init_method")}
        environment = {name: value for name, value in sorted(os.environ.items()) if name.startswith(WATCHED)}
        told.say(
            step="asked",
            rank=told.given(given, "rank"),
            environment=environment,
            store=given.get("store") is not None,
            call="init_process_group",
            **asked,
            **told.made(positional, named, asked["backend"]),
        )
        stops = os.environ.get("DDP_CODEMOD_STEPS") == "0"
        if stops and (what := stand_in.lacking(module, asked["backend"])):
            stand_in.answer(module, given, what)
        started = time.monotonic()
        result = real(*positional, **named)
        backend, rank, ranks = module.get_backend(), module.get_rank(), module.get_world_size()
        told.say(step="formed", rank=rank, ranks=ranks, backend=str(backend), seconds=time.monotonic() - started)
        if stops:
            module.barrier()
            os._exit(0)
        return result

    module.init_process_group = init_process_group
    _record_new_groups(module)


def _watch_steps(module: Any) -> None:
    if os.environ.get("DDP_CODEMOD_STEPS") != "0":
        importlib.import_module("ddp_codemod_steps").record(module, told.say, told.frames, lambda: bool(SUBGROUPS))


class _Finder(importlib.abc.MetaPathFinder):
    """Changes modules as soon as they have been read, before anything is passed on from them."""

    def __init__(self) -> None:
        self.waiting: Dict[str, Callable[[Any], None]] = {
            GROUPS: _wrap_init,
            STEPS: _watch_steps,
            **({TORCH: stand_in.imitate} if stand_in.FACTS else {}),
        }

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in self.waiting:
            return None
        change = self.waiting.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        read = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            read(module)
            change(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _run_next_customization() -> None:
    """Run the sitecustomize that this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _Finder())
_run_next_customization()
