"""``check --after-apply``: what a second run would still say, without a first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.cli.narrowing import survey_narrowed
from ddp_codemod.cli.patches import make_patch_of_survey

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.model import Survey


def survey_after_apply(job: Job) -> Survey:
    """The survey of the project as ``apply`` with the same options would leave it; nothing is written."""
    from ddp_codemod.discover.unsaved import use_unsaved_texts

    changes = make_patch_of_survey(job, survey_narrowed(job)).rendered.changes
    job.console.say(job.console.text("after-apply", files=len(changes), n=sum(len(change.edits) for change in changes)))
    with use_unsaved_texts({str((job.root / change.name).absolute()): change.after for change in changes}):
        return survey_narrowed(replace(job, options=replace(job.options, cache=False)))
