"""What ``apply`` and ``diff`` share: from a survey to a patch, and how its outcome is told."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.narrowing import survey_narrowed
from ddp_codemod.cli.run import Job, build_whole_command, exit_code, make_command_builder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddp_codemod.edits.render import Rendered
    from ddp_codemod.model import Edit, Survey
    from ddp_codemod.patch.blob import Blob
    from ddp_codemod.report.outcome import Outcome


class Patching(Struct, frozen=True):
    """A survey and what it becomes: the rendered changes and each file's part of the patch."""

    job: Job
    survey: Survey
    rendered: Rendered
    parts: dict[str, bytes]  # by name
    whole: bytes

    @property
    def made(self) -> tuple[Edit, ...]:
        """The edits in the patch, each with its new text."""
        return tuple(edit for change in self.rendered.changes for edit in change.edits)

    def json(self, written: bool) -> bytes:
        """The report for programs."""
        from ddp_codemod.report.json import dumps

        edits = (*self.made, *self.rendered.left, *self.rendered.failed_edits)
        return dumps(self.survey, self.job.settings.json_lang, edits, self.made if written else (), self.rendered.failed)

    @property
    def code(self) -> int:
        """The exit code of a command that is done with this patch."""
        return exit_code(self.survey, self.job.settings, self.rendered.failed)

    def outcome(self, done: str) -> Outcome:
        """What to tell about it."""
        from ddp_codemod.report.outcome import Outcome

        whole = build_whole_command(self.job, self.survey)
        base = self.job.settings.diff_base or ""
        return Outcome(
            done, self.made, self.rendered.left, self.rendered.failed, make_command_builder(self.job), base, whole, self.cost
        )

    @property
    def cost(self) -> str:
        """What the platform's backend costs, where edits give it to a group; "" elsewhere."""
        from ddp_codemod.messages import in_language

        backends = {fix.id for fix in self.job.options.rules.fixes.values() if fix.recipe == "replace-backend"}
        given = any(edit.rule in backends for edit in self.made)
        return in_language(self.job.options.platform, "cost", self.job.settings.lang) if given else ""


def tell_cost(patch: Patching) -> None:
    """Say what the platform's backend costs, where edits give it to a group."""
    console = patch.job.console
    if patch.cost and patch.job.settings.format == "text":
        console.say(console.folded(console.text("platform-cost", cost=patch.cost), sys.stderr))


def make_patch(job: Job, converted: bool = False) -> Patching:
    """Survey the project and render its edits; without an edit nothing that renders is loaded."""
    return make_patch_of_survey(job, survey_narrowed(job), converted)


def make_patch_of_survey(job: Job, found: Survey, converted: bool = False) -> Patching:
    """The patch of a survey's edits, all those that the options allow; with ``converted`` also in files that git rewrites."""
    from ddp_codemod.edits.render import Rendered, render

    if not found.edits:
        return Patching(job, found, Rendered((), (), (), ()), {}, b"")
    from ddp_codemod.patch.gitdiff import format_file_diffs, join_diffs
    from ddp_codemod.write.repository import find_blobs

    rendered = render(found, job.settings.unsafe)
    held = find_blobs(job.root, [change.name for change in rendered.changes])
    if not converted:
        rendered = _remove_converted(found, rendered, held, job.settings.unsafe)
    parts = format_file_diffs(rendered.changes, held)
    return Patching(job, found, rendered, parts, join_diffs(parts, held))


def _remove_converted(found: Survey, rendered: Rendered, held: Mapping[str, Blob], unsafe: bool) -> Rendered:
    """The same without the files that git rewrites by a filter or an encoding: what they hold in git is not known here.

    A patch for them would not apply, and unsaved work in them cannot be told. What belongs together with their edits is left too.
    """
    from ddp_codemod.edits.render import render
    from ddp_codemod.model import Reason, Skipped

    barred: dict[str, str] = {}
    for change in rendered.changes:
        blob = held.get(change.name)
        if blob is not None and blob.converter and not blob.holds(change.before):
            barred[change.name] = blob.converter
    if not barred:
        return rendered
    lost = {number for edit in found.edits if edit.name in barred for number in edit.groups}
    kept, left = [], []
    for edit in found.edits:
        alive = [number for number in edit.groups if number not in lost]
        if alive:
            kept.append(replace(edit, group=alive[0], also=tuple(alive[1:])))
        else:
            left.append(edit)
    again = render(replace(found, edits=tuple(kept)), unsafe)
    skipped = [Skipped(name, Reason.of("skipped-converted", attribute=name_of)) for name, name_of in sorted(barred.items())]
    return replace(again, failed=(*again.failed, *skipped), failed_edits=(*again.failed_edits, *left))
