"""The checks of a machine, from what its own Python has answered."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ddp_codemod.catalog.model import Platform
from ddp_codemod.health import Check, Checkup
from ddp_codemod.machine.platform_checks import check_platform
from ddp_codemod.machine.recognise import recognise_platform
from ddp_codemod.machine.torch_checks import MIB, OK, PROBLEM, WARNING, check_gpus, check_torch
from ddp_codemod.model import Reason

SHARED = 1 << 30  # bytes of /dev/shm below which data loaders and NCCL fail in practice
VIRTUAL = re.compile(
    r"docker\d*|br-.*|veth.*|virbr.*|vmnet.*|vboxnet.*|tun\d*|tap\d*|utun\d*|wg\d*|tailscale.*|zt.*|cni.*|flannel.*|cali.*"
    r"|vEthernet.*|.*VMware.*|.*VirtualBox.*|.*Hyper-V.*|.*Radmin.*|.*Loopback.*",
    re.IGNORECASE,
)
_NO_ADDRESS = re.compile(r"[\[\]\s/]|^[^:]*:\d*$")  # a URL, brackets, a port
_INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
LAUNCH = ("RANK", "LOCAL_RANK", "WORLD_SIZE")


def examine(
    facts: dict[str, Any],
    known: Mapping[str, Platform],
    newest: str = "",
    gpus: Mapping[str, str] | None = None,
    asked: Platform | None = None,
) -> Checkup:
    """All checks, and the platform (of those known) that the machine counts as.

    ``newest`` is the newest torch that is known; ``gpus`` are the platforms of single architectures; ``asked`` is the one that the
    user names, if any.
    """
    platform, because = recognise_platform(facts, known, gpus)
    checks = (
        *_check_late_sections(facts),
        *_check_system(facts),
        *check_torch(facts, newest, asked.install if asked is not None else None),
        *check_gpus(facts),
        *_check_network(facts),
        *_check_environment(facts),
        *_check_packages(facts),
        *(check_platform(facts, asked) if asked is not None else ()),
    )
    bare = (
        facts.get("torch", {}).get("distributed") is False
        and platform is not None
        and not _may_lack_distributed(known.get(platform))
    )
    return Checkup(
        checks, platform, because, facts, "error" not in facts.get("torch", {"error": ""}), bare, asked.id if asked else None
    )


def _may_lack_distributed(platform: Platform | None) -> bool:
    """Whether a platform's machines may have a torch without torch.distributed anyway."""
    return platform is None or platform.facts.get("torch.distributed.is_available()") is not True


def _check_late_sections(facts: dict[str, Any]) -> Iterator[Check]:
    """Questions that found no end."""
    for section, found in facts.items():
        if found.get("late"):
            reason = Reason.of("doctor-late", section=section, seconds=f"{found['late']:.0f}")
            yield Check(f"late-{section}", PROBLEM, reason, None, Reason.of("doctor-late-do"))


