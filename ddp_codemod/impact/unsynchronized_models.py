"""Finds conditions that a platform turns off together with what keeps ranks in step: they would train apart, and nothing says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.blocks import list_following
from ddp_codemod.dataflow.branches import find_branch
from ddp_codemod.dataflow.demands import asks, sources
from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult, Known, fold, truth
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import scope_of

_DEPTH = 2  # functions of the project through which a model is wrapped
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_unsynchronized_tests(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The tests that ask for a device (``makers``) and are off here, in whose branch alone a model is wrapped by one of ``names``."""
    for node, off in _find_omitting_conditions(context, pattern, module):
        if not _is_synchronized_elsewhere(context, pattern, module, node, off):
            yield node.test


def find_ungrouped_tests(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The tests in whose branch alone one of ``names`` makes a group, in a program that a launcher starts: it speaks of ``texts``."""
    for node, off in _find_omitting_conditions(context, pattern, module):
        homes = [module, *_find_calling_modules(context, pattern, module, off)]
        if any(_has_whole_text(home, pattern.texts) for home in homes) and not _is_called_elsewhere(
            context, pattern, module, node, off
        ):
            yield node.test


def _find_omitting_conditions(
    context: Context, pattern: Pattern, module: Module
) -> Iterator[tuple[ast.If | ast.IfExp, Sequence[ast.AST]]]:
    """The conditions on a device that are off here, whose branch alone calls one of ``names``, and that branch."""
    for kind in (ast.If, ast.IfExp):
        for node in module.nodes.get(kind, ()):
            assert isinstance(node, (ast.If, ast.IfExp))
            taken = evaluate_test(context, module, node.test, pattern.device)
            if taken is None or not is_device_test(context, pattern, module, node.test):
                continue
            if "required" in find_openings(context, module, node.test):
                continue  # what is behind it runs once the check is opened
            off, on = split_branches(module, node, taken)
            if _find_calling_modules(context, pattern, module, off) and not _find_calling_modules(context, pattern, module, on):
                if context.facts.unreachable(module, node) is None:
                    yield node, off


def find_openings(context: Context, module: Module, test: ast.expr) -> list[str]:
    """Which edits open a check for the device, by its calls."""
    opened, resolver = context.facts.edited.opened, context.tracer.resolver
    calls = (part for part in walk(test) if isinstance(part, ast.Call))
    asking = (call for call in calls if opened.makers & set(resolver.names(module, call.func)))
    return [kind for call in asking if (kind := opened.find(resolver, module, call))]


def split_branches(module: Module, node: ast.If | ast.IfExp, taken: bool) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """What a platform omits of a condition, and what runs in its place."""
    body, orelse = ([node.body], [node.orelse]) if isinstance(node, ast.IfExp) else (node.body, node.orelse)
    on, off = (body, orelse) if taken else (orelse, body)
    if isinstance(node, ast.If) and taken and isinstance(node.body[-1], ast.Return):
        return [*off, *list_following(module, node)], on
    if any(isinstance(part, ast.stmt) and sources(part) for part in on):
        return [], on  # it says so, and ends
    return off, on


def evaluate_test(context: Context, module: Module, test: ast.expr, device: str) -> bool | None:
    """Whether a test holds here, also where an attribute has the answer: ``self.cuda = torch.cuda.is_available()``.

    What is compared with the name of the ``device`` that is not here is another one.
    """

    def look(part: ast.expr) -> FoldResult:
        known = context.facts.closed.fold(module, part)
        if known is UNKNOWN and _is_named(module.parents.get(part), device):
            return Known("")
        if known is not UNKNOWN or not isinstance(part, ast.Attribute):
            return known
        values = [context.facts.closed.fold(home, value) for home, value in _find_attribute_values(context, module, part)]
        return values[0] if values and all(value == values[0] for value in values) else known

    return truth(fold(test, look))


def is_device_test(context: Context, pattern: Pattern, module: Module, test: ast.expr) -> bool:
    """Whether a test asks for the device, itself, by its name, or by a name or an attribute that holds the answer."""
    if any(_is_named(part, pattern.device) for part in walk(test)):
        return True
    if asks(context.tracer.resolver, pattern.makers, module, test):
        return True
    result = [one for part in walk(test) if isinstance(part, ast.Name) for one in context.facts.definitions(module, part)]
    if any(asks(context.tracer.resolver, pattern.makers, module, one.value) for one in result if one.value is not None):
        return True
    held = (
        pair for part in walk(test) if isinstance(part, ast.Attribute) for pair in _find_attribute_values(context, module, part)
    )
    return any(asks(context.tracer.resolver, pattern.makers, home, value) for home, value in held)


def _is_named(node: ast.AST | None, device: str) -> bool:
    """Whether a device, or its kind, is compared with a text that starts with the name of this one: ``device.type == "cuda"``."""
    if not device or not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    texts = [one.value for one in (node.left, node.comparators[0]) if isinstance(one, ast.Constant)]
    return any(isinstance(text, str) and text.startswith(device) for text in texts)


def _find_attribute_values(context: Context, module: Module, attribute: ast.Attribute) -> list[tuple[Module, ast.expr]]:
    """The expressions that an attribute holds the value of; [] where it is not known to be one of them."""
    found = [(source.module, source.node) for source in context.tracer.evaluate(module, attribute)]
    known = [
        (home, node) for home, node in found if isinstance(home, Module) and isinstance(node, ast.expr) and node is not attribute
    ]
    return known if len(known) == len(found) else []


def _find_calling_modules(
    context: Context, pattern: Pattern, module: Module, nodes: Iterable[ast.AST], depth: int = _DEPTH
) -> list[Module]:
    """Where code calls one of the names, itself or in a function of the project that it calls: the first such file, if any."""
    resolver, wanted = context.tracer.resolver, set(pattern.names)
    for call in (part for node in nodes for part in walk(node) if isinstance(part, ast.Call)):
        for entity in resolver.resolve(module, call.func):
            if getattr(entity, "name", None) in wanted:
                return [module]
            if not isinstance(entity, Definition):
                continue
            if isinstance(entity.node, ast.ClassDef):
                if wanted & set(resolver.external_bases(entity.module, entity.node)):
                    return [module]
            elif depth and isinstance(entity.node, _FUNCTIONS):
                inner = [part for part in entity.node.body if context.facts.unreachable(entity.module, part) is None]
                if found := _find_calling_modules(context, pattern, entity.module, inner, depth - 1):
                    return found
    return []


def _has_whole_text(module: Module, texts: Iterable[str]) -> bool:
    """Whether one of the texts is in a file as a whole string."""
    wanted = set(texts)
    return any(isinstance(node, ast.Constant) and node.value in wanted for node in module.nodes.get(ast.Constant, ()))


def _is_called_elsewhere(context: Context, pattern: Pattern, module: Module, node: ast.AST, off: Sequence[ast.AST]) -> bool:
    """Whether the same function calls one of the names elsewhere, too, by code that runs here."""
    inside, scope = {part for left in off for part in walk(left)}, scope_of(module, node)
    for call in module.nodes.get(ast.Call, ()):
        if call not in inside and scope_of(module, call) is scope and _find_calling_modules(context, pattern, module, [call]):
            if context.facts.unreachable(module, call) is None:
                return True
    return False


def _is_synchronized_elsewhere(
    context: Context, pattern: Pattern, module: Module, node: ast.If | ast.IfExp, off: Sequence[ast.AST]
) -> bool:
    """Whether the same function wraps the model elsewhere too, no group of the file is made here, or a file sums gradients itself."""
    if _is_called_elsewhere(context, pattern, module, node, off):
        return True
    resolver = context.tracer.resolver
    makers = {name for surface in context.rules.surfaces.values() if surface.default_group for name in surface.names}
    inside = {part for left in off for part in walk(left)}
    summing = {name for idioms in context.rules.idioms for name in idioms.group_needed}
    result: list[bool] = []
    for call in module.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if makers & set(resolver.names(module, call.func)):
            result.append(call not in inside and not _is_off(context, pattern, module, call))
        if any(isinstance(part, ast.Attribute) and part.attr == "grad" for given in call.args for part in walk(given)):
            if summing & set(resolver.names(module, call.func)):
                return True
    return bool(result) and not any(result)


def _is_off(context: Context, pattern: Pattern, module: Module, call: ast.AST) -> bool:
    """Whether a condition around a call keeps it from running here, also where an attribute has the answer."""
    child = call
    for parent in module.ancestors(call):
        if isinstance(parent, (ast.If, ast.IfExp)) and (wanted := find_branch(parent, child)) is not None:
            if evaluate_test(context, module, parent.test, pattern.device) is (not wanted):
                return True
        child = parent
    return False
