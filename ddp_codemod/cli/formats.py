"""The output formats that other tools read, beside the project's own JSON."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.model import Survey


def encode_document(job: Job, survey: Survey) -> bytes:
    """A survey in the format that the options ask for, with every edit rendered."""
    from ddp_codemod.edits.render import Rendered, render
    from ddp_codemod.report import github, gitlab, rdjson, sarif

    settings = job.settings
    scope = sarif.Scope(survey, job.options.rules, settings.json_lang, repository_prefix(job.root), settings.unsafe)
    rendered = render(survey, unsafe=True) if survey.edits else Rendered((), (), (), ())
    dumps = {"sarif": sarif.dumps, "github": github.dumps, "rdjson": rdjson.dumps, "gitlab": gitlab.dumps}[settings.format]
    return dumps(scope, rendered.failed_edits, rendered.failed)


def repository_prefix(root: Path) -> str:
    """What leads from the top of the repository to the root: "", or folders with a slash behind them.

    Code hosts and reviewdog name files from the top.
    """
    home = root.absolute()
    top = next((at for at in (home, *home.parents) if os.path.lexists(at / ".git")), home)
    prefix = home.relative_to(top).as_posix()
    return "" if prefix == "." else prefix + "/"
