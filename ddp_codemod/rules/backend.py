"""What a backend string comes to on a platform: fine as it is, or another text."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ddp_codemod.rules.model import Backend, BackendChoice


class Verdict(Struct, frozen=True):
    """``known`` is false for a name that neither torch nor a plugin of the rule data has; ``wanted`` is None where it may stay."""

    known: bool
    wanted: str | None = None


def assess(text: str, choice: BackendChoice, backends: Mapping[str, Backend]) -> Verdict:
    """Judge a backend string, which torch reads without regard to case.

    A composite such as ``cpu:gloo,cuda:nccl`` is judged device by device and only the wrong parts change.
    """
    if not text:
        return Verdict(True)  # nothing is set here; what fills it is another leaf
    if ":" not in text:
        name = text.lower()
        if name not in backends:
            return Verdict(False)
        return Verdict(True, None if name in choice.works else choice.wanted)
    parts: list[str] = []
    changed = False
    for part in text.split(","):
        device, _, name = part.partition(":")
        if name.lower() not in backends or not device:
            return Verdict(False)
        if name.lower() not in choice.works:
            changed = True
            target = choice.devices.get(device.lower(), device)
            parts.append(f"{target}:{choice.wanted_for.get(target, choice.wanted)}")
        else:
            parts.append(part)
    return Verdict(True, ",".join(parts) if changed else None)
