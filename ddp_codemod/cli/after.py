"""``check --after-apply``: what a second run would still say, without a first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ddp_codemod.cli.narrow import look
from ddp_codemod.cli.patching import patched

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.model import Survey


def after_apply(job: Job) -> Survey:
    """The survey of the project as ``apply`` with the same options would leave it; nothing is written."""
    from ddp_codemod.discover.unsaved import holding

    changes = patched(job, look(job)).rendered.changes
    job.console.say(job.console.text("after-apply", files=len(changes), n=sum(len(change.edits) for change in changes)))
    with holding({str((job.root / change.name).absolute()): change.after for change in changes}):
        return look(replace(job, options=replace(job.options, cache=False)))
