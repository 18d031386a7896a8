"""What to do about a trial or a run that failed, on the platform that was asked for: its machine is known, whatever the log leaves open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.model import Platform
from ddp_codemod.catalog.signature import Cure
from ddp_codemod.health import Reading, Trial, TrialResult
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
    cures = _list_fitting_cures(tried.diagnosis.cures, platform, platforms)
    if not works_on(trial.backend, platform):
        cures = [_make_port(trial, platform), *(one for one in cures if one.platform not in (platform.id, None))]
    return replace(tried, diagnosis=replace(tried.diagnosis, cures=tuple(cures)))


def fit_reading(reading: Reading, platform: Platform, check: str | None = None) -> Reading:
    """The reading of a log with the cures for the machines of a platform, its own port first; none that ports to another one.

    ``check``: what lists the rest in a project that is ported already, where no change is left.
    """

    def fit(cures: Sequence[Cure]) -> tuple[Cure, ...]:
        own = [one for one in cures if one.platform == platform.id]
        if not own and any(one.platform is not None for one in cures):
            said, said_zh = (text("diagnose-port", lang, platform=platform.id) for lang in ("en", "zh"))
            own = [Cure(platform=platform.id, unsafe=_moves_device(platform), text=said, text_zh=said_zh)]
        if check is not None and any(not one.rules for one in own):
            said, said_zh = (text("diagnose-ported", lang, platform=platform.id, command=check) for lang in ("en", "zh"))
            own = [Cure(text=said, text_zh=said_zh), *(one for one in own if one.rules)]
        if all(one in cures for one in own):  # each step says what comes before it
            return tuple(one for one in cures if one.platform in (platform.id, None))
        return (*own, *(one for one in cures if one.platform is None))

    return replace(reading, diagnoses=tuple(replace(one, cures=fit(one.cures)) for one in reading.diagnoses))


def _list_fitting_cures(cures: Iterable[Cure], platform: Platform, platforms: Mapping[str, Platform]) -> list[Cure]:
    """The cures that a machine of the platform can need."""
    return [one for one in cures if one.platform is None or _may_be_same_machine(platform, platforms[one.platform])]


def _moves_device(platform: Platform) -> bool:
    """Whether a port moves code to a device of the platform's own, which takes unsafe fixes."""
    return platform.device is not None and bool(platform.device.module)


def works_on(backend: str, platform: Platform) -> bool:
    """Whether a platform has a backend, or each of a composite one."""
    return all(part.rpartition(":")[2].strip() in platform.backend.works for part in backend.split(","))


def _make_port(trial: Trial, platform: Platform) -> Cure:
    words = {"backend": trial.backend, "platform": platform.id}
    said, said_zh = (text("verify-port", lang, **words) for lang in ("en", "zh"))
    return Cure(platform=platform.id, unsafe=_moves_device(platform), text=said, text_zh=said_zh)


def _may_be_same_machine(one: Platform, other: Platform) -> bool:
    """Whether a machine of one platform can be one of the other."""
    machines = (one.machine, other.machine)
    return not any(
        mine and others and set(mine).isdisjoint(others)
        for mine, others in zip(*((machine.systems, machine.accelerators) for machine in machines), strict=True)
    )
