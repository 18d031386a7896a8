"""Finds in a file what the pattern of an advice looks for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec import Struct

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.calls import find_argument, index_calls
from ddp_codemod.dataflow.demands import asks, is_device_demand, sources
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tested_counts import goes_to, tested
from ddp_codemod.impact import usage_device, usage_names
from ddp_codemod.impact.derived_classes import find_derived_calls, find_listed_entries, is_passed_by_name
from ddp_codemod.impact.device_values import is_device, is_device_choice, number_of
from ddp_codemod.impact.divisors import find_divisors, find_remainders
from ddp_codemod.impact.listed_devices import is_listed_device
from ddp_codemod.impact.numbered_devices import find_passed_numbers
from ddp_codemod.impact.other_device_names import find_other_names
from ddp_codemod.impact.tensor_types import find_given_types
from ddp_codemod.impact.uncounted_processes import find_uncounted, is_one_without_device
from ddp_codemod.impact.unsynchronized_models import find_ungrouped_tests, find_unsynchronized_tests
from ddp_codemod.impact.usage_names import find_comparisons, find_instances, has_item_call, is_list_item, is_option, is_text
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.parser_classes import is_about_classes
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.entities import Definition

_TESTS: dict[str, Callable[[Context, Pattern, Module, ast.expr], bool]] = {
    "text": is_text,
    "one": is_one_without_device,
    "option": is_option,
    "chosen": is_device_choice,
    "device": is_device,
    "uneven": lambda context, pattern, module, node: _is_uneven(context, module, node),
    "picked": lambda context, pattern, module, node: is_list_item(context, module, node),
    "function": lambda context, pattern, module, node: bool(
        set(pattern.makers) & set(context.tracer.resolver.names(module, node))
    ),
}
SAYS = frozenset({"print", "error", "critical", "warning", "warn"})
Runs = Callable[[Module, ast.AST], bool]


class Hit(Struct, frozen=True, eq=False):
    """One place: the call, name or statement; for calls with an argument the pattern asks for, the argument."""

    module: Module
    node: ast.AST
    argument: ast.expr | None = None
    sure: bool = True  # a recipe may fix it


def _is_always_run(module: Module, node: ast.AST) -> bool:
    return True


def find_hits(context: Context, pattern: Pattern, module: Module, runs: Runs = _is_always_run) -> Iterator[Hit]:
    """The places in source order; where an argument has to be followed, only those in code that ``runs``."""
    if pattern.use == "required":
        yield from _find_requirements(context, pattern, module)
    elif pattern.use == "gate":
        gates, resolver = context.facts.edited.gates, context.tracer.resolver
        calls = _find_calls(context, pattern, module)
        yield from (Hit(module, call, call) for call in calls if gates.holds(resolver, module, call))
    elif pattern.use == "joined":
        calls = _find_calls(context, pattern, module)
        yield from (Hit(module, call) for call in calls if usage_names.is_joined(context, pattern.makers, module, call))
    elif pattern.use == "rest":
        yield from (Hit(module, node) for node in find_other_names(context, pattern, module))
    elif pattern.use == "numbered":
        yield from (Hit(module, call, given) for call, given in find_passed_numbers(context, pattern, module))
    elif pattern.below is not None:
        yield from (Hit(module, node) for node in usage_device.find_names_below(context, pattern, module))
    elif pattern.attributes:
        yield from (Hit(module, node) for node in usage_device.find_attributes(pattern, module))
    elif pattern.use == "imported":
        yield from (Hit(module, statement) for statement in usage_device.find_imports(context, pattern, module))
    elif pattern.use == "text":
        yield from (Hit(module, text) for text in usage_device.find_texts(pattern, module))
    elif pattern.use == "asked":
        yield from (Hit(module, test, text) for test, text in usage_device.find_device_comparisons(context, pattern, module))
    elif pattern.use == "assigned":
        yield from (Hit(module, text, text) for text in usage_device.find_device_assignments(pattern, module))
    elif pattern.use == "handed":
        for text in usage_device.find_device_arguments(context, pattern, module):
            yield Hit(module, text, text, is_listed_device(context, module, text))
    elif pattern.use == "divisor" and pattern.holders:
        yield from (Hit(module, node, node, sure) for node, sure in find_remainders(context, pattern, module))
    elif pattern.use == "divisor":
        yield from (Hit(module, node, counted) for node, counted in find_divisors(context, pattern, module))
    elif pattern.use == "entry":
        named = next(_find_named(context, pattern, module, ast.Load), None)
        yield from (Hit(module, value, value) for value in find_listed_entries(pattern, module) if named is not None)
    elif pattern.use == "annotated":
        yield from (Hit(module, kind, text) for kind, text in usage_device.annotated(context, pattern, module))
    elif pattern.use == "uncounted":
        yield from (Hit(module, test, test, sure) for test, sure in find_uncounted(context, pattern, module))
    elif pattern.use in ("apart", "alone"):
        tests = find_unsynchronized_tests if pattern.use == "apart" else find_ungrouped_tests
        yield from (Hit(module, test, test) for test in tests(context, pattern, module))
    elif pattern.use in ("named", "set"):
        yield from _find_named(context, pattern, module, ast.Load if pattern.use == "named" else ast.Store)
    elif pattern.use == "instance":
        yield from (Hit(module, node) for node in find_instances(context, pattern, module))
    elif pattern.use == "compared":
        yield from (Hit(module, node) for node in find_comparisons(context, pattern, module))
    elif pattern.beside and not has_item_call(context, pattern, module):
        return
    elif pattern.keywords:
        for keyword in module.nodes.get(ast.keyword, ()):
            assert isinstance(keyword, ast.keyword)
            call = module.parents[keyword]
            if keyword.arg in pattern.keywords and isinstance(call, ast.Call) and runs(module, call):
                if pattern.names and set(pattern.names).isdisjoint(context.tracer.resolver.names(module, call.func)):
                    continue
                if pattern.argument_is in ("true", "false"):
                    said = context.facts.truth(module, keyword.value) is (pattern.argument_is == "true")
                else:
                    said = is_device(context, pattern, module, keyword.value)
                if said:
                    yield Hit(module, call, keyword.value)
    else:
        for call in _find_calls(context, pattern, module):
            if pattern.argument_is in ("device", "typed") and not runs(module, call):
                continue
            if pattern.argument_is == "typed":
                yield from _find_type_places(context, pattern, module, call)
                continue
            found = _narrow_call(context, pattern, module, call)
            if found is not None and (not pattern.holders or goes_to(module, call, pattern.holders, pattern.takers)):
                if not pattern.tested or pattern.tested == (tested(module, call) or "no"):
                    yield found
        yield from _find_derived_classes(context, pattern, module)


def _find_calls(context: Context, pattern: Pattern, module: Module) -> list[ast.Call]:
    table, wanted = index_calls(module), set(pattern.names)
    last = {name.rpartition(".")[2] for name in pattern.names}
    found = [
        call
        for word in sorted(last | aliases_of(module, last))
        for call in table.get(word, ())
        if wanted & set(context.tracer.resolver.names(module, call.func))
    ]
    if pattern.argument is None and pattern.position is None:
        found += _find_deferred_calls(context, pattern, module)
    else:
        found += _find_subclass_calls(context, wanted, last, module)
        found += find_derived_calls(context, pattern, module, found) if pattern.derived else ()
    for method in pattern.methods:
        for call in table.get(method, ()):
            known = context.tracer.resolver.resolve(module, call.func) if isinstance(call.func, ast.Attribute) else []
            if isinstance(call.func, ast.Attribute) and not any(isinstance(entity, Definition) for entity in known):
                if not _is_inside(module, call, pattern.without):
                    found.append(call)  # no method of the project's own
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _is_inside(module: Module, node: ast.AST, functions: tuple[str, ...]) -> bool:
    """Whether a place is in a function of one of the names."""
    return bool(functions) and any(getattr(around, "name", None) in functions for around in module.ancestors(node))


def _find_subclass_calls(context: Context, wanted: set[str], last: set[str], module: Module) -> Iterator[ast.Call]:
    """The calls of the file's own classes that derive from one of the names: ``class Lite(LightningLite)``."""
    resolver, bases = context.tracer.resolver, last | aliases_of(module, last)
    for node in module.nodes.get(ast.ClassDef, ()):
        assert isinstance(node, ast.ClassDef)
        if any(last_name(base) in bases for base in node.bases) and wanted & set(resolver.external_bases(module, node)):
            for call in index_calls(module).get(node.name, ()):
                if any(isinstance(one, Definition) and one.node is node for one in resolver.resolve(module, call.func)):
                    yield call


