"""What shows, without running anything, of what kind a machine is: the checks that rule data names in ``detection.checks``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field

AMD = "0x1002"  # PCI vendor identifier
# Variables that continuous integration services, pre-commit and git's own hooks set: there a user chooses, not the machine.
UNATTENDED = (
    *("CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"),
    *("TF_BUILD", "BUILDKITE", "TEAMCITY_VERSION", "CIRCLECI", "PRE_COMMIT", "GIT_INDEX_FILE"),
)


class Machine(Struct, frozen=True):
    """A machine to look at; tests give a folder as ``root`` of its file system."""

    root: Path = Path("/")
    sys_platform: str = sys.platform
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def linux(self) -> bool:
        """Whether the system is Linux."""
        return self.sys_platform.startswith("linux")

    def has(self, path: str) -> bool:
        """Whether a path, relative to the root, is there."""
        try:
            return (self.root / path).exists()
        except OSError:
            return False

    def matches(self, folder: str, pattern: str) -> list[Path]:
        """Entries of a folder whose name matches a regular expression, sorted; none where the folder cannot be read."""
        try:
            return sorted(entry for entry in (self.root / folder).iterdir() if re.fullmatch(pattern, entry.name))
        except OSError:
            return []


def _is_wsl(machine: Machine) -> bool:
    # WSL2 shows the graphics card as /dev/dxg, also inside containers; without it there is no accelerator to speak of
    return machine.linux and machine.has("dev/dxg")


def _has_rocm(machine: Machine) -> bool:
    if not machine.linux:
        return False
    named = machine.environ.get("ROCM_PATH", "").strip("/")
    return bool(machine.matches("opt", r"rocm(-\d.*)?")) or bool(named and machine.has(named))


def _has_dtk(machine: Machine) -> bool:
    """Whether Hygon's toolkit is there: its own instructions begin with ``source /opt/dtk/env.sh``."""
    return machine.linux and bool(machine.matches("opt", r"dtk(-\d.*)?"))


def _has_amd_gpu(machine: Machine) -> bool:
    if not machine.linux or not machine.has("dev/kfd"):
        return False
    return any(_read_vendor(machine, node.name) == AMD for node in machine.matches("dev/dri", r"renderD\d+"))


def _read_vendor(machine: Machine, node: str) -> str:
    """The PCI vendor of a graphics device; "" where it cannot be read."""
    try:
        return (machine.root / "sys/class/drm" / node / "device/vendor").read_text("ascii").strip().lower()
    except (OSError, UnicodeDecodeError):
        return ""


def find_amd_architectures(machine: Machine) -> frozenset[str]:
    """What AMD's driver says its GPUs are: ``gfx1151``; its CPUs are nodes of the same table, with 0.

    Source: the sysfs interface of amdkfd, gfx_target_version = major * 10000 + minor * 100 + stepping.
    """
    found = set()
    for node in machine.matches("sys/class/kfd/kfd/topology/nodes", r"\d+"):
        try:
            said = re.search(r"^gfx_target_version (\d+)$", (node / "properties").read_text("ascii"), re.M)
        except (OSError, UnicodeDecodeError):
            continue
        if said and (number := int(said[1])):
            found.add(f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}")
    return frozenset(found)


def _has_nvidia_gpu(machine: Machine) -> bool:
    if not machine.linux:
        return False
    native = bool(machine.matches("dev", r"nvidia\d+"))
    # under WSL2 the Windows driver of NVIDIA, and only it, puts nvidia-smi there
    return native or (_is_wsl(machine) and machine.has("usr/lib/wsl/lib/nvidia-smi"))


def _has_ascend_npu(machine: Machine) -> bool:
    return machine.linux and bool(machine.matches("dev", r"davinci\d+"))


def _has_one_accelerator(machine: Machine) -> bool:
    """Whether a machine shows one accelerator, of whatever kind: its device files are counted."""
    cards = [*machine.matches("dev", r"nvidia\d+"), *machine.matches("dev", r"davinci\d+")]
    if _has_amd_gpu(machine):
        cards += [node for node in machine.matches("dev/dri", r"renderD\d+") if _read_vendor(machine, node.name) == AMD]
    return machine.linux and len(cards) == 1


Check: TypeAlias = Callable[[Machine], bool]

CHECKS: dict[str, Check] = {
    "windows": lambda machine: machine.sys_platform in ("win32", "cygwin"),
    "macos": lambda machine: machine.sys_platform == "darwin",
    "linux": lambda machine: machine.linux,
    "wsl": _is_wsl,
    "rocm-installed": _has_rocm,
    "dtk-installed": _has_dtk,
    "amd-gpu": _has_amd_gpu,
    "nvidia-gpu": _has_nvidia_gpu,
    "ascend-npu": _has_ascend_npu,
    "one-accelerator": _has_one_accelerator,
}


def has_all_checks(checks: tuple[str, ...], machine: Machine, gpus: tuple[str, ...] = ()) -> bool:
    """Whether all named checks hold, and all GPUs are of the architectures, where any are named.

    A name that no check has, such as one of a newer rule folder, does not hold.
    """
    if not checks or not all(name in CHECKS and CHECKS[name](machine) for name in checks):
        return False
    return not gpus or (bool(seen := find_amd_architectures(machine)) and seen <= set(gpus))


def find_unattended_variable(environ: Mapping[str, str]) -> str | None:
    """The variable that shows a run in continuous integration or a hook, if there is one."""
    return next((name for name in UNATTENDED if environ.get(name, "").lower() not in ("", "0", "false", "no")), None)
