"""Matches where an environment variable has to be set before a process group, and where it is set already."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.catalog.backends import find_libraries
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.objects import Environment
from ddp_codemod.dataflow.fold import FoldResult, Known
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decision_reasons import explain_variable_set
from ddp_codemod.policy.findings import AnyUse, Context, Finding, NewObject, NewText, NewVariable, start, unreachable
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Use


def decide_environment(context: Context, use: Use, fix: Fix, backend: Finding | None) -> Finding | None:
    """Decide whether the fix's variable has to be set before this use; ``backend`` is what was found for its backend.

    None where the rule does not speak of this use.
    """
    assert fix.environment is not None
    if not use.surface.default_group:
        return None
    finding = start(context, use, None, None, [], [])
    finding = _name_variable(finding, fix.environment)
    never = unreachable(context, use)
    if never is not None:
        return finding.keep(never)
    if fix.when_backend:
        outcome = list_backend_outcomes(backend) if backend is not None else set()
        if not expand_library_names(context, fix, outcome) & set(fix.when_backend):
            if "?" in outcome:
                return finding.review(
                    fix.id, Reason.of("review-environment-unknown", variable=fix.environment.name, value=fix.environment.value)
                )
            return finding.keep(
                Reason.of("keep-environment-backend", value=", ".join(sorted(outcome)), wanted=", ".join(fix.when_backend))
            )
    return decide_variable_before_use(context, use, fix, finding, backend)


def explain_unneeded_fix(context: Context, use: AnyUse, fix: Fix, part: str) -> Reason | None:
    """Why a part of a fix has nothing to do here with the versions that the project states, if that is so."""
    framework = context.rules.frameworks.get(use.surface.id)
    for one in fix.unneeded:
        concerned = not one.on or context.platform.fits(one.on)
        if part in one.of and concerned and (not one.frameworks or framework in one.frameworks):
            if context.versions.holds(one.when, use.module.name) is True:
                return Reason.of("keep-unneeded", rule=fix.id, why=one.why, why_zh=one.why_zh)
    return None


def decide_variable_before_use(context: Context, use: Use, fix: Fix, finding: Finding, backend: Finding | None) -> Finding:
    """The finding for a use that needs the variable: kept where it is set before, else an edit that sets it."""
    environment = fix.environment
    assert environment is not None
    value = find_value_before_call(context, use, environment.name)
    if value is not None:
        return finding.keep(explain_variable_set(environment.name, value))
    if (spared := explain_unneeded_fix(context, use, fix, "environment")) is not None:
        return finding.keep(spared)
    reason = Reason.of("edit-environment", variable=environment.name, value=environment.value)
    # an object that the backend rule writes elsewhere asks for the variable itself, once it is there
    objects = [change.source for change in backend.changes if isinstance(change, NewObject)] if backend is not None else []
    earlier = [
        (module, node)
        for module, node in (source.code for source in objects if source is not None)
        if find_value_at_node(context, module, node, environment.name) is None
        and context.facts.unreachable(module, node) is None
        and not (module is use.module and module.place(node).start >= module.place(use.call).start)
    ]
    covered = any(module is use.module and scope_of(module, node) is scope_of(module, use.call) for module, node in earlier)
    nodes: list[tuple[Module, ast.AST]] = [*earlier, *([] if covered else [(use.module, use.call)])]
    return finding.edit(fix.id, fix.applicability == "safe", reason, [NewVariable(*at, environment) for at in nodes])


def _name_variable(finding: Finding, environment: Environment) -> Finding:
    return replace(finding, parameter=environment.name)


def expand_library_names(context: Context, fix: Fix, outcome: Iterable[str]) -> set[str]:
    """The backends, and those of which they are other names: what is set for a library mostly holds under each of its names."""
    return set(outcome) if fix.by_name else set().union(*(find_libraries(name, context.rules.backends) for name in outcome))


def list_backend_outcomes(backend: Finding) -> set[str]:
    """The backends that a group can have once the backend rule's edits are made; "?" stands for what is not known."""
    changed = {change.source: change.text for change in backend.changes if isinstance(change, NewText)}
    found: set[str] = set()
    for source in backend.possible:
        text = changed.get(source)
        if text is None and isinstance(source.value, Known) and isinstance(source.value.value, str):
            text = source.value.value
        if text is not None:
            found |= {part.rpartition(":")[2].lower() for part in text.split(",")}
    if not backend.changes or not found:
        found |= {text.lower() for text in backend.resolves_to} - {"none"}
    return found


def find_value_before_call(context: Context, use: Use, name: str) -> FoldResult | None:
    """The value that the code gives the variable before this call runs; None where it does not set it."""
    return find_value_at_node(context, use.module, use.call, name)


def find_value_at_node(context: Context, module: Module, node: ast.AST, name: str) -> FoldResult | None:
    """The value that the code gives the variable before a node runs; None where it does not set it.

    What counts is an earlier statement of the same function or class body, of one around it, or of the module.
    """
    bodies = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    scopes = [module.tree, *(at for at in module.ancestors(node) if isinstance(at, bodies))]
    own = scope_of(module, node)
    start_of_use = module.place(node).start
    around = set(module.ancestors(node))
    for statement, value in _find_variable_settings(context, module, name):
        scope = scope_of(module, statement)
        earlier = module.place(statement).start < start_of_use
        if scope not in scopes or (not earlier and (scope is own or scope is not module.tree)):
            continue
        if context.facts.unreachable(module, statement) is not None:
            continue
        conditional = [
            at for at in module.ancestors(statement) if isinstance(at, (ast.If, ast.For, ast.While, ast.Try, ast.IfExp))
        ]
        if any(at not in around and not _is_certain_condition(context, module, at) for at in conditional):
            continue  # it may not have run
        return context.facts.fold(module, value)
    return None


def _is_certain_condition(context: Context, module: Module, node: ast.AST) -> bool:
    return isinstance(node, ast.If) and context.facts.truth(module, node.test) is not None


def _find_variable_settings(context: Context, module: Module, name: str) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Statements that set an environment variable, and the value."""
    resolver = context.tracer.resolver
    for assignment in module.nodes.get(ast.Assign, ()):
        assert isinstance(assignment, ast.Assign)
        for target in assignment.targets:
            if isinstance(target, ast.Subscript) and _is_text(target.slice, name):
                if "os.environ" in resolver.names(module, target.value):
                    yield assignment, assignment.value
    for call in module.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if len(call.args) == 2 and _is_text(call.args[0], name):
            if set(resolver.names(module, call.func)) & {"os.environ.setdefault", "os.putenv"}:
                yield call, call.args[1]
        elif (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "update"
            and "os.environ.update" in resolver.names(module, call.func)
        ):
            for keyword in call.keywords:
                if keyword.arg == name:
                    yield call, keyword.value
            for given in call.args:
                if isinstance(given, ast.Dict):
                    for key, value in zip(given.keys, given.values, strict=True):
                        if key is not None and _is_text(key, name):
                            yield call, value


def _is_text(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