def _find_derived_classes(context: Context, pattern: Pattern, module: Module) -> Iterator[Hit]:
    """The bases of the project's own classes that are one of the names: ``class FullyShardedDataParallel(FSDP)``."""
    if pattern.argument is None and pattern.position is None and not pattern.holders:
        last = {name.rpartition(".")[2] for name in pattern.names}
        last |= aliases_of(module, last)
        for node in module.nodes.get(ast.ClassDef, ()):
            assert isinstance(node, ast.ClassDef)
            for base in (base for base in node.bases if last_name(base) in last):
                if set(pattern.names) & set(context.tracer.resolver.names(module, base)):
                    yield Hit(module, base, sure=False)


def _find_deferred_calls(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.Call]:
    """The calls that hand one of the names to what calls it later: ``functools.partial(FSDP, device_id=0)``."""
    resolver = context.tracer.resolver
    for forwarder in (forwarder for idioms in context.rules.idioms for forwarder in idioms.forwarder):
        for word in sorted({name.rpartition(".")[2] for name in forwarder.names}):
            for call in index_calls(module).get(word, ()):
                function = find_argument(call, forwarder.function, forwarder.function_position)
                if function is not None and set(pattern.names) & set(resolver.names(module, function)):
                    if set(forwarder.names) & set(resolver.names(module, call.func)):
                        yield call


