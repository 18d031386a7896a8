"""Follows a value from where it is used to the expressions that it can start from: each kind of expression has a module of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.dataflow import (
    attributes,
    callers,
    conditionals,
    environment,
    joined_texts,
    mappings,
    names,
    options,
    returns,
    translations,
)
from ddp_codemod.dataflow.callee_guards import is_guard
from ddp_codemod.dataflow.calls import CallArguments, Def
from ddp_codemod.dataflow.fold import UNKNOWN, Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import CurrentBackend, PlatformDefault, Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module

LOOK_UPS = frozenset({"get", "pop", "setdefault"})  # methods of a mapping: of a key, and what holds where it is not there
TEXT_CHANGES = frozenset({"lower", "upper", "strip", "casefold"})  # methods that leave a name the same name


class Evaluator(Tracer):
    """Knows who follows which kind of expression."""

    def entry(self, module: Module, mapping: ast.expr, key: ast.expr, trace: Trace, whole: bool = False) -> list[Value] | None:
        """See Tracer."""
        return mappings.look_up(self, module, mapping, key, trace, whole)

    def callers_of(self, module: Module, function: Def) -> list[CallArguments]:
        """See Tracer."""
        return callers.callers_of(self, module, function)

    def step(self, module: Module, node: ast.expr, trace: Trace) -> Iterable[Value]:
        """See Tracer."""
        if isinstance(node, ast.Constant):
            return [Value(module, node, trace.kind, Known(node.value), None, trace)]
        if (changed := translations.find_translation(node)) is not None and translations.is_of_names(self, changed):
            return translations.trace_translated(self, module, node, changed, trace)
        if isinstance(node, ast.IfExp) and is_guard(self, module, node, node.test):
            return self.evaluate(module, node.body, trace)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return conditionals.trace_conditional(self, module, node, trace)
        if isinstance(node, ast.NamedExpr):
            return self.evaluate(module, node.value, trace)
        if isinstance(node, ast.Name):
            return names.trace_name(self, module, node, trace)
        if isinstance(node, ast.Attribute):
            return attributes.trace_attribute(self, module, node, trace)
        if isinstance(node, ast.Subscript):
            return attributes.trace_subscript(self, module, node, trace)
        if isinstance(node, ast.Call):
            return self._trace_call(module, node, trace)
        is_union = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)  # of two mappings
        if is_union or isinstance(node, (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Lambda)):
            return [Value(module, node, OriginKind.OBJECT, UNKNOWN, Reason.of("why-expression", text=module.text(node)), trace)]
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            return joined_texts.trace_text(self, module, node, trace)
        return [self.unknown(module, node, trace, "why-expression", text=module.text(node))]

    def _trace_call(self, module: Module, node: ast.Call, trace: Trace) -> Iterable[Value]:
        called = self.resolver.names(module, node.func)
        for idioms in self.idioms:
            if any(name in idioms.default_functions for name in called):
                return [Value(module, node, OriginKind.PLATFORM_DEFAULT, PlatformDefault(), None, trace)]
            if any(name in idioms.current_functions for name in called):
                return [Value(module, node, OriginKind.CURRENT, CurrentBackend(), None, trace)]
            if any(name in idioms.backend_enums for name in called) and len(node.args) == 1:
                return self.evaluate(module, node.args[0], trace)
        if isinstance(node.func, ast.Attribute):
            if self._is_default_query(module, node.func, trace):
                return [Value(module, node, OriginKind.PLATFORM_DEFAULT, PlatformDefault(), None, trace)]
            if node.func.attr in TEXT_CHANGES and not node.args:
                return self.evaluate(module, node.func.value, trace)
            if node.func.attr in LOOK_UPS and node.args and not _is_position(node):
                return attributes.trace_get(self, module, node, trace)
            if (
                node.func.attr == "format"
                and (put_together := joined_texts.trace_fragments(self, module, node, trace)) is not None
            ):
                return put_together
        if isinstance(node.func, ast.Name):
            if node.func.id == "str" and len(node.args) == 1:
                return self.evaluate(module, node.args[0], trace)
            if node.func.id == "getattr" and len(node.args) >= 2:
                return attributes.trace_getattr(self, module, node, trace)
            if node.func.id == "dict":
                return [Value(module, node, OriginKind.OBJECT, UNKNOWN, Reason.of("why-expression", text="dict(...)"), trace)]
        if any(name in ("os.getenv", "os.environ.get") for name in called):
            return environment.trace_environment(self, module, node, trace)
        declared = options.find_declared_default(self, module, node, called)
        if declared is not None:
            return self.evaluate(module, declared, trace)
        return returns.trace_call_result(self, module, node, trace)

    def _is_default_query(self, module: Module, callee: ast.Attribute, trace: Trace) -> bool:
        """Whether a method is one of an object that a library's call gives, and answers what torch itself picks."""
        asked = {maker for idioms in self.idioms for maker in idioms.default_methods.get(callee.attr, ())}
        if not asked:
            return False
        held = [(source.module, source.node) for source in self.evaluate(module, callee.value, trace)]
        return bool(held) and all(
            isinstance(home, Module) and isinstance(made, ast.Call) and asked.intersection(self.resolver.names(home, made.func))
            for home, made in held
        )


def _is_position(node: ast.Call) -> bool:
    """Whether a look-up is of a place in a list that changes with each of them: ``names.pop(0)``."""
    return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int)
