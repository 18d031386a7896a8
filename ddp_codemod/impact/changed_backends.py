"""Where groups are made with another backend than elsewhere: the files that this concerns, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import PlatformDefault, Value
from ddp_codemod.model import Action, Applicability
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import (
    Context,
    Finding,
    NewHandler,
    NewKey,
    NewKeyword,
    NewObject,
    NewStatement,
    NewText,
    ObjectChoice,
    Splice,
    Translation,
)


class BackendSwitches(Struct, frozen=True):
    """The backends that groups switch to, and the files of the calls that make these groups."""

    files: dict[str, frozenset[str]] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)  # all backends that groups have then
    safe: dict[str, frozenset[str]] = field(default_factory=dict)  # the same without the edits that are unsafe
    calls: dict[ast.AST, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)  # both, by the call
    unsure: set[ast.AST] = field(default_factory=set)  # the calls whose edit is unsafe
    undecided: set[str] = field(default_factory=set)  # the files of calls whose backend a user decides
    before: dict[ast.AST, frozenset[str]] = field(default_factory=dict)  # what the values were that switch, by the call
    whole: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # the names that default groups of a file have alone, in no composite

    def to(self, backends: Iterable[str], anyhow: bool = False) -> set[str]:
        """The files where a group switches to one of the backends, or, ``anyhow``, has it."""
        wanted = set(backends)
        return {name for name, found in (self.groups if anyhow else self.files).items() if not wanted or found & wanted}


def collect_switches(context: Context, findings: Iterable[Finding]) -> BackendSwitches:
    """What the backend findings of a run come to."""
    result = BackendSwitches()
    for finding in findings:
        if not is_backend_finding(finding):
            continue
        if finding.action is Action.REVIEW:
            result.undecided.add(finding.use.module.name)
        names = {finding.use.module.name, *_list_changed_files(finding)}
        switched = _split_names(_list_outcomes(context, finding))
        there = switched | _split_names(finding.resolves_to if finding.action is Action.KEEP else ())
        if switched:
            _add_backends(result.files, names, switched)
        _add_backends(result.groups, names, there)
        if finding.use.surface.default_group and there:
            _add_backends(result.whole, {finding.use.module.name}, frozenset(_list_whole_names(context, finding)))
        if finding.applicability is not Applicability.UNSAFE:
            _add_backends(result.safe, names, there)
        if isinstance(finding.use.call, ast.AST) and there:
            result.calls[finding.use.call] = (switched, there)
            if finding.applicability is Applicability.UNSAFE:
                result.unsure.add(finding.use.call)
            result.before[finding.use.call] = frozenset(_list_old_backends(context, finding))
    return result


def _list_whole_names(context: Context, finding: Finding) -> Iterator[str]:
    """The names that a group has alone, and not as a part of a text for several devices."""
    if isinstance(finding.argument, (ast.JoinedStr, ast.BinOp)):
        return  # an argument that is put together in the call: ``f"cpu:gloo,cuda:{backend}"``
    yield from (text.lower() for text in _list_outcomes(context, finding) if ":" not in text)
    yield from (text.lower() for text in finding.resolves_to if finding.action is Action.KEEP and ":" not in text)


def _split_names(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(part.rpartition(":")[2].lower() for text in texts for part in text.split(","))


def _add_backends(table: dict[str, frozenset[str]], names: Iterable[str], backends: frozenset[str]) -> None:
    for name in names:
        table[name] = table.get(name, frozenset()) | backends


def is_backend_finding(finding: Finding) -> bool:
    """Whether a finding is about a backend."""
    return any(part.role == "backend" and part.name == finding.parameter for part in finding.use.surface.parameters)


def _list_outcomes(context: Context, finding: Finding) -> Iterator[str]:
    """The backends that a group reaches this code and not everywhere."""
    for change in finding.changes:
        if isinstance(change, (NewText, NewHandler, NewObject, NewKey)):
            yield change.text.lower()
        elif isinstance(change, Translation):
            yield from (new.lower() for _, new in change.pairs)
        elif isinstance(change, ObjectChoice):
            yield from (made.text.lower() for _, made in change.objects)
        elif isinstance(change, NewStatement) or (isinstance(change, (NewKeyword, Splice)) and _is_in_settings(finding)):
            yield context.platform.backend.wanted
        elif isinstance(change, NewKeyword):
            yield change.value.strip("\"'").lower()
    if finding.untraced and not finding.changes:
        yield context.platform.backend.wanted  # an edit at the call, as soon as all others are known
    if finding.action is Action.KEEP:
        for source in finding.possible:
            if isinstance(source.value, Known) and isinstance(source.value.value, str) and _is_conditional(source):
                yield source.value.value.lower()
            elif isinstance(source.value, PlatformDefault) and finding.use.surface.default_group and not finding.changes:
                yield context.platform.backend.default


def _list_old_backends(context: Context, finding: Finding) -> Iterator[str]:
    """What the values are that change, torch's own choice where there is none; "kept" where the code has a condition of its own."""
    if not finding.changes:
        yield "kept"
    for change in finding.changes:
        if isinstance(change, Translation):
            yield from (old.lower() if old is not None else context.platform.backend.default for old, _ in change.pairs)
            continue
        value = change.source.value if isinstance(change, NewText) else None
        named = isinstance(value, Known) and isinstance(value.value, str)
        yield str(value.value).lower() if isinstance(value, Known) and named else context.platform.backend.default


def _is_in_settings(finding: Finding) -> bool:
    """Whether the value is in a dictionary that the parameter takes."""
    return any(part.settings is not None or part.inside for part in finding.use.surface.parameters)


def _list_changed_files(finding: Finding) -> Iterator[str]:
    for change in finding.changes:
        if isinstance(change, NewText) and isinstance(change.source.module, Module):
            yield change.source.module.name


def _is_conditional(source: Value) -> bool:
    """Whether the platform decides that this is the result."""
    if source.outer is not None:
        return True
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST):
        return False
    return any(isinstance(around, (ast.If, ast.IfExp, ast.Match)) for around in source.module.ancestors(source.node))
