"""What a patch changes for groups that needed no change: a backend that worked on the platform, and is another one now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.model import CHANGED, Action, Advisory, Decision, Reason, Survey

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job

_Site = tuple[str, str, str]


def note_changed_backends(job: Job, found: Survey, old: Mapping[str, bytes], base: str) -> list[Advisory]:
    """A note for each group that got another working backend at ``base``; ``old`` are the files as they were there."""
    if not old:
        return []
    from ddp_codemod.discover.unsaved import use_unsaved_texts
    from ddp_codemod.run.survey import survey

    with use_unsaved_texts({str((job.root / name).absolute()): data for name, data in old.items()}):
        before = survey(replace(job.options, cache=False, starts=False))
    return [*_compare_sites(job, _list_sites(job, before), _list_sites(job, found), found, base)]


def _list_sites(job: Job, found: Survey) -> dict[_Site, list[Decision]]:
    """The decisions about backends, by file and function, in order."""
    sites: dict[_Site, list[Decision]] = {}
    for one in found.decisions:
        surface = job.options.rules.surfaces.get(one.surface)
        if surface is not None and any(part.name == one.parameter and part.role == "backend" for part in surface.parameters):
            sites.setdefault((one.call.name, one.surface, one.parameter), []).append(one)
    return sites


def _compare_sites(
    job: Job, before: Mapping[_Site, list[Decision]], after: Mapping[_Site, list[Decision]], found: Survey, base: str
) -> Iterator[Advisory]:
    for key, now in after.items():
        then = before.get(key, [])
        if len(then) != len(now):  # which is which is not known
            alike = {one.resolves_to for one in then if one.action is Action.KEEP}
            then = [then[0]] * len(now) if len(alike) == 1 and all(one.action is Action.KEEP for one in then) else []
        for old, new in zip(then, now, strict=False):
            values = {*old.resolves_to} ^ {*new.resolves_to}
            if old.action is not Action.KEEP or new.action is not Action.KEEP or not values or "?" in values:
                continue
            line = found.sources[new.call.name].position(new.call.start)[0]
            names = {"old": ", ".join(old.resolves_to), "new": ", ".join(new.resolves_to)}
            reason = Reason.of("note-changed-backend", platform=job.options.platform.id, base=base, **names)
            yield Advisory(new.call.name, line, CHANGED, reason)
