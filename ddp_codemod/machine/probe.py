"""Asks an environment about itself and prints what it says, one JSON object a line.

This file is run by the environment's own Python, 3.8 or newer, with nothing but its standard library and, if it is there, its torch.
"""

# Python 3.8 and its standard library: no newer spelling, no package of ours
# ruff: noqa: UP006, UP035, PTH110, PTH112, PTH117, PTH123, B905, SIM105, SIM112

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from typing import Any, Callable, Dict, List

SMI_SECONDS = 20.0
CONNECT_SECONDS = 5.0
STORE_SECONDS = 5.0
# Prefixes and names of variables that overrule what code or torch would choose.
OVERRIDES = (
    "NCCL_", "RCCL_", "HCCL_", "GLOO_", "TORCH_NCCL_", "HSA_", "USE_LIBUV", "MASTER_", "RANK", "LOCAL_RANK", "WORLD_SIZE",
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "TORCHELASTIC_",
    "ACCELERATE_", "PL_TORCH_DISTRIBUTED_BACKEND", "TORCH_DISTRIBUTED_DEBUG", "CUDA_LAUNCH_BLOCKING", "TP_SOCKET_IFNAME",
)  # fmt: skip
LABELS = frozenset({"NCCL_VERSION"})  # set by NVIDIA's container images to say what they hold; no library reads them
PACKAGES = (
    "torch", "lightning", "pytorch-lightning", "accelerate", "deepspeed", "transformers",
    "intel-extension-for-pytorch", "oneccl-bind-pt", "colossalai", "ray",
)  # fmt: skip
Section = Dict[str, Any]


def read_known_words(kind: str) -> List[str]:
    """The words of a kind that whoever asks knows: the rule data names accelerators and the packages that supply them."""
    words: Dict[str, List[str]] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    return words.get(kind, [])


def probe_system() -> Section:
    """Operating system, Python, container, shared memory."""
    found: Section = {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "sys_platform": sys.platform,
        "python": platform.python_version(),
        "wsl": os.path.exists("/dev/dxg") or "microsoft" in platform.release().lower(),
        "container": _find_container(),
    }
    if hasattr(os, "statvfs") and os.path.isdir("/dev/shm"):
        shared = os.statvfs("/dev/shm")
        found["shm_total"] = shared.f_frsize * shared.f_blocks
        found["shm_free"] = shared.f_frsize * shared.f_bavail
    return found


def _find_container() -> str:
    for path, name in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if os.path.exists(path):
            return name
    return os.environ.get("container", "") or ("kubernetes" if "KUBERNETES_SERVICE_HOST" in os.environ else "")


def probe_environment() -> Section:
    """Variables that overrule something."""
    return {
        "variables": {name: os.environ[name] for name in sorted(os.environ) if name.startswith(OVERRIDES) and name not in LABELS}
    }


def probe_network() -> Section:
    """Whether the meeting point can be reached, and over which interface gloo would speak."""
    address = os.environ.get("MASTER_ADDR", "127.0.0.1")
    found: Section = {"master_addr": address, "master_port": os.environ.get("MASTER_PORT", "29500"), "interfaces": []}
    try:
        found["interfaces"] = [name for _, name in socket.if_nameindex()]
    except (OSError, AttributeError):
        pass
    found["master_resolves"] = _resolve_host(address)
    found["host_resolves"] = _resolve_host(socket.gethostname())
    found["loopback"] = _has_loopback()
    found["port_free"] = _is_port_free(found["master_port"])
    return found


def _resolve_host(name: str) -> List[str]:
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(name, None)})
    except OSError:
        return []


def _has_loopback() -> bool:
    try:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            with socket.create_connection(server.getsockname(), timeout=CONNECT_SECONDS):
                return True
    except OSError:
        return False


def _is_port_free(port: str) -> bool:
    try:
        with socket.socket() as server:
            server.bind(("", int(port)))
        return True
    except (OSError, ValueError, OverflowError):
        return False


def probe_packages() -> Section:
    """Versions of what chooses backends."""
    from importlib import metadata

    versions = {}
    for name in [*PACKAGES, *read_known_words("packages")]:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"versions": versions}


def probe_drivers() -> Section:
    """What the vendors' own tools say."""
    found: Section = {"nvidia": probe_nvidia_gpus(), "processes": _count_nvidia_processes(), "nvlink": False, "amd": _probe_amd()}
    if len(found["nvidia"]) > 1:
        matrix = _run_tool("nvidia-smi", "topo", "-m")
        found["nvlink"] = any(word.startswith("NV") and word[2:].isdigit() for word in matrix.split())
        found["topology"] = matrix.split("Legend:")[0].rstrip()
    return found


def probe_nvidia_gpus() -> List[Section]:
    """The GPUs that nvidia-smi names; memory in MiB, utilization in percent."""
    names = ("index", "name", "driver_version", "memory.total", "memory.used", "utilization.gpu", "compute_cap")
    lines = _run_tool("nvidia-smi", "--query-gpu=" + ",".join(names), "--format=csv,noheader,nounits").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    keys = ("index", "name", "driver", "memory", "used", "utilization", "capability")
    return [dict(zip(keys, row)) for row in rows if len(row) == len(keys)]


