"""An imitated start: on a machine without the hardware the first group is answered by a stand-in, and the process ends there.

Nothing is formed, and no tensor is moved. Until then ``torch`` says of the machine what the platform's rule data says, so that
the program goes the way it goes there. Python 3.8 and its standard library only.
"""

# ruff: noqa: UP006, UP035
from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Dict, List

import ddp_codemod_told as told  # type: ignore[import-not-found]

FACTS: Dict[str, Any] = json.loads(os.environ.get("DDP_CODEMOD_FACTS") or "{}")  # "torch.cuda.is_available()": true
AVAILABLE, COUNT = ".is_available()", ".device_count()"
MANY = 8  # devices, where no launcher says how many ranks there are
NOTHING = (
    "set_device",
    "synchronize",
    "empty_cache",
    "manual_seed",
    "manual_seed_all",
    "init",
    "reset_peak_memory_stats",
    "ipc_collect",
)
ACCELERATOR = ("set_device_index", "set_device_idx", "device_index", "synchronize", "empty_cache")
ANSWERS = {"current_device": 0, "get_device_name": "stand-in", "get_device_capability": (8, 0), "is_bf16_supported": True}
_here: Dict[str, int] = {}  # devices of each type that this machine has
_imitated: List[str] = []  # the types that torch is declared to have, and this machine lacks


def imitate(torch: Any) -> None:
    """Let torch say what the platform's facts say, where the platform has a device that this machine lacks."""
    kinds = [name[len("torch.") : -len(AVAILABLE)] for name, value in FACTS.items() if value is True and name.endswith(AVAILABLE)]
    kinds = [kind for kind in kinds if "." not in kind and hasattr(torch, kind) and kind not in ("distributed", "accelerator")]
    for kind in kinds:
        _here[kind] = devices(torch, kind)
    _imitated.extend(kind for kind in kinds if not _here[kind])
    if not _imitated:
        return
    for name, value in FACTS.items():
        _set_fact(torch, name, value)
    for module in [getattr(torch, kind) for kind in _imitated]:
        for name in NOTHING:
            _replace_function(module, name, None)
        for name, answer in ANSWERS.items():
            _replace_function(module, name, answer)
    if hasattr(torch, "accelerator"):  # of whichever kind
        _replace_function(torch.accelerator, "device_count", _count_processes())
        _replace_function(torch.accelerator, "current_accelerator", torch.device(_imitated[0]))
        for name in ACCELERATOR:
            _replace_function(torch.accelerator, name, None)


def _count_processes() -> int:
    return int(os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE") or MANY)


def devices(torch: Any, kind: str) -> int:
    """How many devices of a type this machine really has."""
    if kind in _here:
        return _here[kind]
    module = getattr(torch, kind, None)
    if module is None or not hasattr(module, "is_available") or not module.is_available():
        return 0
    return int(module.device_count()) if hasattr(module, "device_count") else 1


def _replace_function(module: Any, name: str, answer: Any) -> None:
    if hasattr(module, name):
        setattr(module, name, lambda *_, **__: answer)


def _set_fact(torch: Any, name: str, value: Any) -> None:
    """One fact: ``torch.cuda.is_available()`` becomes a function that says so, ``torch.version.hip`` the value."""
    path = name.replace("()", "").split(".")
    holder: Any = torch
    for part in path[1:-1]:
        holder = getattr(holder, part, None)
    if path[0] != "torch" or holder is None or not hasattr(holder, path[-1]):
        return
    if isinstance(value, dict):
        value = None if value.get("none") else _count_processes() if name.endswith(COUNT) else "1.0"
    setattr(holder, path[-1], (lambda *_, **__: value) if name.endswith("()") else value)


def lacking(module: Any, backend: Any) -> str:
    """What this machine lacks for a backend to make a group; "" where it can, and where the backend is left to torch."""
    import torch

    if backend is None and _imitated:
        return "{}, for which torch would pick a backend".format("/".join(_imitated))
    for name in (part.rpartition(":")[2].lower() for part in str(backend or "").split(",")):
        known = getattr(module, "is_backend_available", None)
        if name and known is not None and not known(name):
            return name if re.fullmatch(r"\w{1,30}", name) else "its backend"  # what a program calls it is its own words
        kinds: List[str] = getattr(module.Backend, "backend_capability", {}).get(name) or ["cpu"]
        if "cpu" in kinds:
            continue
        found = max(devices(torch, kind) for kind in kinds)
        ranks = int(os.environ.get("LOCAL_WORLD_SIZE") or 1)
        if found < ranks:
            return "{} for {} ({} here, {} needed)".format("/".join(kinds), name, found, ranks)
    return ""


def answer(module: Any, given: Dict[str, Any], what: str) -> None:
    """Say that nothing was formed, and end the process."""
    told.say(step="imitated", rank=told.given(given, "rank"), ranks=told.given(given, "world_size"), lacking=what)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
