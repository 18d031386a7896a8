"""Takes a machine for a platform, by what its own torch and drivers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ddp_codemod.catalog.model import Platform
from ddp_codemod.model import Reason


def platforms_by_accelerator(platforms: Mapping[str, Platform]) -> dict[str, str]:
    """The platforms whose machines are known by their accelerator: they have this one only, and no other platform does."""
    only = {ident: one.machine.accelerators[0] for ident, one in platforms.items() if len(one.machine.accelerators) == 1}
    count = Counter(only.values())
    return {name: ident for ident, name in sorted(only.items()) if count[name] == 1 and name in platforms[ident].device_types}


def accelerators_to_ask_for(platforms: Mapping[str, Platform]) -> dict[str, list[str]]:
    """The accelerators that torch is asked about by their device types (Apple's it is asked about elsewhere), and the packages that supply them."""
    devices = [device for one in platforms.values() for device in one.device_types if device in one.machine.accelerators]
    plugins = [(one.required_import or "").partition(".")[0].replace("_", "-") for one in platforms.values()]
    return {"accelerators": sorted(set(devices) - {"mps"}), "packages": sorted(filter(None, set(plugins)))}


def recognise_platform(
    facts: dict[str, Any], known: Mapping[str, Platform], gpus: Mapping[str, str] | None = None
) -> tuple[str | None, Reason]:
    """The id of the platform, of those known, and why; None where nothing says it. ``gpus``: platforms by architectures of GPUs."""
    system, torch = facts.get("system", {}), facts.get("torch", {})
    sys_platform = str(system.get("sys_platform", ""))
    if sys_platform == "win32" and torch.get("hip"):
        return "rocm-windows", Reason.of("doctor-is-rocm-windows")
    if sys_platform == "win32":
        return "windows", Reason.of("doctor-is-windows")
    if sys_platform == "darwin":
        return "macos", Reason.of("doctor-is-macos")
    if not torch or torch.get("late"):
        return None, Reason.of("doctor-is-unasked")
    if "error" in torch:
        return None, Reason.of("doctor-is-unknown")
    accelerators = torch.get("accelerators", [])
    for name, platform in platforms_by_accelerator(known).items():
        if name in accelerators:
            return platform, Reason.of("doctor-is-accelerator", name=name)
    if "cuda" not in accelerators:
        return "cpu", Reason.of("doctor-is-cpu")
    if torch.get("distributed") is False and "single-gpu" in known:
        return "single-gpu", Reason.of("doctor-is-without-distributed")
    if torch.get("hip"):
        if system.get("wsl") or "nccl" not in torch.get("backends", []):
            return "rocm", Reason.of("doctor-is-rocm-without-rccl")
        kinds = {str(device.get("capability", "")) for device in torch.get("devices", [])}
        own = {(gpus or {}).get(kind) for kind in kinds}
        if len(own) == 1 and (special := own.pop()) is not None:
            return special, Reason.of("doctor-is-gpu-without-rccl", kinds=", ".join(sorted(kinds)))
        return "rocm-rccl", Reason.of("doctor-is-rocm")
    return _recognise_nvidia(torch.get("devices", []), known)


def _recognise_nvidia(devices: list[dict[str, Any]], known: Mapping[str, Platform]) -> tuple[str, Reason]:
    kinds = {device.get("name") for device in devices}
    if len(kinds) > 1:
        return "mixed-gpu", Reason.of("doctor-is-mixed", kinds=", ".join(sorted(map(str, kinds))))
    if len(devices) == 1 and "single-gpu" in known:
        return "single-gpu", Reason.of("doctor-is-single")
    return "cuda", Reason.of("doctor-is-cuda", n=len(devices))
