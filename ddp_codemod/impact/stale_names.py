"""Names of backends that no process group of the project takes, and that somebody or something goes by all the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import Def, find_argument, find_default, find_passed_argument, index_calls, is_bound_method
from ddp_codemod.model import TIED, Advisory, Reason
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.word_search import WordMatcher

Writable = Callable[[str], bool]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_stale_names(context: Context, findings: Sequence[Finding], writable: Writable) -> Iterator[Advisory]:
    """Defaults of options of parsers that are handed out, and of parameters that are only compared."""
    wrong = [name for name in context.rules.backends if assess(name, context.platform.backend, context.rules.backends).wanted]
    if not wrong:
        return
    wanted = re.compile(rf"""['"](?:{"|".join(map(re.escape, wrong))})['"]""".encode(), re.IGNORECASE).search
    words = WordMatcher(name.lower() for name in wrong)
    seen = {id(source.node) for finding in findings for source in (*finding.possible, *finding.at)}
    project = context.tracer.resolver.project
    tied = {finding.use.module.name for finding in findings} | set(project.mentioning(context.platform.backend.wanted))
    methods = WordMatcher(flag.method for idioms in context.rules.idioms for flag in idioms.flag)
    # the words are looked for first: it is the fastest, and few files have one
    naming = [name for name in project.names if words.some(project.data(name).lower()) and wanted(project.data(name))]
    for name in sorted(name for name in naming if (name in tied or methods.some(project.data(name))) and writable(name)):
        for module in project.programs(name):
            for node, reason in (*_find_options(context, module), *_find_parameters(context, module)):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield Advisory(name, module.line(node), TIED, reason)


def _find_options(context: Context, module: Module) -> Iterator[tuple[ast.expr, Reason]]:
    """The options whose parser the function returns: whoever calls it reads them."""
    for flag in (flag for idioms in context.rules.idioms for flag in idioms.flag):
        for call in index_calls(module).get(flag.method, ()):
            default = find_argument(call, flag.default, flag.default_position)
            around = scope_of(module, call)
            if default is None or not isinstance(call.func, ast.Attribute) or not isinstance(around, FUNCTIONS):
                continue
            text, parser = _read_wrong_backend(context, default), ast.dump(call.func.value)
            ends = (node.value for node in walk(around) if isinstance(node, ast.Return) and node.value is not None)
            if text and isinstance(call.func.value, ast.Name) and parser in map(ast.dump, ends):
                yield default, _explain_stale_name(context, "left-option", text, around.name)


def _find_parameters(context: Context, module: Module) -> Iterator[tuple[ast.expr, Reason]]:
    """The parameters that calls leave at their default, and that the function compares with the backend that works."""
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        sides = [compare.left, *compare.comparators]
        around = scope_of(module, compare)
        names = [side.id for side in sides if isinstance(side, ast.Name)]
        with_wanted = any(isinstance(side, ast.Constant) and side.value == context.platform.backend.wanted for side in sides)
        if not with_wanted or len(sides) != 2 or len(names) != 1 or not isinstance(around, FUNCTIONS):
            continue
        default = find_default(around, names[0])
        text = _read_wrong_backend(context, default) if default is not None else None
        if default is not None and text and _is_default_used(context, module, around, names[0]):
            yield default, _explain_stale_name(context, "left-parameter", text, around.name)


def _is_default_used(context: Context, module: Module, function: Def, name: str) -> bool:
    """Whether a call in the project leaves the parameter out; or whoever calls it is not in the project."""
    method, found = is_bound_method(module, function), callers_of(context.tracer, module, function)
    return not found or any(find_passed_argument(given, function, name, method) is None for given in found)


def _read_wrong_backend(context: Context, node: ast.expr) -> str | None:
    """The backend that an expression names, where it does not work on the platform."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    verdict = assess(node.value, context.platform.backend, context.rules.backends)
    return node.value if verdict.wanted is not None else None


def _explain_stale_name(context: Context, key: str, value: str, function: str) -> Reason:
    platform = context.platform
    return Reason.of(key, value=value, function=function, platform=platform.id, wanted=platform.backend.wanted)
