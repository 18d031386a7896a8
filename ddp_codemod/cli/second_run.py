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
    from ddp_codemod.cli.change_records import make_change_records
    from ddp_codemod.discover.unsaved import use_unsaved_texts
    from ddp_codemod.write.ported_lines import list_written_lines

    found = survey_narrowed(job)
    changes = make_patch_of_survey(job, found).rendered.changes
    job.console.say(job.console.text("after-apply", files=len(changes), n=sum(len(change.edits) for change in changes)))
    own = list_written_lines(make_change_records(found, changes, job.options.style == "portable"))
    ported = {name: (*job.options.ported.get(name, ()), *own.get(name, ())) for name in {*job.options.ported, *own}}
    with use_unsaved_texts({str((job.root / change.name).absolute()): change.after for change in changes}):
        return survey_narrowed(replace(job, options=replace(job.options, cache=False, ported=ported)))
