"""What may be changed for a call that is found through other code: which is handed the function, or may call another one there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.calls import find_passed_argument, is_bound_method
from ddp_codemod.model import Action, Applicability, Place, Reason
from ddp_codemod.policy.default_argument import describe_default_chooser, mark_unsafe
from ddp_codemod.policy.findings import Change, Context, DroppedArgument, Finding, NewKeyword, NewText, Splice
from ddp_codemod.sites.entities import Variable
from ddp_codemod.sites.scopes import owner_scope, scope_of
from ddp_codemod.sites.surface_calls import Use


def limit_to_use(context: Context, finding: Finding) -> Finding:
    """The finding, as far as its call lets it be made, and unsafe where something else may be called there."""
    use = finding.use
    if not isinstance(use, Use):
        return finding
    if finding.action is Action.EDIT and use.call not in use.module.nodes.get(ast.Call, ()):
        finding = _write_in_table(context, finding, use)
    if use.guard and not use.alone and finding.action is Action.EDIT:
        finding = _drop_what_others_get(context, finding, use)
    if (not use.alone or use.unknown_receiver) and not (use.alike and all(isinstance(one, NewText) for one in finding.changes)):
        may_be_guarded = bool(use.guard) and (finding.untraced or finding.applicability is Applicability.SAFE)
        return replace(mark_unsafe(finding), untraced=may_be_guarded and finding.action is not Action.KEEP)
    return finding


def _drop_what_others_get(context: Context, finding: Finding, use: Use) -> Finding:
    """The finding without the changes of what comes only with another function: ``run(print, "nccl")``, where ``run`` calls its first."""
    places = [*_find_calls_for_others(context, use)]

    def comes_with_another(change: Change) -> bool:
        passed = change.source.trace.passed if isinstance(change, NewText) else ()
        at = [change.source.place, *(step.place for step in passed)] if isinstance(change, NewText) else []
        return any(one.name == by.name and by.start <= one.start and one.end <= by.end for one in at for by in places)

    changes = tuple(change for change in finding.changes if not comes_with_another(change))
    if changes or not finding.changes:
        return replace(finding, changes=changes)
    text = ", ".join(dict.fromkeys(change.text for change in finding.changes if isinstance(change, NewText)))
    return finding.keep(Reason.of("keep-right", value=text, platform=context.platform.id)).without_changes()


def _find_calls_for_others(context: Context, use: Use) -> Iterator[Place]:
    """The calls of the function around that pass something else for what is called."""
    module, called = use.module, use.call.func
    home = owner_scope(module, scope_of(module, called), called.id) if isinstance(called, ast.Name) else None
    if not isinstance(home, (ast.FunctionDef, ast.AsyncFunctionDef)) or not isinstance(called, ast.Name):
        return
    for given in context.tracer.callers_of(module, home):
        passed = find_passed_argument(given, home, called.id, is_bound_method(module, home))
        found = context.tracer.resolver.resolve(given.module, passed) if passed is not None else []
        builtin = isinstance(passed, ast.Name) and hasattr(builtins, passed.id)
        surfaces = [one for one in found if isinstance(one, Variable) or context.tracer.finder.surface(getattr(one, "name", ""))]
        if (found or builtin) and not surfaces:
            yield given.module.place(given.call)


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