def _check_system(facts: dict[str, Any]) -> Iterator[Check]:
    system = facts.get("system", {})
    reason = Reason.of("doctor-system", system=system.get("system"), release=system.get("release"), machine=system.get("machine"))
    yield Check("system", OK, reason)
    yield Check("python", OK, Reason.of("doctor-python", version=system.get("python")))
    if system.get("container"):
        yield Check("container", OK, Reason.of("doctor-container", kind=system["container"]))
    if system.get("wsl"):
        yield Check("wsl", OK, Reason.of("doctor-wsl"))
    if "shm_total" in system:
        total = system["shm_total"]
        reason = Reason.of("doctor-shm", size=total // MIB, free=system.get("shm_free", 0) // MIB)
        if total >= SHARED:
            yield Check("shm", OK, reason)
        else:
            yield Check("shm", WARNING, reason, Reason.of("doctor-shm-why"), Reason.of("doctor-shm-do"))


def _check_network(facts: dict[str, Any]) -> Iterator[Check]:
    network = facts.get("network", {})
    if "error" in network or not network:
        return
    if network.get("loopback"):
        yield Check("loopback", OK, Reason.of("doctor-loopback"))
    else:
        yield Check("loopback", PROBLEM, Reason.of("doctor-loopback-broken"), None, Reason.of("doctor-loopback-do"))
    address, port = network.get("master_addr"), network.get("master_port")
    if _NO_ADDRESS.search(str(address)) or not str(address).strip():
        reason = Reason.of("doctor-master-no-address", address=repr(address))
        yield Check("master", PROBLEM, reason, None, Reason.of("doctor-master-no-address-do"))
    elif network.get("master_resolves"):
        yield Check("master", OK, Reason.of("doctor-master", address=address))
    else:
        yield Check("master", PROBLEM, Reason.of("doctor-master-unknown", address=address), None, Reason.of("doctor-master-do"))
    if not network.get("port_free"):
        yield Check("port", WARNING, Reason.of("doctor-port", port=port), None, Reason.of("doctor-port-do"))
    if not network.get("host_resolves"):
        yield Check("host", WARNING, Reason.of("doctor-host"), Reason.of("doctor-host-why"), Reason.of("doctor-host-do"))
    virtual = [name for name in network.get("interfaces", []) if VIRTUAL.fullmatch(name)]
    if virtual and "GLOO_SOCKET_IFNAME" not in facts.get("environment", {}).get("variables", {}):
        reason = Reason.of("doctor-adapters", names=", ".join(virtual))
        yield Check("adapters", WARNING, reason, Reason.of("doctor-adapters-why"), Reason.of("doctor-adapters-do"))


def _check_environment(facts: dict[str, Any]) -> Iterator[Check]:
    variables: dict[str, str] = facts.get("environment", {}).get("variables", {})
    excluded = variables.get("GLOO_SOCKET_IFNAME", "")
    if excluded.startswith("^"):
        yield Check(
            "gloo-interface",
            PROBLEM,
            Reason.of("doctor-gloo-interface", value=excluded),
            None,
            Reason.of("doctor-gloo-interface-do"),
        )
    yield from _check_interfaces(facts, variables)
    for name in _VISIBLE:
        if name in variables and variables[name].strip() in ("", "-1"):
            reason = Reason.of("doctor-hidden", name=name, value=variables[name])
            state = PROBLEM if facts.get("drivers", {}).get("nvidia") else WARNING
            yield Check(f"hidden-{name.lower()}", state, reason, None, Reason.of("doctor-hidden-do", name=name))
    if variables:
        listed = ", ".join(f"{name}={redact_value(name, value)}" for name, value in variables.items())
        yield Check(
            "environment",
            WARNING,
            Reason.of("doctor-environment", variables=listed),
            Reason.of("doctor-environment-why"),
            Reason.of("doctor-environment-do"),
        )
    else:
        yield Check("environment", OK, Reason.of("doctor-environment-none"))


def _check_interfaces(facts: dict[str, Any], variables: dict[str, str]) -> Iterator[Check]:
    """Names of network interfaces that this machine does not have. NCCL takes beginnings of names, =NAME, and ^NAME for all others."""
    there = facts.get("network", {}).get("interfaces", [])
    for name in _INTERFACES:
        value = variables.get(name, "").strip()
        if not there or not value or value.startswith("^"):
            continue
        exact = name != "NCCL_SOCKET_IFNAME" or value.startswith("=")
        wanted = [part.partition(":")[0] for part in value.removeprefix("=").split(",") if part]
        if not any(one == part or (not exact and one.startswith(part)) for one in there for part in wanted):
            reason = Reason.of("doctor-interface-missing", name=name, value=value)
            todo = Reason.of("doctor-interface-missing-do", name=name, there=", ".join(there))
            yield Check(f"interface-{name.lower()}", PROBLEM, reason, None, todo)


def redact_value(name: str, value: str) -> str:
    """The value of a variable, unless it may name a user, a host or a secret."""
    if name == "MASTER_ADDR" and value != "localhost":
        try:
            ipaddress.ip_address(value)
        except ValueError:
            return "<host>"
    return value if re.fullmatch(r"[\w.,:^=+-]{0,40}", value) else "<...>"


def _check_packages(facts: dict[str, Any]) -> Iterator[Check]:
    versions = {name: version for name, version in facts.get("packages", {}).get("versions", {}).items() if name != "torch"}
    if versions:
        listed = ", ".join(f"{name} {version}" for name, version in versions.items())
        yield Check("packages", OK, Reason.of("doctor-packages", versions=listed))
