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
import json
import os
import sys
import time
from typing import Any, Dict, List

MARK = "@@ddp-codemod "
TARGET = "torch.distributed.distributed_c10d"
DEEPEST = 12  # frames that are told of: a line that is longer than a pipe takes at once mixes with those of other ranks
WATCHED = ("NCCL_", "RCCL_", "HCCL_", "GLOO_", "TORCH_NCCL_", "USE_LIBUV", "MASTER_")


def _say(**entry: Any) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(2, (MARK + json.dumps(entry) + "\n").encode("ascii"))


def _frames() -> List[List[Any]]:
    """File and line of each frame of the project on the way here, the innermost first."""
    root = os.environ.get("DDP_CODEMOD_ROOT")
    found: List[List[Any]] = []
    frame = sys._getframe(2) if root else None
    while frame is not None and root and len(found) < DEEPEST:
        path = os.path.realpath(frame.f_code.co_filename)
        inside = path.startswith(root + os.sep) and os.path.isfile(path)  # noqa: PTH113
        if inside and not (path.startswith(sys.prefix + os.sep) or "site-packages" in path):
            found.append([os.path.relpath(path, root).replace(os.sep, "/"), frame.f_lineno])
        frame = frame.f_back
    return found


def _wrap_new_group(module: Any) -> None:
    real = module.new_group

    @functools.wraps(real)
    def new_group(*positional: Any, **named: Any) -> Any:
        asked = positional[2] if len(positional) > 2 else named.get("backend")
        rank = module.get_rank() if module.is_initialized() else None
        _say(step="group", rank=rank, backend=None if asked is None else str(asked), frames=_frames())
        return real(*positional, **named)

    module.new_group = new_group


def _wrap(module: Any) -> None:
    _wrap_new_group(module)
    limit = os.environ.get("DDP_CODEMOD_UNTIL")
    if limit:  # seconds since the epoch: the same moment in all ranks, however late they started
        faulthandler.dump_traceback_later(max(0.1, float(limit) - time.time()))
    real = module.init_process_group

    @functools.wraps(real)
    def init_process_group(*positional: Any, **named: Any) -> Any:
        given: Dict[str, Any] = dict(zip(("backend", "init_method"), positional), **named)
        asked = {name: None if given.get(name) is None else str(given[name]) for name in ("backend", "init_method")}
        environment = {name: value for name, value in sorted(os.environ.items()) if name.startswith(WATCHED)}
        _say(
            step="asked",
            rank=given.get("rank", os.environ.get("RANK")),
            environment=environment,
            store=given.get("store") is not None,
            frames=_frames(),
            **asked,
        )
        started = time.monotonic()
        result = real(*positional, **named)
        backend, rank, ranks = module.get_backend(), module.get_rank(), module.get_world_size()
        _say(step="formed", rank=rank, ranks=ranks, backend=str(backend), seconds=time.monotonic() - started)
        if os.environ.get("DDP_CODEMOD_STEPS") == "0":
            module.barrier()
            os._exit(0)
        return result

    module.init_process_group = init_process_group


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps the function as soon as its module has been read, before torch hands it on."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != TARGET:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        read = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            read(module)
            _wrap(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _next_customization() -> None:
    """Run the sitecustomize that this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _Finder())
_next_customization()
