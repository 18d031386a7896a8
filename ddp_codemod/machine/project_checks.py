"""What an environment has of the versions that a project states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.machine import MachineFacts
from ddp_codemod.catalog.model import Platform
from ddp_codemod.health import Check
from ddp_codemod.machine.torch_checks import OK, WARNING
from ddp_codemod.model import Reason
from ddp_codemod.policy.versions import Versions
from ddp_codemod.versions import Stated, holds, parse_stated


def check_project(root: Path, facts: dict[str, Any], rules: Rules, platform: Platform | None) -> Iterator[Check]:
    """One for each package that rule data knows, the project states and the environment has; ``platform``: the machine's, if known.

    Also one for what the user would be asked for, where the project states nothing about it.
    """
    target = platform.machine if platform is not None else MachineFacts()
    named = [one.machine for one in rules.platforms.values()]
    known = platform.facts if platform is not None else {}
    versions = Versions(root, rules.packages, known, {}, target, rules.machines, named)
    installed = dict(facts.get("packages", {}).get("versions", {}))
    installed |= {"torch": facts["torch"]["version"]} if facts.get("torch", {}).get("version") else {}
    for package in rules.packages.values():
        there = next((installed[name] for name in package.names if name in installed), None)
        stated = [one for one in versions.alternatives(package.name) if one.specifier]
        if there is not None and stated:
            yield _compare(package.name, str(there), stated)
        elif package.asked and not stated:
            yield Check(f"project-{package.name}", OK, Reason.of("doctor-unstated", package=package.name))


def _compare(package: str, installed: str, stated: list[Stated]) -> Check:
    """Whether the version that is there is one of those that are stated."""
    try:
        own = parse_stated(installed, package, "")
        met = next((one for one in stated if holds(one.specifier, own)), None)
    except ValueError:
        met = stated[0]  # no version that can be compared
    shown = met or stated[0]
    words = {"package": package, "version": installed, "origin": shown.origin, "wanted": shown.specifier}
    if met is not None:
        return Check(f"project-{package}", OK, Reason.of("doctor-stated", **words))
    why, todo = Reason.of("doctor-stated-differs-why"), Reason.of("doctor-stated-differs-do")
    return Check(f"project-{package}", WARNING, Reason.of("doctor-stated-differs", **words), why, todo)
