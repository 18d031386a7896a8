"""Which parser an option is declared on: two programs of a project, or two parsers of a file, may each have one of the same name."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ddp_codemod.dataflow.calls import find_argument
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition

DEPTH = 6  # groups of groups, and parsers that are made of others


def may_be_parsed_by(tracer: Tracer, module: Module, call: ast.Call, parsers: Sequence[tuple[Module, ast.expr]]) -> bool:
    """Whether an option that a call declares can be one of those that these objects parse."""
    if not parsers or not isinstance(call.func, ast.Attribute):
        return True
    declared = _find_declaring_parsers(tracer, module, call.func)
    parsing = [_find_parser_origins(tracer, home, node) for home, node in parsers]
    if declared is None or any(made is None for made in parsing):
        return True
    return any(made and declared & made for made in parsing)


def _find_declaring_parsers(tracer: Tracer, module: Module, callee: ast.Attribute) -> frozenset[ast.AST] | None:
    """What made the parser that a method declares an option on; that which a method of the project's own declares it on."""
    made = _find_parser_origins(tracer, module, callee.value)
    for home, inner in _find_inner_calls(tracer, module, callee):
        further = _find_parser_origins(tracer, home, inner.value)
        made = made | further if made is not None and further is not None else None
    return made


def is_unrelated_method(tracer: Tracer, module: Module, callee: ast.Attribute) -> bool:
    """Whether a method is one of the project's own that declares nothing on a parser: ``validator.add_argument("dist_url", type=str)``."""
    methods = tracer.resolver.resolve(module, callee)
    ours = all(isinstance(one, Definition) and not isinstance(one.node, ast.ClassDef) for one in methods)
    return bool(methods) and ours and not _find_inner_calls(tracer, module, callee)


def _find_inner_calls(tracer: Tracer, module: Module, callee: ast.Attribute) -> list[tuple[Module, ast.Attribute]]:
    """The methods of the same name that a method of the project's own calls."""
    return [
        (one.module, part.func)
        for one in tracer.resolver.resolve(module, callee)
        if isinstance(one, Definition) and not isinstance(one.node, ast.ClassDef)
        for part in ast.walk(one.node)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == callee.attr
    ]


def _find_parser_origins(tracer: Tracer, module: Module, node: ast.expr, depth: int = 0) -> frozenset[ast.AST] | None:
    """The calls that made a parser, with those that made the ones that it has its options from; None where that is not known."""
    parts = {name for idioms in tracer.idioms for flag in idioms.flag for name in flag.part_methods}
    found: set[ast.AST] = set()
    for source in tracer.evaluate(module, node, Trace(kind=OriginKind.OBJECT)):
        call, home = source.node, source.module
        if not isinstance(call, ast.Call) or not isinstance(home, Module) or depth > DEPTH:
            return None
        inner: list[ast.expr] = []
        if isinstance(call.func, ast.Attribute) and last_name(call.func) in parts:
            inner = [call.func.value]
        else:
            found.add(call)
            parents = find_argument(call, "parents", None)
            inner = list(parents.elts) if isinstance(parents, (ast.List, ast.Tuple)) else []
            if parents is not None and not inner:
                return None
            for part in call.args:  # ``parser = deepspeed.add_config_arguments(parser)``
                found |= _find_parser_origins(tracer, home, part, depth + 1) or set()
        for part in inner:
            made = _find_parser_origins(tracer, home, part, depth + 1)
            if made is None:
                return None
            found |= made
    return frozenset(found) or None
