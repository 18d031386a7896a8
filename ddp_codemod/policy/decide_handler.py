"""Matches list parameters whose objects carry the backend, such as accelerate's ``kwargs_handlers``."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Handler
from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.escape_analysis import GROWING, analyze_escapes
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.dataflow.parameters import is_forwarded
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.default_argument import decide_default_backend, describe_default_chooser
from ddp_codemod.policy.device_arguments import explain_by_argument
from ddp_codemod.policy.findings import Change, Context, Finding, NewHandler, NewObject, start, unreachable
from ddp_codemod.policy.launcher_condition import explain_wanted_backend
from ddp_codemod.sites.scopes import owner_scope, scope_of
from ddp_codemod.sites.surface_calls import Use


def decide_handler(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide whether the call's list needs a handler that names the wanted backend; None where another call is passed it."""
    if use.overrides_init:
        return None  # what the class passes on is a call of its own
    platform, handler = context.platform, parameter.handler
    assert handler is not None
    argument = use.argument(parameter)
    choice = platform.backend
    result = start(context, use, parameter, argument, [], [choice.default or choice.wanted])
    never = unreachable(context, use) or explain_by_argument(context, use.module, use.call, parameter.beside)
    if never is not None:
        return result.keep(never)
    if not choice.default or choice.default in choice.works:
        return result.keep(Reason.of("keep-omitted", parameter=handler.keyword))
    into = _find_unpacked_list(context, use, parameter) if argument is None else False
    if into is True:
        unknown = result.review(fix.id, Reason.of("why-spread", text=use.module.text(use.spread[0])))
        return decide_default_backend(context, parameter, unknown, fix)
    if argument is not None and handler.single:
        return _keep_handler(result, handler)
    listed = argument if argument is not None else into if isinstance(into, ast.List) else None
    if listed is not None:
        there = _find_handler_calls(context, use.module, listed, handler) or _find_handlers_in_file(context, use, handler)
        if not there and not _is_written_out(context, use.module, listed, handler):
            return result.review(fix.id, Reason.of("why-expression", text=use.module.text(argument or use.call)))
        if there:
            others = [other for module, call in there if (other := _find_none_branch(context, module, call)) is not None]
            if len(others) == len(there):
                return _add_to_none_branch(context, result, parameter, fix, there[0], others[0])
            return _keep_handler(result, handler)
    reason = Reason.of(
        "edit-handler",
        handler=handler.names[0].rsplit(".", 1)[-1],
        value=choice.default,
        wanted=choice.wanted,
        platform=platform.id,
        who=describe_default_chooser(context, use),
        **explain_wanted_backend(platform, parameter.launched),
    )
    place = into if isinstance(into, ast.List) else None
    change: Change = NewHandler(use.module, use.call, parameter.name, handler, choice.wanted, place)
    if handler.single:
        package, _, name = handler.names[0].rpartition(".")
        change = NewObject(use.module, use.call, parameter.name, None, package, name, (), handler.keyword, choice.wanted)
    safe = parameter.add_applicability == "safe" and not platform.fits(parameter.named_on)
    safe = safe and not (argument is None and _is_passed_through(context, use))
    return decide_default_backend(context, parameter, result.edit(fix.id, safe, reason, [change]), fix)


def _keep_handler(result: Finding, handler: Handler) -> Finding:
    """What the call gives is decided where the handler is made: what it would be without one is no answer."""
    name = handler.names[0].rsplit(".", 1)[-1]
    return replace(result, resolves_to=()).keep(Reason.of("keep-handler", Meaning.ELSEWHERE, handler=name))


def _find_unpacked_list(context: Context, use: Use, parameter: Parameter) -> ast.List | bool:
    """The list in what the call unpacks, if it is written out there; else whether there can be one that is not known."""
    found: list[ast.List] = []
    for mapping in use.spread:
        if any(isinstance(part, ast.Starred) and part.value is mapping for part in use.call.args):
            return True
        parts = zip(mapping.keys, mapping.values, strict=True) if isinstance(mapping, ast.Dict) else ()
        written = [value for key, value in parts if isinstance(key, ast.Constant) and key.value == parameter.name]
        if len(written) == 1 and isinstance(written[0], ast.List) and written[0].elts:
            found.append(written[0])
        elif look_up(context.tracer, use.module, mapping, ast.Constant(parameter.name), Trace()) != []:
            return True
    return found[0] if len(found) == 1 else bool(found)