def _count_nvidia_processes() -> int:
    lines = _run_tool("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader").splitlines()
    return sum(line.strip().isdigit() for line in lines)


def _probe_amd() -> Section:
    try:
        with open("/sys/module/amdgpu/version", encoding="ascii") as file:
            version = file.read().strip()
    except (OSError, UnicodeDecodeError):
        version = ""
    names = [line.split(":")[-1].strip() for line in _run_tool("rocm-smi", "--showproductname").splitlines() if "Card" in line]
    return {"driver": version, "names": names}


def _run_tool(*words: str) -> str:
    # not by a relative entry, which leads into whatever project one is in
    path = os.pathsep.join(folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder))
    program = shutil.which(words[0], path=path)
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *words[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=SMI_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def probe_torch() -> Section:
    """What the environment's torch was built with, and what it sees."""
    try:
        import torch
    except Exception as why:
        return {"error": f"{type(why).__name__}: {why}"[:500], "missing": isinstance(why, ModuleNotFoundError)}
    found: Section = {"version": torch.__version__, "cuda": torch.version.cuda, "hip": getattr(torch.version, "hip", None)}
    found["devices"] = _probe_devices(torch)
    found["accelerators"] = [
        name for name in sorted({"cuda", "xpu", *read_known_words("accelerators")}) if _is_available(torch, name)
    ]
    found["mps"] = bool(getattr(getattr(torch.backends, "mps", None), "is_available", lambda: False)())
    if "cuda" in found["accelerators"]:
        found["architectures"] = _try_question(lambda: list(torch.cuda.get_arch_list()), [])
        found["peers"] = _try_question(lambda: _probe_peers(torch, len(found["devices"])), [])
    found.update(_probe_distributed())
    return found


def _is_available(torch: Any, name: str) -> bool:
    return bool(_try_question(lambda: getattr(torch, name).is_available(), False))


def _probe_devices(torch: Any) -> List[Section]:
    count = _try_question(torch.cuda.device_count, 0)
    return [_try_question(lambda at=at: _probe_device(torch, at), {"name": "?"}) for at in range(count)]  # type: ignore[misc]


def _probe_device(torch: Any, at: int) -> Section:
    seen = torch.cuda.get_device_properties(at)
    # a build for CUDA has gcnArchName too, and puts the card's name there (torch 2.11)
    architecture = getattr(seen, "gcnArchName", "").split(":")[0] if getattr(torch.version, "hip", None) else ""
    return {"name": seen.name, "capability": architecture or f"{seen.major}.{seen.minor}", "memory": seen.total_memory}


def _probe_peers(torch: Any, count: int) -> list[list[bool]]:
    return [
        [one == other or bool(torch.cuda.can_device_access_peer(one, other)) for other in range(count)] for one in range(count)
    ]


def _probe_distributed() -> Section:
    import torch.distributed as dist

    if not dist.is_available():
        return {"distributed": False, "backends": []}
    kinds = ("nccl", "gloo", "mpi", "ucc", "xccl")
    backends = [kind for kind in kinds if _try_question(lambda kind=kind: getattr(dist, "is_" + kind + "_available")(), False)]  # type: ignore[misc]
    found: Section = {"distributed": True, "backends": backends}
    if "nccl" in backends:
        import torch

        version = _try_question(torch.cuda.nccl.version, None)
        found["nccl"] = ".".join(map(str, version)) if isinstance(version, tuple) else version
    return found


def probe_store() -> Section:
    """Whether the TCP store has libuv; null where it cannot be asked (no torch, one too old, no loopback)."""
    if not _has_loopback():
        return {"libuv": None}
    try:
        import torch.distributed as dist
    except Exception:
        return {"libuv": None}
    return {"libuv": _probe_libuv(dist)}


def _probe_libuv(dist: Any) -> Any:
    from datetime import timedelta

    limit = timedelta(seconds=STORE_SECONDS)
    try:
        dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=True, timeout=limit)
        return True
    except TypeError:
        return None
    except Exception as why:
        return False if "libuv" in str(why) else None


def _try_question(ask: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return ask()
    except Exception:
        return otherwise


SECTIONS: Dict[str, Callable[[], Section]] = {
    "system": probe_system,
    "environment": probe_environment,
    "network": probe_network,
    "packages": probe_packages,
    "drivers": probe_drivers,
    "torch": probe_torch,
    "store": probe_store,
}


def main() -> None:
    """Print each section as it is known."""
    sys.path[:] = [folder for folder in sys.path if folder]  # not the folder that this is run in
    for name, ask in SECTIONS.items():
        print(json.dumps({"section": name, "start": True}), flush=True)
        try:
            found = ask()
        except Exception as why:
            found = {"error": f"{type(why).__name__}: {why}"[:500]}
        print(json.dumps({"section": name, "found": found}), flush=True)


if __name__ == "__main__":
    main()