def _find_named(context: Context, pattern: Pattern, module: Module, use: type[ast.expr_context]) -> Iterator[Hit]:
    last = {name.rpartition(".")[2] for name in pattern.names}
    last |= aliases_of(module, last)
    for kind in (ast.Attribute, ast.Name):
        for node in module.nodes.get(kind, ()):
            if last_name(node) in last and isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), use):
                if set(context.tracer.resolver.names(module, node)) & set(pattern.names):
                    yield Hit(module, node)


def _narrow_call(context: Context, pattern: Pattern, module: Module, call: ast.Call) -> Hit | None:
    if pattern.argument is None and pattern.position is None:
        return Hit(module, call)
    argument = find_argument(call, pattern.argument or "", pattern.position)
    if pattern.argument_is == "omitted":
        spread = any(isinstance(part, ast.Starred) for part in call.args) or any(part.arg is None for part in call.keywords)
        if argument is not None or spread or (pattern.classes and not is_about_classes(context, module, call, pattern.classes)):
            return None
        return Hit(module, call)
    if argument is None:
        return None
    if pattern.argument_is in _TESTS:
        return Hit(module, call, argument) if _TESTS[pattern.argument_is](context, pattern, module, argument) else None
    if pattern.argument_is == "lists":
        held = [one for one in ast.walk(argument) if isinstance(one, ast.Constant) and one.value == pattern.device]
        return Hit(module, call, held[0]) if held and isinstance(argument, (ast.List, ast.Tuple, ast.Set)) else None
    if pattern.argument_is == "made-by" and not pattern.traced:
        return Hit(module, call, argument) if _is_maker_call(context, pattern, module, argument) else None
    sources = context.tracer.evaluate(module, argument)
    none = [source for source in sources if isinstance(source.value, Known) and source.value.value in (None, ())]
    if len(none) < len(sources) or is_passed_by_name(context, module, argument):  # the default is for callers that pass nothing
        none = [source for source in none if source.kind is not OriginKind.PARAMETER_DEFAULT]
    if pattern.argument_is == "counted":
        none += [source for source in sources if number_of(context, source) == 0]
    sure = pattern.argument_is != "made-by" or all(
        _is_maker_call(context, pattern, source.module, source.node) for source in sources
    )
    return None if none else Hit(module, call, argument, sure)  # where it may be None, the code knows why


def _find_type_places(context: Context, pattern: Pattern, module: Module, call: ast.Call) -> Iterator[Hit]:
    """The places that give the tensor of a call its type, in whatever file they are."""
    argument = find_argument(call, pattern.argument or "", pattern.position)
    for home, given in find_given_types(context, module, argument, pattern.texts) if argument is not None else ():
        yield Hit(home, given, given)


def _is_maker_call(context: Context, pattern: Pattern, module: object, node: object) -> bool:
    """Whether an expression is a call of one of the makers, or a number where one of them makes numbers."""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__ in pattern.makers
    if not isinstance(node, ast.Call) or not isinstance(module, Module):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in pattern.makers:
        return True
    return bool(set(context.tracer.resolver.names(module, node.func)) & set(pattern.makers))


def _is_uneven(context: Context, module: Module, argument: ast.expr) -> bool:
    """Whether a list is made of items whose size depends on which item it is."""
    written = [argument]
    if isinstance(argument, ast.Name):
        written = [
            result.value for result in context.facts.definitions(module, argument) if result.kind == "value" and result.value
        ]
    for value in written:
        if isinstance(value, ast.ListComp) and isinstance(value.elt, ast.Call):
            own = {part.id for result in value.generators for part in walk(result.target) if isinstance(part, ast.Name)}
            passed = [*value.elt.args, *(keyword.value for keyword in value.elt.keywords if keyword.arg in ("size", None))]
            if any(isinstance(part, ast.Name) and part.id in own for given in passed for part in walk(given)):
                return True
    return False


def _find_requirements(context: Context, pattern: Pattern, module: Module) -> Iterator[Hit]:
    """Assertions, and tests that raise or leave the program."""
    for node in module.nodes.get(ast.Assert, ()):
        assert isinstance(node, ast.Assert)
        if context.facts.truth(module, node.test) is not True and asks(context.tracer.resolver, pattern.names, module, node.test):
            yield Hit(module, node, node.test)
    for branch in module.nodes.get(ast.If, ()):
        assert isinstance(branch, ast.If)
        if is_device_demand(context.tracer.resolver, pattern.names, module, branch):
            if context.facts.truth(module, branch.test) is not False:
                yield Hit(module, branch, branch.test)
        elif branch.orelse and all(map(_is_only_message, branch.orelse)) and not all(map(_is_only_message, branch.body)):
            if context.facts.closed.truth(module, branch.test) is not False:
                continue
            if asks(context.tracer.resolver, pattern.names, module, branch.test):
                yield Hit(module, branch, branch.test)  # nothing is done but in the branch that is not taken


def _is_only_message(statement: ast.stmt) -> bool:
    """Whether a statement only tells somebody something, or ends the program."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last_name(statement.value.func) in SAYS or sources(statement)
    return sources(statement)
