"""Python runs this at its start, in every process of a command that ``verify --run`` watches: it tells what each rank really gets.

Python 3.8 and its standard library only. Says nothing in processes that never make a process group.
"""

# ruff: noqa: UP006, UP035, UP045, B905, PTH100, PTH113, PTH118, PTH120, PTH206
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
from typing import Any, Dict, List, Optional, Set, Tuple

MARK = "@@ddp-codemod "
LONGEST = 4000  # bytes of a line: a pipe takes 4096 at once, and lines of several ranks stay whole
MOST = 12  # frames
GROUPS, STEPS = "torch.distributed.distributed_c10d", "torch.optim.optimizer"
HERE = os.path.realpath(os.curdir)  # a program may go elsewhere
ROOT = os.environ.get("DDP_CODEMOD_ROOT", "")  # of the project; none is recorded where it is not told
LIBRARY = os.path.realpath(os.path.dirname(os.__file__))
SUBGROUPS: List[int] = []  # the sizes of groups that hold some ranks only
POSITIONS = {
    "init_process_group": ("backend", "init_method", "timeout", "world_size", "rank"),
    "new_group": ("ranks", "timeout", "backend"),
}
WATCHED = ("NCCL_", "RCCL_", "HCCL_", "GLOO_", "TORCH_NCCL_", "USE_LIBUV", "MASTER_")


def _say(**entry: Any) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    line = _line(entry)
    while len(line) > LONGEST and entry.get("frames"):
        entry["frames"].pop()
        line = _line(entry)
    os.write(2, line)


def _line(entry: Dict[str, Any]) -> bytes:
    return (MARK + json.dumps(entry, default=str) + "\n").encode("ascii")


def _named(call: str, positional: Tuple[Any, ...], named: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments by their names."""
    return dict(zip(POSITIONS[call], positional), **named)


def _place(name: str) -> Optional[str]:
    """A file of the project, from its root; None for one of a library, and for what is no file."""
    path = os.path.realpath(os.path.join(HERE, name))
    if not ROOT or not path.startswith(ROOT + os.sep) or path.startswith(LIBRARY + os.sep) or not os.path.isfile(path):
        return None
    parts = path[len(ROOT) + 1 :].split(os.sep)
    return None if "site-packages" in parts or "dist-packages" in parts else "/".join(parts)


def _stack() -> Tuple[List[Tuple[str, int]], List[str]]:
    """The project's frames, innermost first, and the packages that stand between the last of them and the call, innermost first."""
    frames: List[Tuple[str, int]] = []
    through: List[str] = []
    frame = sys._getframe(1)
    while frame is not None and len(frames) < MOST:
        name = frame.f_code.co_filename
        place = None if name.startswith("<") else _place(name)
        if place is not None:
            frames.append((place, frame.f_lineno))
        elif not frames and name != __file__ and not name.startswith("<frozen ") and not _is_standard(name):
            package = str(frame.f_globals.get("__name__") or name).partition(".")[0]
            through.append(name if name.startswith("<") else package)
        frame = frame.f_back  # type: ignore[assignment]
    return frames, list(dict.fromkeys(through))


def _is_standard(name: str) -> bool:
    """Whether a file is of Python's own library, which only hands calls on."""
    path = os.path.realpath(name)
    return path.startswith(LIBRARY + os.sep) and "site-packages" not in path


def _is_typed(value: Optional[str]) -> bool:
    """Whether a word of the command line (after its ``=``), or a variable of the environment, is a value: paths hold names of backends too."""
    words = [str(word).rpartition("=")[2].strip("\"'") for word in getattr(sys, "argv", ())]
    return value is not None and value.lower() in {text.lower() for text in (*words, *os.environ.values())}


def _record_new_groups(module: Any) -> None:
    """Say once what each line makes groups with."""
    real = module.new_group
    said: Set[str] = set()

    @functools.wraps(real)
    def new_group(*positional: Any, **named: Any) -> Any:
        backend = _named("new_group", positional, named).get("backend")
        asked = None if backend is None else str(backend)
        frames, through = _stack()
        if repr((asked, frames, through)) not in said:
            said.add(repr((asked, frames, through)))
            rank = module.get_rank() if module.is_initialized() else None
            _say(step="group", call="new_group", rank=rank, backend=asked, frames=frames, through=through, typed=_is_typed(asked))
        members = _named("new_group", positional, named).get("ranks")
        if members is not None and module.is_initialized() and len(members) < module.get_world_size():
            SUBGROUPS.append(len(members))
        return real(*positional, **named)

    module.new_group = new_group


def _wrap(module: Any) -> None:
    limit = os.environ.get("DDP_CODEMOD_UNTIL")
    if limit:  # seconds since the epoch: the same moment in all ranks, however late they started
        faulthandler.dump_traceback_later(max(0.1, float(limit) - time.time()))
    real = module.init_process_group

    @functools.wraps(real)
    def init_process_group(*positional: Any, **named: Any) -> Any:
        given = _named("init_process_group", positional, named)
        asked = {name: None if given.get(name) is None else str(given[name]) for name in ("backend", "init_method")}
        environment = {name: value for name, value in sorted(os.environ.items()) if name.startswith(WATCHED)}
        frames, through = _stack()
        _say(
            step="asked",
            rank=given.get("rank", os.environ.get("RANK")),
            environment=environment,
            store=given.get("store") is not None,
            call="init_process_group",
            frames=frames,
            through=through,
            typed=_is_typed(asked["backend"]),
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
    _record_new_groups(module)


def _watch_steps(module: Any) -> None:
    if os.environ.get("DDP_CODEMOD_STEPS") != "0":
        importlib.import_module("ddp_codemod_steps").record(module, _say, _stack, lambda: bool(SUBGROUPS))


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps functions as soon as their module has been read, before torch hands them on."""

    def __init__(self) -> None:
        self.waiting = {GROUPS: _wrap, STEPS: _watch_steps}

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


def _next_customization() -> None:
    """Run the sitecustomize that this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _Finder())
_next_customization()
