"""What a backend string comes to on a platform: fine as it is, or another text."""

from __future__ import annotations

from collections.abc import Mapping, Set

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.backend_model import Backend
from ddp_codemod.catalog.model import BackendChoice, FactValue


class Verdict(Struct, frozen=True):
    """``known`` is false for a name that neither torch nor a plugin of the rule data has; ``wanted`` is None where it may stay."""

    known: bool
    wanted: str | None = None


def assess(text: str, choice: BackendChoice, backends: Mapping[str, Backend], packages: Set[str] = frozenset()) -> Verdict:
    """Judge a backend string, which torch reads without regard to case.

    A composite such as ``cpu:gloo,cuda:nccl`` is judged device by device and only the wrong parts change. ``packages`` are
    those that the code speaks of, which decides where two backends have one name.
    """
    if not text:
        return Verdict(True)  # nothing is set here; what fills it is another source
    if ":" not in text:
        name = find_backend_id(text, "", backends, packages)
        if name not in backends:
            return Verdict(False)
        return Verdict(True, None if name in choice.works else choice.wanted)
    parts: list[str] = []
    changed = False
    for part in text.split(","):
        device, _, name = part.partition(":")
        name = find_backend_id(name, device, backends, packages)
        if name not in backends or not device:
            return Verdict(False)
        if name not in choice.works:
            changed = True
            target = choice.devices.get(device.lower(), device)
            parts.append(f"{target}:{choice.wanted_for.get(target, choice.wanted)}")
        else:
            parts.append(part)
    return Verdict(True, ",".join(parts) if changed else None)


def find_backend_id(name: str, device: str, backends: Mapping[str, Backend], packages: Set[str] = frozenset()) -> str:
    """The entry of the rule data that a name is: the one for its device, or for a package that the code speaks of, comes first."""
    name, device = name.lower(), device.lower()
    if device:
        return f"{device}:{name}" if f"{device}:{name}" in backends else name
    own = (key for key, entry in backends.items() if entry.package in packages and key.rpartition(":")[2] == name)
    return next(own, name) if packages else name


def find_backends(text: str, backends: Mapping[str, Backend], packages: Set[str] = frozenset()) -> list[Backend]:
    """The entries that a backend string names, those that the rule data has."""
    parts = (part.rpartition(":") for part in text.split(","))
    keys = (find_backend_id(name, device, backends, packages) for device, _, name in parts)
    return [backends[key] for key in keys if key in backends]


def find_libraries(text: str, backends: Mapping[str, Backend]) -> set[str]:
    """The names of a backend string, and those of the libraries that they are other names of."""
    names = {part.rpartition(":")[2].lower() for part in text.split(",")}
    return names | {entry.like for entry in find_backends(text, backends) if entry.like}


def add_library_aliases(choice: BackendChoice, facts: Mapping[str, FactValue], backends: Mapping[str, Backend]) -> BackendChoice:
    """The choice with the other names of the libraries that work there."""
    kin = [key for key, one in backends.items() if one.like in choice.works and is_consistent(one.facts, facts)]
    return replace(choice, works=tuple(dict.fromkeys((*choice.works, *kin))))


def is_consistent(wanted: Mapping[str, FactValue], facts: Mapping[str, FactValue]) -> bool:
    """Whether a platform's facts say nothing else."""
    return all(facts.get(name, value) == value for name, value in wanted.items())
