"""``review --html``: the page, and how to go on with it."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.cli.errors import Failure
from ddp_codemod.cli.patches import Patching
from ddp_codemod.cli.run import exit_code
from ddp_codemod.edits.units import build_units
from ddp_codemod.model import Applicability


def write_page(whole: Patching, path: Path, unsafe: bool) -> int:
    """Write the page and say what to do with it."""
    from ddp_codemod.cli.run_overlay import over_record
    from ddp_codemod.report.html import MARK, Choices, render_page
    from ddp_codemod.report.run_page import section
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.page import save_page
    from ddp_codemod.write.repository import find_blobs

    job, rendered = whole.job, whole.rendered
    view = job.view(whole.survey)
    broken = {id(edit) for edit in rendered.failed_edits}
    offered = [
        unit
        for unit in build_units(whole.survey)
        if unit.applicability is not Applicability.MANUAL and not any(id(edit) in broken for edit in unit.edits)
    ]
    after = {change.name: change.after for change in rendered.changes}
    run = section(view, over_record(job), job.settings.again("apply")) if job.options.recorded else {}
    choices = Choices(view, job.options.rules, offered, after, find_blobs(job.root, list(after)), unsafe, run)
    try:
        save_page(path, render_page(choices), MARK)
    except WriteError as why:
        raise Failure(why.reason) from None
    job.console.out(job.console.text("page-written", n=len(offered), path=path))
    return exit_code(whole.survey, job.settings, rendered.failed)
