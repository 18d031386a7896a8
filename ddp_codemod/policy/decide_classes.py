"""Matches classes of the project whose fields become options, where nothing that takes them was found: a registry or a table does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence, Set

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter, Surface
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.decide_fields import explain_field_edit, is_decorated, is_direct_subclass, make_field
from ddp_codemod.policy.default_argument import (
    explain_old_versions,
    is_default_wrong,
    mark_unsure_of_versions,
    pick_default_backend,
)
from ddp_codemod.policy.findings import Context, Finding, NewKeyword, NewStatement, start
from ddp_codemod.policy.parser_classes import find_parser_classes
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.key_path_uses import KeyedUse
from ddp_codemod.sites.scopes import bindings
from ddp_codemod.sites.surface_calls import Use


def decide_classes(context: Context, findings: Sequence[Finding], fix: Fix, writable: Callable[[str], bool]) -> Iterator[Finding]:
    """The findings of classes that get the field, beside those that parsers and constructors were found for."""
    for surface in context.rules.surfaces.values():
        for parameter in surface.parameters:
            if parameter.fields is None or not is_default_wrong(context, parameter):
                continue
            seen = {node for finding in findings for node in _find_given_classes(context, finding)}
            for module, node in _find_deriving_classes(context, parameter):
                if node not in seen and writable(module.name) and not is_test(module.name) and _is_used(context, module, node):
                    yield _decide_class(context, surface, parameter, module, node, fix)


def apply_class_defaults(context: Context, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, those of calls kept whose class, or one that it derives from, gets the field: its default decides."""
    changes = [change for finding in findings if finding.action is Action.EDIT for change in finding.changes]
    given = {change.node for change in changes if isinstance(change, NewStatement) and change.where == "inside"}
    return [_keep_if_class_decides(context, finding, given) for finding in findings] if given else list(findings)


def _keep_if_class_decides(context: Context, finding: Finding, given: Set[ast.AST]) -> Finding:
    use = finding.use
    if (
        finding.action is not Action.EDIT
        or not isinstance(use, Use)
        or not all(isinstance(c, NewKeyword) for c in finding.changes)
    ):
        return finding
    resolver = context.tracer.resolver
    for entity in resolver.resolve(use.module, use.call.func):
        if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            for module, node in resolver.lineage(entity.module, entity.node):
                if node in given:
                    kept = replace(finding, changes=(), applicability=Applicability.SAFE, rule=None)
                    return kept.keep(Reason.of("keep-class-default", origin=f"{module.name}:{module.line(node)}"))
    return finding


def _decide_class(
    context: Context, surface: Surface, parameter: Parameter, module: Module, node: ast.ClassDef, fix: Fix
) -> Finding:
    platform, fields = context.platform, parameter.fields
    assert fields is not None
    result = start(
        context, KeyedUse(module, node.bases[0], surface), parameter, None, [], [pick_default_backend(context, parameter)]
    )
    if (why := explain_old_versions(context, module.name, parameter)) is not None:
        return result.review(fix.id, why)
    reason = explain_field_edit(context, parameter)
    changes = [make_field(module, node, fields, f'"{platform.backend.wanted}"')]
    return mark_unsure_of_versions(
        context, parameter, module.name, result.edit(fix.id, fix.applicability == "safe", reason, changes)
    )


def _find_deriving_classes(context: Context, parameter: Parameter) -> Iterator[tuple[Module, ast.ClassDef]]:
    """The project's classes that derive from one of the library itself and do not have the field."""
    fields, project = parameter.fields, context.tracer.resolver.project
    assert fields is not None
    words = {name.rpartition(".")[2] for one in fields.surfaces for name in context.rules.surfaces[one].names}
    for name in sorted({name for word in words for name in project.deriving(word)}):
        module = project.module(name)
        for node in module.nodes.get(ast.ClassDef, ()) if module is not None else ():
            assert isinstance(node, ast.ClassDef)
            assert module is not None
            if is_direct_subclass(context, module, node, fields) and is_decorated(context, module, node, fields):
                if fields.field not in bindings(module, node):
                    yield module, node


def _find_given_classes(context: Context, finding: Finding) -> Iterator[ast.ClassDef]:
    """The classes, with those that they derive from, that a parser is passed or a call makes an object of."""
    use, resolver = finding.use, context.tracer.resolver
    if not isinstance(use, Use) or is_test(use.module.name):
        return
    for parameter in use.surface.parameters:
        argument = use.argument(parameter) if parameter.fields is not None else None
        if argument is not None and parameter.fields is not None:
            for one in find_parser_classes(context, use.module, argument, parameter.fields):
                if one.module is not None and one.node is not None:
                    yield from (node for _, node in resolver.lineage(one.module, one.node))
    for entity in resolver.resolve(use.module, use.call.func):
        if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            yield from (node for _, node in resolver.lineage(entity.module, entity.node))


def _is_used(context: Context, module: Module, node: ast.ClassDef) -> bool:
    """Whether anything speaks of the class but its own definition."""
    if any(isinstance(name, ast.Name) and name.id == node.name for name in module.nodes.get(ast.Name, ())):
        return True
    return any(name != module.name for name in context.tracer.resolver.project.mentioning(node.name))