def _is_passed_through(context: Context, use: Use) -> bool:
    """Whether the call unpacks a parameter of a function that nobody in the project calls: who does may pass on the same keyword."""
    for part in use.spread:
        if isinstance(part, ast.Name) and is_forwarded(use.module, part):
            function = owner_scope(use.module, scope_of(use.module, part), part.id)
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and not callers_of(
                context.tracer, use.module, function
            ):
                return True
    return False


def _is_written_out(context: Context, module: Module, argument: ast.expr, handler: Handler) -> bool:
    """Whether all that the list can be is written out, also what is appended to it."""
    sources = context.tracer.evaluate(module, argument)
    if not sources or not all(isinstance(source.node, (ast.List, ast.Tuple)) for source in sources):
        return False
    grown = [
        call
        for source in sources
        for home, place in analyze_escapes(context.tracer, source.code[0], source.code[1]).places  # type: ignore[arg-type]
        if isinstance(named := home.parents.get(place), ast.Attribute)
        and named.attr in GROWING
        and isinstance(call := home.parents.get(named), ast.Call)
    ]
    for call in grown:
        if len(call.args) != 1 or last_name(call.func) != "append":
            return False
        result = context.tracer.evaluate(module, call.args[0])
        if not result or not all(
            isinstance(source.node, ast.Call) and _is_sibling_class(context, *source.code, handler) for source in result
        ):
            return False
    return True


def _is_sibling_class(context: Context, module: Module, call: ast.AST, handler: Handler) -> bool:
    """Whether a call makes an object of another class of the handler's own package."""
    names = context.tracer.resolver.names(module, call.func) if isinstance(call, ast.Call) else []
    package = handler.names[0].partition(".")[0]
    return bool(names) and all(name.partition(".")[0] == package and name not in handler.names for name in names)


def _find_handler_calls(context: Context, module: Module, argument: ast.expr, handler: Handler) -> list[tuple[Module, ast.Call]]:
    """The calls that make the handler in a list that is written out."""
    found: list[tuple[Module, ast.Call]] = []
    for source in context.tracer.evaluate(module, argument):
        for element in source.node.elts if isinstance(source.node, (ast.List, ast.Tuple)) else ():
            for result in context.tracer.evaluate(source.code[0], element):
                if isinstance(result.node, ast.Call):
                    if set(context.tracer.resolver.names(result.code[0], result.node.func)) & set(handler.names):
                        found.append((result.code[0], result.node))
    return found


def _find_handlers_in_file(context: Context, use: Use, handler: Handler) -> list[tuple[Module, ast.Call]]:
    """The handlers that the file makes and that get to the call through lists which are not followed otherwise."""
    words = {name.rpartition(".")[2] for name in handler.names}
    return [
        (use.module, call)
        for word in sorted(words)
        for call in index_calls(use.module).get(word, ())
        if set(context.tracer.resolver.names(use.module, call.func)) & set(handler.names)
        and any(taker is use.call for _, taker in analyze_escapes(context.tracer, use.module, call).arguments)
    ]


def _find_none_branch(context: Context, module: Module, call: ast.Call) -> ast.Constant | None:
    """The None that is in the handler's place where a condition does not hold; None where there is no such condition."""
    around = module.parents.get(call)
    if not isinstance(around, ast.IfExp) or call is around.test or context.facts.truth(module, around.test) is not None:
        return None
    other = around.orelse if call is around.body else around.body
    return other if isinstance(other, ast.Constant) and other.value is None else None


def _add_to_none_branch(
    context: Context, finding: Finding, parameter: Parameter, fix: Fix, there: tuple[Module, ast.Call], other: ast.Constant
) -> Finding:
    """The handler in the other branch too: without it the library picks by itself."""
    handler, choice, use, (module, call) = parameter.handler, context.platform.backend, finding.use, there
    around = module.parents[other]
    assert handler is not None
    assert isinstance(use, Use)
    assert isinstance(around, ast.IfExp)
    full = next(name for name in context.tracer.resolver.names(module, call.func) if name in handler.names)
    package, _, name = full.rpartition(".")
    arguments = {
        "value": choice.default,
        "wanted": choice.wanted,
        "who": describe_default_chooser(context, use),
        "keyword": handler.keyword,
    }
    reason = Reason.of("edit-handler-otherwise", handler=name, test=module.short_text(around.test), **arguments)
    if module is not use.module:
        return finding.review(fix.id, reason)
    source = Value(module, other, OriginKind.LITERAL, Known(None))
    change = NewObject(module, use.call, parameter.name, source, package, name, (), handler.keyword, choice.wanted)
    return decide_default_backend(
        context, parameter, finding.edit(fix.id, parameter.add_applicability == "safe", reason, [change]), fix
    )
