"""The edits that a run calls for: a group that got a backend which fails, where reading found nothing that changes it.

Each is an unsafe edit: it is known what one run did, not what every run does. Where none is possible, an item says why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.model import Parameter, Surface
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.translations import is_translated
from ddp_codemod.dataflow.values import Value, ValueSet
from ddp_codemod.health import FIRST, TARGET, RecordedGroup
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.default_argument import mark_unsafe
from ddp_codemod.policy.findings import (
    Change,
    Context,
    Finding,
    NewKeyword,
    NewText,
    Splice,
    Translation,
    start,
)
from ddp_codemod.policy.limits import Limits
from ddp_codemod.run.recorded_values import (
    find_call,
    find_direct_argument,
    find_library_argument,
    find_only_source,
    find_text_changes,
    is_at_line,
    passes_arguments_unchanged,
)
from ddp_codemod.sites.surface_calls import Use


def add_recorded_fixes(
    context: Context, limits: Limits, findings: Sequence[Finding], recorded: Iterable[RecordedGroup], asking: Sequence[str]
) -> list[Finding]:
    """The findings, with what fixes the groups of a run; ``asking`` are the rules that change backends."""
    found = [*findings]
    for result in recorded if asking else ():
        wanted = _find_wanted_backend(context, result)
        module = _find_module(context, result)
        if wanted is None or module is None or not limits.admits(module.name):
            continue
        mended = _make_fix(context, limits, found, result, module, wanted, asking[0])
        if mended is not None:
            old, new = mended
            if (kept := limits.filter_finding(new)) is not None:
                found = [*(one for one in found if one is not old), kept]
    return found


def _find_wanted_backend(context: Context, group: RecordedGroup) -> str | None:
    """The backend that the group should get; None where what it got works, or a library has left it to torch."""
    platform = context.platform
    if group.backend is None and group.call != FIRST:
        return None  # a further group is like the first
    passed = platform.backend.default if group.backend is None else group.backend
    return assess(passed, platform.backend, context.rules.backends).wanted


def _find_module(context: Context, group: RecordedGroup) -> Module | None:
    project = context.tracer.resolver.project
    name = group.stack[0].path if group.stack else ""
    return project.module(name) if name in project.names else None


def _make_fix(
    context: Context, limits: Limits, found: Sequence[Finding], group: RecordedGroup, module: Module, wanted: str, rule: str
) -> tuple[Finding | None, Finding] | None:
    """The finding that goes, and the one that comes in its place; None where an edit of the project's findings is enough."""
    surface, parameter = _find_surface(context, group)
    call = find_call(module, group)
    on_stack = [one for one in found if _is_on_stack(one, group) and _is_about_backend(one)]
    if any(_has_fix_for(one, group) for one in (*on_stack, *_find_library_sites(context, found, group))):
        return None
    if call is None:
        return None, _make_review(context, _make_use_at_line(module, group, surface), parameter, group, rule, "review-run-line")
    use = Use(module, call, surface)
    old = next((one for one in on_stack if one.use.call is call), None)
    changes, why = _find_changes(context, limits, found, use, parameter, group, wanted, rule)
    if changes and all(_is_duplicate(found, change) for change in changes):
        return None
    if not changes:
        has_its_own = old is not None and old.action is not Action.KEEP
        return None if has_its_own else (old, _make_review(context, use, parameter, group, rule, why))
    argument = find_direct_argument(use, parameter, group) if group.caller is None else None
    sources = [change.source for change in changes if isinstance(change, NewText)]
    texts = (group.backend,) if group.backend is not None else ()
    new = start(context, use, parameter, argument, sources, texts)
    platform = context.platform
    arguments = {"value": group.backend or platform.backend.default, "wanted": wanted, "platform": platform.id}
    reason = Reason.of("edit-from-run", **arguments, why=platform.why, why_zh=platform.why_zh)
    return _join_findings(old, new.edit(rule, False, reason, changes).with_plugin(platform.required_import, module))


def _join_findings(old: Finding | None, new: Finding) -> tuple[Finding | None, Finding]:
    """One finding of two about a call: what the old one changes elsewhere is changed too."""
    if old is None or old.action is not Action.EDIT:
        return old, new
    pairs = [one.pairs for one in old.changes if isinstance(one, Translation)]
    if not pairs:
        return None, new
    known = [pair for some in pairs for pair in some]
    changes = [
        replace(one, pairs=tuple(dict([*known, *one.pairs]).items())) if isinstance(one, Translation) else one
        for one in new.changes
    ]
    beside = [one for one in old.changes if not isinstance(one, Translation)]
    return old, mark_unsafe(replace(new, changes=(*beside, *changes)))


