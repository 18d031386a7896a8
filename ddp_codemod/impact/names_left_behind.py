"""Names of backends that no process group of the project takes, and that somebody or something goes by all the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.callers import callers
from ddp_codemod.dataflow.calls import Def, argument_of, bound_method, calls_of, default_of, given_argument
from ddp_codemod.model import TIED, Advisory, Reason
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.words import Words

Writable = Callable[[str], bool]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def left_behind(context: Context, findings: Sequence[Finding], writable: Writable) -> Iterator[Advisory]:
    """Defaults of options of parsers that are handed out, and of parameters that are only compared."""
    wrong = [name for name in context.rules.backends if assess(name, context.platform.backend, context.rules.backends).wanted]
    if not wrong:
        return
    wanted = re.compile(rf"""['"](?:{"|".join(map(re.escape, wrong))})['"]""".encode(), re.IGNORECASE).search
    words = Words(name.lower() for name in wrong)
    seen = {id(leaf.node) for finding in findings for leaf in (*finding.possible, *finding.at)}
    project = context.tracer.resolver.project
    tied = {finding.use.module.name for finding in findings} | set(project.mentioning(context.platform.backend.wanted))
    methods = Words(flag.method for idioms in context.rules.idioms for flag in idioms.flag)
    # the words are looked for first: it is the fastest, and few files have one
    naming = [name for name in project.names if words.some(project.data(name).lower()) and wanted(project.data(name))]
    for name in sorted(name for name in naming if (name in tied or methods.some(project.data(name))) and writable(name)):
        for module in project.programs(name):
            for node, reason in (*_options(context, module), *_parameters(context, module)):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield Advisory(name, module.line(node), TIED, reason)


def _options(context: Context, module: Module) -> Iterator[tuple[ast.expr, Reason]]:
    """The options whose parser the function returns: whoever calls it reads them."""
    for flag in (flag for idioms in context.rules.idioms for flag in idioms.flag):
        for call in calls_of(module).get(flag.method, ()):
            default = argument_of(call, flag.default, flag.default_position)
            around = scope_of(module, call)
            if default is None or not isinstance(call.func, ast.Attribute) or not isinstance(around, FUNCTIONS):
                continue
            text, parser = _wrong(context, default), ast.dump(call.func.value)
            ends = (node.value for node in walk(around) if isinstance(node, ast.Return) and node.value is not None)
            if text and isinstance(call.func.value, ast.Name) and parser in map(ast.dump, ends):
                yield default, _reason(context, "left-option", text, around.name)


def _parameters(context: Context, module: Module) -> Iterator[tuple[ast.expr, Reason]]:
    """The parameters that calls leave at their default, and that the function compares with the backend that works."""
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        sides = [compare.left, *compare.comparators]
        around = scope_of(module, compare)
        names = [side.id for side in sides if isinstance(side, ast.Name)]
        with_wanted = any(isinstance(side, ast.Constant) and side.value == context.platform.backend.wanted for side in sides)
        if not with_wanted or len(sides) != 2 or len(names) != 1 or not isinstance(around, FUNCTIONS):
            continue
        default = default_of(around, names[0])
        text = _wrong(context, default) if default is not None else None
        if default is not None and text and _is_left_out(context, module, around, names[0]):
            yield default, _reason(context, "left-parameter", text, around.name)


def _is_left_out(context: Context, module: Module, function: Def, name: str) -> bool:
    """Whether a call in the project leaves the parameter out; or whoever calls it is not in the project."""
    method, found = bound_method(module, function), callers(context.tracer, module, function)
    return not found or any(given_argument(given, function, name, method) is None for given in found)


def _wrong(context: Context, node: ast.expr) -> str | None:
    """The backend that an expression names, where it does not work on the platform."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    verdict = assess(node.value, context.platform.backend, context.rules.backends)
    return node.value if verdict.wanted is not None else None


def _reason(context: Context, key: str, value: str, function: str) -> Reason:
    platform = context.platform
    return Reason.of(key, value=value, function=function, platform=platform.id, wanted=platform.backend.wanted)
