"""What to do about a trial that failed, on the platform that was asked for: its machine is known, whatever the log leaves open."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from ddp_codemod.catalog.model import Platform
from ddp_codemod.catalog.signature import Cure
from ddp_codemod.health import Trial, TrialResult
from ddp_codemod.messages import text
from ddp_codemod.model import Reason

_ALSO = {"rocm": "amd"}  # hints about a machine whose accelerator has another name in rule data


def list_machine_hints(platform: Platform, known: Collection[str]) -> tuple[str, ...]:
    """What a platform tells of its logs: its operating system and accelerator, where it has one of each."""
    machine = platform.machine
    names = [group[0] for group in (machine.systems, machine.accelerators) if len(group) == 1]
    return tuple(hint for name in names if (hint := _ALSO.get(name, name)) in known)


def fit_to_platform(tried: TrialResult, trial: Trial, platform: Platform, platforms: Mapping[str, Platform]) -> TrialResult:
    """The result with the cures for the machines of the platform: first its own port, where the backend fails there."""
    if trial.plugin is not None and f"No module named '{trial.plugin.partition('.')[0]}'" in tried.error:
        return replace(tried, advice=Reason.of("verify-package-missing", package=trial.plugin, platform=platform.id))
    if tried.diagnosis is None:
        return tried
    cures = [
        one for one in tried.diagnosis.cures if one.platform is None or _may_be_same_machine(platform, platforms[one.platform])
    ]
    if not works_on(trial.backend, platform):
        cures = [_make_port(trial, platform), *(one for one in cures if one.platform not in (platform.id, None))]
    return replace(tried, diagnosis=replace(tried.diagnosis, cures=tuple(cures)))


def works_on(backend: str, platform: Platform) -> bool:
    """Whether a platform has a backend, or each of a composite one."""
    return all(part.rpartition(":")[2].strip() in platform.backend.works for part in backend.split(","))


def _make_port(trial: Trial, platform: Platform) -> Cure:
    words = {"backend": trial.backend, "platform": platform.id}
    moves = platform.device is not None and bool(platform.device.module)
    said, said_zh = (text("verify-port", lang, **words) for lang in ("en", "zh"))
    return Cure(platform=platform.id, unsafe=moves, text=said, text_zh=said_zh)


def _may_be_same_machine(one: Platform, other: Platform) -> bool:
    """Whether a machine of one platform can be one of the other."""
    machines = (one.machine, other.machine)
    return not any(
        mine and others and set(mine).isdisjoint(others)
        for mine, others in zip(*((machine.systems, machine.accelerators) for machine in machines), strict=True)
    )
