"""Values that do harm in a process that no launcher started: passed under a condition, or unsafely where there is no room for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from ddp_codemod.catalog.model import Parameter, Platform, Portable
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, Finding, NewHandler, NewKeyword, NewObject, NewStatement, NewText

# What is written into a program, where a condition can be; a key of a file has no room for one.
CONDITIONAL = (NewText, NewKeyword, NewHandler, NewObject, NewStatement)


def find_launcher_condition(finding: Finding, change: Change) -> Portable | None:
    """The condition under which a change gives its value; None where the value may be by itself, or has no room for one."""
    parameter = next((one for one in finding.use.surface.parameters if one.name == finding.parameter), None)
    if parameter is None or parameter.launched is None:
        return None
    if isinstance(change, NewText) and not (
        is_harmless_without_launcher(parameter, change) and _is_argument_part(finding, change.source)
    ):
        return None
    return parameter.launched if isinstance(change, CONDITIONAL) else None


def is_unconditional(parameter: Parameter, finding: Finding, change: Change) -> bool:
    """Whether a value that wants the condition is passed without it: it is elsewhere, where others may read it too."""
    if parameter.launched is None:
        return False
    if not isinstance(change, NewText):
        return not isinstance(change, CONDITIONAL)
    return is_harmless_without_launcher(parameter, change) and not _is_argument_part(finding, change.source)


def is_harmless_without_launcher(parameter: Parameter, change: NewText) -> bool:
    """Whether what was in the place did no harm without a launcher: None, or what the library takes for nothing."""
    value = change.source.value
    return parameter.launched_also or (isinstance(value, Known) and value.value is None)


def _is_argument_part(finding: Finding, source: Value) -> bool:
    """Whether a source is the argument itself, or a branch of the conditional that is."""
    node = source.node
    while node is not finding.argument:
        around = source.module.parents.get(node) if isinstance(source.module, Module) and isinstance(node, ast.expr) else None
        if not isinstance(around, ast.IfExp):
            return False
        node = around
    return True


def explain_wanted_backend(platform: Platform, entry: Portable | None) -> dict[str, str]:
    """Why the wanted backend is passed, and passed under a condition, as reasons say it."""
    if entry is None or not entry.why:
        return {"why": platform.why, "why_zh": platform.why_zh}
    return {"why": f"{platform.why}; {entry.why}", "why_zh": f"{platform.why_zh or platform.why}；{entry.why_zh or entry.why}"}


def drop_unlaunched_sources(facts: Facts, parameter: Parameter, sources: Iterable[Value]) -> list[Value]:
    """The sources, without those that only a process without a launcher gets."""
    entry = parameter.launched
    return [source for source in sources if entry is None or not _is_unlaunched_branch(facts, entry, source)]


def is_other_branch(entry: Portable, source: Value) -> bool:
    """Whether a source is what a conditional with this very condition gives where the new value is not."""
    around = _find_conditional(source)
    if around is None or source.node is not (around.body if entry.keeps else around.orelse):
        return False
    return isinstance(source.module, Module) and is_condition(entry, source.module, around.test)


def _is_unlaunched_branch(facts: Facts, entry: Portable, source: Value) -> bool:
    """Whether a source is the other branch of such a condition, beside which there is nothing but what holds on the platform."""
    around = _find_conditional(source)
    if around is None or source.node is not around.orelse or not isinstance(source.module, Module):
        return False
    parts = around.test.values if isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And) else [around.test]
    holds = all(facts.truth(source.module, part) is True for part in parts[1:])
    return is_condition(entry, source.module, parts[0]) and holds


def _find_conditional(source: Value) -> ast.IfExp | None:
    """The conditional whose branch a source is."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return None
    around = source.module.parents.get(source.node)
    return around if isinstance(around, ast.IfExp) else None


def is_condition(entry: Portable, module: Module, test: ast.expr) -> bool:
    """Whether a test is the condition, however the file writes its imports."""
    pattern = re.escape(entry.condition.replace("{{", "\0").replace("}}", "\1"))
    for number, wanted in enumerate(entry.imports):
        name = wanted.partition(":")[2]  # of a module's object; a package may have any name in the file
        pattern = pattern.replace(rf"\{{{number}\}}", rf"(?:[\w.]+\.)?{re.escape(name)}" if name else r"[\w.]+")
    return re.fullmatch(pattern.replace("\0", "{").replace("\1", "}"), module.text(test)) is not None
