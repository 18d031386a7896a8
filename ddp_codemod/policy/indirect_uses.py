"""What may be changed for a call that is found through other code: which is handed the function, or may call another one there."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.model import Action, Reason
from ddp_codemod.policy.default_argument import describe_default_chooser, mark_unsafe
from ddp_codemod.policy.findings import Change, Context, DroppedArgument, Finding, NewKeyword, NewText, Splice
from ddp_codemod.sites.surface_calls import Use


def limit_to_use(context: Context, finding: Finding) -> Finding:
    """The finding, as far as its call lets it be made, and unsafe where something else may be called there."""
    use = finding.use
    if not isinstance(use, Use):
        return finding
    if finding.action is Action.EDIT and use.call not in use.module.nodes.get(ast.Call, ()):
        finding = _write_in_table(context, finding, use)
    if (not use.alone or use.unknown_receiver) and not (use.alike and all(isinstance(one, NewText) for one in finding.changes)):
        return mark_unsafe(finding)  # and be passed the new value
    return finding


def _write_in_table(context: Context, finding: Finding, use: Use) -> Finding:
    """The finding of a call that no text of the file is: what it gets besides is written where its keywords are."""
    changes: list[Change] = []
    for change in finding.changes:
        if isinstance(change, NewKeyword) and change.call is use.call and isinstance(use.table, ast.Dict):
            text = f'"{change.keyword}": {change.value}' + (", " if use.table.keys else "")
            changes.append(Splice(use.module, use.module.place(use.table).start + 1, text))
        elif isinstance(change, (NewKeyword, DroppedArgument)) and change.call is use.call:
            assert finding.rule is not None
            where = {"name": describe_default_chooser(context, use), "text": " ".join(use.module.text(use.call.func).split())}
            return finding.review(finding.rule, Reason.of("review-handed", **where))
        else:
            changes.append(change)
    return replace(finding, changes=tuple(changes))
