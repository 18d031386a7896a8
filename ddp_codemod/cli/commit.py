"""What ``apply`` and ``diff`` do beyond the patch: a commit, a mail, the text of a pull request."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from ddp_codemod.cli.change_records import make_change_records
from ddp_codemod.cli.errors import make_failure, refusal_failure
from ddp_codemod.cli.patches import Patching
from ddp_codemod.cli.translate import option

if TYPE_CHECKING:
    from ddp_codemod.write.commit import Committed
    from ddp_codemod.write.pull_request import Opening

F = TypeVar("F", bound=Callable[..., Any])

SUMMARY = option("--summary", type=click.Choice(["md"]), help="help-summary")


def commit_options(function: F) -> F:
    """Give ``apply`` and ``review`` their options about commits."""
    for decorate in (
        option("--run-hooks", is_flag=True, help="help-run-hooks"),
        option("--branch", metavar="NAME", help="help-branch"),
        option("--commit", is_flag=True, help="help-commit"),
    ):
        function = decorate(function)
    return function


def check_commit(commits: bool, allow_dirty: bool, run_hooks: bool) -> None:
    """Raise Failure for options that do not go together."""
    if commits and allow_dirty:
        raise make_failure("commit-allow-dirty")
    if run_hooks and not commits:
        raise make_failure("commit-run-hooks")


def write_commit(patch: Patching, branch: str | None, run_hooks: bool) -> Committed:
    """Write and commit. Raises Failure with the reason where that is refused."""
    from ddp_codemod.write.commit import commit_changes
    from ddp_codemod.write.errors import WriteError

    job = patch.job
    try:
        why = make_change_records(patch.survey, patch.rendered.changes, patch.job.options.style == "portable")
        return commit_changes(
            job.root, patch.rendered.changes, _format_message(patch), branch=branch, run_hooks=run_hooks, why=why
        )
    except WriteError as why:
        raise refusal_failure(why, job.root) from None


def prepared(patch: Patching) -> Opening:
    """How the pull request will be opened, found out before anything is written. Raises Failure where it cannot be."""
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.pull_request import prepare

    try:
        return prepare(patch.job.root)
    except WriteError as why:
        raise refusal_failure(why, patch.job.root) from None


def requested(patch: Patching, opening: Opening, branch: str, run_hooks: bool) -> str:
    """Push the branch and open the pull request; returns its address. Raises Failure."""
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.pull_request import open_request

    try:
        return open_request(
            opening, branch, _format_message(patch).partition("\n")[0], format_markdown(patch).decode("utf-8"), run_hooks
        )
    except WriteError as why:
        raise refusal_failure(why, patch.job.root) from None


def format_undo_command(commit: Committed) -> str:
    """The command that takes a commit back."""
    return f"git revert --no-edit {commit.id[:10]}"


def format_mbox(patch: Patching) -> bytes:
    """The patch as a mail; nothing where nothing changes. Raises Failure where nobody is known to write it."""
    from ddp_codemod.report.mbox import format_mail
    from ddp_codemod.write.commit import find_identity

    if not patch.whole:
        return b""
    author = find_identity(patch.job.root)
    if author is None:
        raise make_failure("commit-nobody")
    now = os.environ.get("SOURCE_DATE_EPOCH", "")
    return format_mail(patch.whole, _format_message(patch), author, int(now) if now.isdigit() else time.time())


def format_markdown(patch: Patching) -> bytes:
    """The text of a pull request."""
    from ddp_codemod.report.ink import Ink
    from ddp_codemod.report.markdown import format_pull_request

    job = patch.job
    view = replace(job.view(patch.survey), lang=job.settings.json_lang, ink=Ink(False))
    return format_pull_request(view, job.options.rules, patch.made, patch.rendered.left, _format_command(patch)).encode(
        "utf-8", "replace"
    )


def _format_message(patch: Patching) -> str:
    from ddp_codemod.report.commit_message import format_commit_message

    return format_commit_message(
        patch.survey,
        patch.job.options.rules,
        patch.made,
        _format_command(patch),
        patch.job.settings.json_lang,
        patch.job.settings.style == "portable",
        patch.cost,
    )


def _format_command(patch: Patching) -> str:
    """The command that makes the same changes, as typed at the root: nobody's folders belong into a history."""
    job = patch.job
    root = os.path.normpath(job.root.absolute())
    paths = [os.path.relpath(os.path.normpath(Path(path).absolute()), root).replace(os.sep, "/") for path in job.settings.paths]
    if job.settings.command == "review":  # which shows what is unsafe without being asked to
        return replace(job.settings, unsafe=False).again("review", platform=job.options.platform.id, paths=tuple(paths))
    return job.settings.again("apply", platform=job.options.platform.id, paths=tuple(paths))
