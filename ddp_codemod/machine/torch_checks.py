"""Looks at an environment's torch and at the GPUs that it sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ddp_codemod.catalog.machine import Install
from ddp_codemod.health import Check
from ddp_codemod.model import Reason

OK, WARNING, PROBLEM = "ok", "warning", "problem"
MIB = 1 << 20


def check_torch(facts: dict[str, Any], newest: str = "", install: Install | None = None) -> Iterator[Check]:
    """Version, build, backends, libuv; ``newest`` is the newest release that the rule data was compared with.

    ``install``: what a platform that the user names asks for instead of the torch of pytorch.org.
    """
    torch = facts.get("torch", {})
    if not torch or torch.get("late"):
        yield Check("torch", PROBLEM, Reason.of("doctor-torch-unasked"), None, Reason.of("doctor-late-do"))
        return
    if "error" in torch:
        named = {"what": ", ".join(install.packages), "source": install.source} if install is not None else {}
        todo = Reason.of("doctor-torch-do-platform", **named) if named else Reason.of("doctor-torch-do")
        key = "doctor-torch-missing" if torch.get("missing") else "doctor-torch-broken"
        yield Check("torch", PROBLEM, Reason.of(key, error=torch["error"]), None, todo)
        return
    build = f"HIP {torch['hip']}" if torch.get("hip") else f"CUDA {torch['cuda']}" if torch.get("cuda") else "CPU"
    yield Check("torch", OK, Reason.of("doctor-torch", version=torch.get("version"), build=build))
    if newest and _find_version(torch) > _find_version({"version": newest}):
        reason = Reason.of("doctor-torch-newer", version=torch.get("version"), newest=newest)
        yield Check("torch-newer", WARNING, reason, None, Reason.of("doctor-torch-newer-do"))
    backends = torch.get("backends", [])
    if not backends:
        yield Check(
            "backends",
            PROBLEM,
            Reason.of("doctor-backends-none"),
            Reason.of("doctor-backends-why"),
            Reason.of("doctor-backends-do"),
        )
    else:
        nccl = f" (nccl {torch['nccl']})" if torch.get("nccl") else ""
        yield Check("backends", OK, Reason.of("doctor-backends", names=", ".join(backends) + nccl))
    yield from _check_libuv(facts, torch)
    yield from _check_windows(facts, torch)


def _check_libuv(facts: dict[str, Any], torch: dict[str, Any]) -> Iterator[Check]:
    libuv = facts.get("store", {}).get("libuv", torch.get("libuv"))
    if libuv is True:
        yield Check("libuv", OK, Reason.of("doctor-libuv"))
    elif libuv is False:
        version = _find_version(torch)
        asks = (2, 4) <= version < (2, 7) or facts["system"].get("sys_platform") != "win32"
        todo = Reason.of("doctor-libuv-do" if asks else "doctor-libuv-launcher-do")
        yield Check("libuv", WARNING, Reason.of("doctor-libuv-missing"), Reason.of("doctor-libuv-why"), todo)


def _check_windows(facts: dict[str, Any], torch: dict[str, Any]) -> Iterator[Check]:
    if facts["system"].get("sys_platform") == "win32" and (2, 8) <= _find_version(torch) <= (2, 10):
        yield Check(
            "gloo",
            PROBLEM,
            Reason.of("doctor-gloo-windows"),
            Reason.of("doctor-gloo-windows-why"),
            Reason.of("doctor-gloo-windows-do"),
        )


def _find_version(torch: dict[str, Any]) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", str(torch.get("version", "")))
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def check_gpus(facts: dict[str, Any]) -> Iterator[Check]:
    """Driver, devices, generations, paths between them, who else uses them."""
    torch, drivers = facts.get("torch", {}), facts.get("drivers", {})
    devices, nvidia = torch.get("devices", []), drivers.get("nvidia", [])
    driver = next((gpu["driver"] for gpu in nvidia), "") or drivers.get("amd", {}).get("driver", "")
    if driver:
        yield Check("driver", OK, Reason.of("doctor-driver", version=driver))
    if "error" in torch:
        return
    if not devices:
        if nvidia and torch.get("version"):
            yield Check("gpus", PROBLEM, Reason.of("doctor-gpus-hidden", n=len(nvidia)), None, Reason.of("doctor-gpus-hidden-do"))
        else:
            yield Check("gpus", OK, Reason.of("doctor-gpus-none"))
        return
    for at, device in enumerate(devices):
        memory = device.get("memory", 0) // MIB
        reason = Reason.of("doctor-gpu", at=at, name=device.get("name"), capability=device.get("capability"), memory=memory)
        yield Check("gpu", OK, reason)
    yield from _check_architectures(torch, devices)
    if len({(device.get("name"), device.get("capability")) for device in devices}) > 1:
        yield Check(
            "generations", WARNING, Reason.of("doctor-mixed"), Reason.of("doctor-mixed-why"), Reason.of("doctor-mixed-do")
        )
    yield from _check_paths(torch, drivers, devices)
    if drivers.get("processes"):
        reason = Reason.of("doctor-processes", n=drivers["processes"])
        yield Check("processes", WARNING, reason, Reason.of("doctor-processes-why"), Reason.of("doctor-processes-do"))


def _check_architectures(torch: dict[str, Any], devices: list[dict[str, Any]]) -> Iterator[Check]:
    built = torch.get("architectures", [])
    majors = {name.partition("_")[2][:-1] for name in built if name.startswith("sm_")}
    for device in devices if built else ():
        capability = str(device.get("capability", ""))
        fits = capability in built if capability.startswith("gfx") else capability.partition(".")[0] in majors
        if not fits:
            reason = Reason.of("doctor-architecture", capability=capability, built=", ".join(built))
            yield Check("architecture", PROBLEM, reason, None, Reason.of("doctor-architecture-do"))
            return


def _check_paths(torch: dict[str, Any], drivers: dict[str, Any], devices: list[dict[str, Any]]) -> Iterator[Check]:
    peers = torch.get("peers", [])
    if len(devices) < 2:
        return
    pairs = [f"{one}-{other}" for one, row in enumerate(peers) for other, direct in enumerate(row) if one < other and not direct]
    if pairs:
        reason = Reason.of("doctor-peers-missing", pairs=", ".join(pairs))
        yield Check("peers", WARNING, reason, Reason.of("doctor-peers-why"), Reason.of("doctor-peers-do"))
    elif peers:
        yield Check("peers", OK, Reason.of("doctor-peers"))
    yield Check("nvlink", OK, Reason.of("doctor-nvlink" if drivers.get("nvlink") else "doctor-nvlink-none"))
