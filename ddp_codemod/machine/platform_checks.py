"""What a machine has of a platform that the user names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ddp_codemod.catalog.model import Platform
from ddp_codemod.health import Check
from ddp_codemod.machine.torch_checks import OK, PROBLEM
from ddp_codemod.model import Reason

_SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}  # as sys.platform and as rule data call them
_AMD = "rocm"  # a card that torch calls cuda, in a build for HIP
_NONE = "none"  # among the accelerators of a platform that needs none


def check_platform(facts: dict[str, Any], platform: Platform) -> Iterator[Check]:
    """The operating system, the package, the accelerator and the backend that a platform needs."""
    yield from _check_system(facts, platform)
    torch = facts.get("torch", {})
    if not torch or torch.get("late") or "error" in torch:
        return  # a check of torch says so
    seen = _list_accelerators(torch)
    yield from _check_package(facts, platform, seen)
    yield from _check_accelerator(platform, seen)
    wanted = platform.backend.wanted
    if (
        platform.required_import is None and torch.get("distributed") is not False
    ):  # a package's own backend comes with the package
        there = wanted in torch.get("backends", [])
        key = "doctor-for-backend" if there else "doctor-for-backend-missing"
        todo = None if there else Reason.of("doctor-for-backend-do")
        yield Check(
            "platform-backend", OK if there else PROBLEM, Reason.of(key, backend=wanted, platform=platform.id), None, todo
        )


def _check_system(facts: dict[str, Any], platform: Platform) -> Iterator[Check]:
    own = _SYSTEMS.get(str(facts.get("system", {}).get("sys_platform", "")))
    systems = platform.machine.systems
    if own is not None and systems and own not in systems:
        said = Reason.of("doctor-for-system", platform=platform.id, systems=", ".join(systems), own=own)
        yield Check("platform-system", PROBLEM, said, None, Reason.of("doctor-for-system-do"))


def _list_accelerators(torch: dict[str, Any]) -> set[str]:
    """The accelerators that torch sees, under the names that rule data has for them."""
    seen = set(torch.get("accelerators", []))
    return (seen - {"cuda"}) | {_AMD} if torch.get("hip") and "cuda" in seen else seen


def _check_package(facts: dict[str, Any], platform: Platform, seen: set[str]) -> Iterator[Check]:
    """The package that supplies the accelerator; one that works needs no look at its name on the index."""
    needed = (platform.required_import or "").partition(".")[0]
    if not needed:
        return
    version = facts.get("packages", {}).get("versions", {}).get(needed.replace("_", "-"))
    if version is not None:
        yield Check("platform-package", OK, Reason.of("doctor-for-package", package=needed, version=version))
    elif seen.isdisjoint(platform.machine.accelerators):
        said = Reason.of("doctor-for-package-missing", package=needed, platform=platform.id)
        todo = Reason.of("doctor-for-package-do", package=needed, source=next(iter(platform.source), ""))
        yield Check("platform-package", PROBLEM, said, None, todo)


def _check_accelerator(platform: Platform, seen: set[str]) -> Iterator[Check]:
    able = platform.machine.accelerators
    if not able or _NONE in able:
        return
    there = seen & set(able)
    if not there and _AMD not in able and set(able).isdisjoint(platform.device_types):
        there = seen & {"cuda", _AMD}  # of a maker whose cards torch calls so: nothing tells them apart
    if there:
        yield Check("platform-accelerator", OK, Reason.of("doctor-for-accelerator", names=", ".join(sorted(there))))
        return
    said = Reason.of("doctor-for-accelerator-missing", names=", ".join(able), platform=platform.id)
    yield Check("platform-accelerator", PROBLEM, said, None, Reason.of("doctor-for-accelerator-do"))
