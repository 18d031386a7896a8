"""How many fixes there are: the one number that every report gives, and whose parts add up to it.

A fix is a change for a call site or a use of a device. Imports and the like that go along are part of the fix that needs them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ddp_codemod.edits.units import is_companion
from ddp_codemod.model import Applicability, Edit, Survey
from ddp_codemod.report.edit_sites import leading_edits
from ddp_codemod.report.view import View


def lead_fixes(edits: Sequence[Edit], survey: Survey, sure: Applicability | None = None) -> list[Edit]:
    """The edits that stand for a fix each, of one degree of safety where that is asked for; what goes along, where nothing else is there."""
    leads = [edit for edit in leading_edits(edits, survey) if sure is None or edit.applicability is sure]
    return [edit for edit in leads if not is_companion(edit)] or leads


def format_fixes(view: View, edits: Sequence[Edit]) -> str:
    """How many fixes some edits are, and how many of them are unsafe."""
    fixes = lead_fixes(edits, view.survey)
    unsafe = sum(edit.applicability is Applicability.UNSAFE for edit in fixes)
    safe = len(fixes) - unsafe
    if safe and unsafe:
        return view.say("fixes-both", n=len(fixes), safe=safe, unsafe=unsafe)
    return view.say("fixes-unsafe" if unsafe else "fixes-safe", n=len(fixes))
