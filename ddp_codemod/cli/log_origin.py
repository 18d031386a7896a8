"""Whether a log can be of this project, and of the platform that is named; and whether an argument is a log at all."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from ddp_codemod.cli.console import Console
from ddp_codemod.model import Action

if TYPE_CHECKING:
    from ddp_codemod.catalog.model import Platform
    from ddp_codemod.health import Reading
    from ddp_codemod.model import Survey
    from ddp_codemod.report.view import View


def is_message(log: str) -> bool:
    """Whether an argument is the text of an error and no file's name: people paste the last line of a traceback."""
    try:
        there = Path(log).exists()
    except (OSError, ValueError):  # longer than a file's name may be
        there = False
    return not there and ("\n" in log or ": " in log)


def explain_foreign_log(console: Console, reading: Reading, platform: Platform | None) -> list[str]:
    """That a platform cannot have written the log, because its torch lacks the backend whose library did."""
    known = reading.diagnoses[0].signature if reading.diagnoses else None
    if platform is None or known is None or known.backend is None or known.absent:
        return []
    if platform.facts.get(f"torch.distributed.is_{known.backend}_available()") is not False:
        return []
    return [console.text("diagnose-foreign", backend=known.backend, platform=platform.id)]


def explain_other_copy(view: View, whole: Survey, backend: str | None, known: Container[str]) -> list[str]:
    """That the code which is here does not ask for the backend that the log is about."""
    sites = [one for one in whole.decisions if one.resolves_to and all(name in known for name in one.resolves_to)]
    if backend is None or not sites or any(backend in one.resolves_to or one.action is not Action.KEEP for one in sites):
        return []
    words = {"backend": backend, "platform": whole.platform, "value": ", ".join(sites[0].resolves_to)}
    return [view.say("diagnose-other-copy", place=view.where(sites[0].place), **words)]