def _find_changes(
    context: Context,
    limits: Limits,
    found: Sequence[Finding],
    use: Use,
    parameter: Parameter,
    group: RecordedGroup,
    wanted: str,
    rule: str,
) -> tuple[list[Change], str]:
    """What has to change, or the key of why nothing can."""
    module, value = use.module, group.backend
    if group.caller is None:
        if not passes_arguments_unchanged(use.call, group):
            return [], "review-run-bound"
        argument = find_direct_argument(use, parameter, group)
        if argument is not None:
            return _change_argument(context.facts, module, argument, value, wanted), "review-run-translated"
        if use.spread:
            spread = [node for node in use.spread if not is_translated(context.facts, module, node, parameter.name)]
            if value is None and len(spread) > 1:
                return [], "review-run-bound"
            return [Translation(module, node, ((value, wanted),), key=parameter.name) for node in spread], "review-run-translated"
        return [NewKeyword(module, use.call, parameter.name, f'"{wanted}"')], ""
    if value is None:
        return [], "review-run-library"
    if group.caller.startswith("<"):
        return find_text_changes(context, limits, use, group, wanted), "review-run-text"
    if (argument := find_library_argument(use.call, group)) is not None:
        return _change_argument(context.facts, module, argument, value, wanted), "review-run-translated"
    source = find_only_source(context, limits, found, use.call, module, value, rule)
    return ([NewText(source, wanted)] if source is not None else []), "review-run-library"


def _change_argument(facts: Facts, module: Module, argument: ast.expr, value: str | None, wanted: str) -> list[Change]:
    """The change of an argument: of the text that it is, else of what arrives there."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return [NewText(Value(module, argument, OriginKind.LITERAL, Known(argument.value)), wanted)]
    return [] if is_translated(facts, module, argument) else [Translation(module, argument, ((value, wanted),))]


def _find_surface(context: Context, group: RecordedGroup) -> tuple[Surface, Parameter]:
    surface = context.tracer.finder.surface(f"{TARGET}.{group.call}")
    assert surface is not None
    return surface, next(one for one in surface.parameters if one.role == "backend")


def _is_about_backend(finding: Finding) -> bool:
    return isinstance(finding.use, Use) and any(
        one.role == "backend" and one.name == finding.parameter for one in finding.use.surface.parameters
    )


def _is_on_stack(finding: Finding, group: RecordedGroup) -> bool:
    """Whether the call of a finding is one of those that the run was in; of several on a line, for the innermost, the very one."""
    module, call = finding.use.module, finding.use.call
    if not isinstance(module, Module) or not isinstance(call, ast.Call) or not hasattr(call, "lineno"):
        return False
    lines = [frame.line for frame in group.stack if frame.path == module.name]
    if not any(is_at_line(module, call, line) for line in lines):
        return False
    if group.caller is not None and group.caller.startswith("<"):
        return call is find_call(module, group)
    return (
        group.stack[0].path != module.name or group.span is None or call is find_call(module, group) or group.caller is not None
    )


def _find_library_sites(context: Context, found: Sequence[Finding], group: RecordedGroup) -> Iterator[Finding]:
    """The sites of the library that made the group, its settings included, perhaps long after their calls; torch is no such library."""
    packages = {*group.through} - {TARGET.partition(".")[0]}
    for one in found if packages and _is_library(group) else ():
        surface = context.rules.surfaces.get(one.use.surface.id)
        if surface is not None and any(name.partition(".")[0] in packages for name in (*surface.called, *surface.shown_by)):
            yield one


def _is_library(group: RecordedGroup) -> bool:
    return group.caller is not None and not group.caller.startswith("<")


def _has_fix_for(finding: Finding, group: RecordedGroup) -> bool:
    """Whether the edits of a finding are for this value: one that reading found for the call, or that the call itself replaces."""
    if finding.action is not Action.EDIT:
        return False
    if _is_library(group) or group.backend is None:
        return True  # what a library makes of its own is not looked into
    read = {text.lower() for text in finding.resolves_to}
    replaced = (one.pairs for one in finding.changes if isinstance(one, Translation))
    return group.backend.lower() in read or any(group.backend in dict(pairs) for pairs in replaced)


def _is_duplicate(found: Sequence[Finding], change: Change) -> bool:
    """Whether another site's edit changes the same text."""
    if isinstance(change, Splice):
        name, at = change.module.name, change.offset
    elif isinstance(change, NewText):
        name, at = change.source.place.name, change.source.place.start
    else:
        return False
    others = (one.source.place for finding in found for one in finding.changes if isinstance(one, NewText))
    return any(place.name == name and place.start <= at < place.end for place in others)


def _make_use_at_line(module: Module, group: RecordedGroup, surface: Surface) -> Use:
    """A use to hang an item on, where no call is known: the statement at the line."""
    line = group.stack[0].line
    at = next(_find_statements(module, line), module.tree.body[0])
    call = ast.copy_location(ast.Call(ast.copy_location(ast.Constant(None), at), [], []), at)
    module.parents[call] = module.parents.get(at) or module.tree
    return Use(module, call, surface)


def _find_statements(module: Module, line: int) -> Iterator[ast.stmt]:
    every = (node for node in ast.walk(module.tree) if isinstance(node, ast.stmt))
    yield from sorted((one for one in every if is_at_line(module, one, line)), key=lambda one: -one.lineno)


def _make_review(context: Context, use: Use, parameter: Parameter, group: RecordedGroup, rule: str, why: str) -> Finding:
    platform = context.platform
    value = group.backend or platform.backend.default
    found = start(context, use, parameter, None, (), (value,))
    arguments = {"value": value, "platform": platform.id, "wanted": platform.backend.wanted, "name": group.caller or group.call}
    return replace(found, possible=ValueSet(())).review(rule, Reason.of(why, **arguments))
