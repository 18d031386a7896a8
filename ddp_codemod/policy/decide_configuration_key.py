"""Matches backend values that a framework reads from configuration by a fixed path of keys."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.config_keys import trace_reference
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Option
from ddp_codemod.policy.decide import decide_site
from ddp_codemod.policy.decision_reasons import text_of
from ddp_codemod.policy.default_argument import describe_default_chooser, is_default_wrong, pick_default_backend
from ddp_codemod.policy.findings import Context, Finding, NewKey, start
from ddp_codemod.policy.launcher_condition import is_unconditional
from ddp_codemod.sites.key_path_uses import KeyedUse, imports_package


def decide_configuration_key(context: Context, use: KeyedUse, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about the value that the keys lead to; None where they lead to none."""
    if use.lacks_key:
        return _decide_default_key(context, use, parameter, fix)
    if _is_only_unpacked(context, use):
        use = replace(use, surface=replace(use.surface, edit_applicability="safe"))
    sources = _collect_sources(context, use)
    if not sources:
        return None
    own = [source.node for source in sources if source.module is use.module]
    argument = own[0] if len(sources) == len(own) == 1 else use.call
    result = start(context, use, parameter, argument, sources, (text_of(context, source, parameter) for source in sources))
    if isinstance(use.module, Module) and isinstance(use.call, ast.expr):
        if (test := context.facts.unset.unreachable(use.module, use.call)) is not None:
            line = use.module.line(test)
            text = " ".join(use.module.text(test).split())
            return result.keep(
                Reason.of("keep-unreachable", Meaning.UNREACHABLE, test=text, line=line, platform=context.platform.id)
            )
    return decide_site(context, result, parameter, fix)


def _decide_default_key(context: Context, use: KeyedUse, parameter: Parameter, fix: Fix) -> Finding:
    """The key is written below its neighbours, unless the framework is part of the project, whose own default decides then."""
    platform = context.platform
    assert isinstance(use.module, Document)
    assert isinstance(use.call, Entry)
    result = start(context, use, parameter, None, [], [pick_default_backend(context, parameter)])
    if not is_default_wrong(context, parameter):
        return result.keep(Reason.of("keep-omitted", parameter=parameter.name))
    folder = use.module.name.rpartition("/")[0] or "."
    own = (context.tracer.resolver.project.file(package, folder) for package in use.surface.shown_by)
    if (there := next((name for name in own if name is not None), None)) is not None:
        return result.keep(Reason.of("keep-own-framework", name=there))
    if not use.module.may_add_below(use.call):
        return result.review(
            fix.id, Reason.of("review-configured", parameter=parameter.name, wanted=parameter.write(platform.backend.wanted))
        )
    why = {"why": platform.why, "why_zh": platform.why_zh, "platform": platform.id, "who": describe_default_chooser(context, use)}
    reason = Reason.of(
        "edit-omitted",
        parameter=parameter.name,
        value=pick_default_backend(context, parameter),
        wanted=platform.backend.wanted,
        **why,
    )
    change = NewKey(use.module, use.call, parameter.name, platform.backend.wanted)
    safe = (
        fix.applicability == "safe" and parameter.add_applicability == "safe" and not is_unconditional(parameter, result, change)
    )
    return result.edit(fix.id, safe, reason, [change])


def _is_only_unpacked(context: Context, use: KeyedUse) -> bool:
    """Whether a key of a file of settings can arrive nowhere but at the framework: no program names it, and one of the framework's unpacks."""
    surface, project = use.surface, context.tracer.resolver.project
    if not surface.unpacked or not isinstance(use.module, Document) or project.mentioning(surface.key):
        return False
    files = dict.fromkeys(name for package in surface.shown_by for name in project.mentioning(package))
    modules = (module for name in files if not is_test(name) for module in project.programs(name))
    return any(_unpacks(module) and imports_package(module, surface.shown_by) for module in modules)


def _unpacks(module: Module) -> bool:
    """Whether a call of a file unpacks a mapping into keywords."""
    return any(isinstance(one, ast.keyword) and one.arg is None for one in module.nodes.get(ast.keyword, ()))


def _collect_sources(context: Context, use: KeyedUse) -> list[Value]:
    """What can be there; what is not a text that could be a backend is not this framework's."""
    trace = Trace(kind=OriginKind.CONFIG_KEY)
    if isinstance(use.module, Module):
        assert isinstance(use.call, ast.expr)
        found = context.tracer.descend(use.module, use.call, use.rest, trace)
        return [replace(source, kind=OriginKind.CONFIG_KEY if source.kind == OriginKind.KEY else source.kind) for source in found]
    assert not isinstance(use.call, ast.AST)
    kind = OriginKind.COMMAND_LINE if isinstance(use.call, Option) else OriginKind.CONFIG_KEY
    source = Value(use.module, use.call, kind, Known(use.call.value), trace=trace)
    others = trace_reference(context.tracer, source)
    return [source] if others is None else others
