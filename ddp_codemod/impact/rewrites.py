"""The named recipes of advice that a place can be fixed with: what goes in where."""

from __future__ import annotations

import ast
import builtins

from ddp_codemod.catalog.advisory import Advice, Rewrite
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.impact.conditional_text import Replacement, guard_statement, is_free, make_conditional
from ddp_codemod.impact.device_requirements import relax_requirement
from ddp_codemod.impact.device_values import has_text_prefix
from ddp_codemod.impact.idle_events import rewrite_event
from ddp_codemod.impact.idle_streams import is_idle
from ddp_codemod.impact.replace_function import replace_function
from ddp_codemod.impact.target_device import rewrite_for_device
from ddp_codemod.impact.uncounted_processes import list_started_modules, open_for_several
from ddp_codemod.impact.usage import Hit, find_hits
from ddp_codemod.impact.widened_tests import widen_test
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import PACKAGE, Change, Context, DroppedArgument, Insertions

_BUILTINS = frozenset(dir(builtins)) - {"print"}


def rewrite_hit(context: Context, advice: Advice, hit: Hit, alone: bool = True) -> list[Change]:
    """The changes that fix the place; none where the recipe does not fit.

    ``alone``: the code is for this platform alone; False: others run it too.
    """
    rewrite = advice.rewrite
    if rewrite is None or not hit.sure or (rewrite.recipe == "other-type" and not alone):  # elsewhere the type is right
        return []
    if rewrite.recipe == "drop-argument":
        assert isinstance(hit.node, ast.Call)
        assert hit.argument is not None
        return [DroppedArgument(hit.module, hit.node, hit.argument)]
    if rewrite.recipe == "add-argument":
        assert advice.pattern is not None
        return _add_argument(hit, f"{advice.pattern.argument}={rewrite.value.replace('PACKAGE', PACKAGE)}", rewrite.package)
    if rewrite.recipe == "conditional-value":
        return _rewrite_conditionally(context, advice, hit)
    if rewrite.recipe == "not-required":
        assert advice.pattern is not None
        return relax_requirement(context, advice.pattern, rewrite, hit)
    if rewrite.recipe == "or-in-group":
        assert advice.pattern is not None
        return widen_test(context, advice.pattern, rewrite, hit)
    if rewrite.recipe == "or-launched":
        assert isinstance(hit.node, ast.expr)
        return [] if _train_apart(context, hit.module) else open_for_several(rewrite, hit.module, hit.node)
    if rewrite.recipe == "other-function":
        return replace_function(context, rewrite, hit)
    if rewrite.recipe == "either-module":
        function = hit.node.func if isinstance(hit.node, ast.Call) else None
        if not isinstance(function, ast.Attribute):
            return []
        either = make_conditional(hit.module, function.value, f"{PACKAGE}{rewrite.condition}", PACKAGE)
        return [Insertions(hit.module, function.value, tuple(either), rewrite.package)]  # what the call is passed runs either way
    if rewrite.recipe.startswith("own-"):
        return rewrite_for_device(context, advice, rewrite, hit, alone)
    if rewrite.recipe == "idle-event":
        return rewrite_event(context, rewrite, hit)
    if rewrite.recipe == "idle-stream":
        if not isinstance(hit.node, ast.Call) or not is_idle(context, hit.module, hit.node, rewrite):
            return []
        either = make_conditional(hit.module, hit.node, f"{PACKAGE}{rewrite.condition}", rewrite.otherwise)
        return [Insertions(hit.module, hit.node, tuple(either), rewrite.package)]
    if rewrite.recipe == "argument-unless" and rewrite.otherwise and isinstance(hit.node, ast.Call):
        given = hit.node.args
        if len(given) == 1 and not hit.node.keywords and not isinstance(given[0], (ast.Name, ast.Attribute, ast.Starred)):
            # what gives its argument back takes the place of the function, so that the argument is written once
            other = rewrite.otherwise.replace("PACKAGE", PACKAGE)
            either = make_conditional(hit.module, hit.node.func, f"{PACKAGE}{rewrite.condition}", other)
            return [Insertions(hit.module, hit.node.func, tuple(either), rewrite.package)]
    replacements = _make_replacements(hit, rewrite)
    return [Insertions(hit.module, hit.node, tuple(replacements), rewrite.package)] if replacements else []


def _add_argument(hit: Hit, argument: str, package: str) -> list[Change]:
    """The argument behind the last one of a call, on its line."""
    module, call = hit.module, hit.node
    given = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
    if not given:
        return []
    assert isinstance(call, ast.Call)
    end = max(module.place(one).end for one in given)
    rest = module.source.text[end : module.place(call).end - 1].rstrip()
    if "#" in rest:
        return []
    at, text = end + len(rest), f" {argument}" if rest.endswith(",") else f", {argument}"
    return [Insertions(module, call.func, ((at, at, text),), package)]


def _train_apart(context: Context, module: Module) -> bool:
    """Whether the processes of a program would train without each other, as far as no edit opens the check that keeps them apart."""
    for advice in context.rules.advice.values():
        pattern, rewrite = advice.pattern, advice.rewrite
        if pattern is not None and rewrite is not None and pattern.use == "apart" and advice.fits(context.platform):
            for home in list_started_modules(context, module):
                for hit in find_hits(context, pattern, home):
                    if not widen_test(context, pattern, rewrite, hit):
                        return True
    return False


def _make_replacements(hit: Hit, rewrite: Rewrite) -> list[Replacement]:
    module, node = hit.module, hit.node
    condition = f"{PACKAGE}{rewrite.condition}"
    place = module.place(node)
    if rewrite.recipe == "at-least":
        return [(place.start, place.start, f"max({rewrite.otherwise}, "), (place.end, place.end, ")")]
    if rewrite.recipe == "launched-count":
        return _launched(module, node, rewrite) if hit.argument is None else _launched_later(module, hit.argument, rewrite)
    if rewrite.recipe == "other-type":
        word = last_name(node)
        other = rewrite.types.get(word) if isinstance(node, ast.Attribute) else None
        return [(place.end - len(word), place.end, other)] if other is not None else []
    if rewrite.recipe == "guard-statement":
        call = module.parents.get(node)  # of a name that a pattern finds whatever is done with it
        node = call if isinstance(call, ast.Call) and call.func is node else node
        return guard_statement(module, node, condition, rewrite.waits)
    if not isinstance(node, ast.Call):
        return []
    if rewrite.recipe == "argument-unless":
        if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            return []
        if not isinstance(
            node.args[0], (ast.Name, ast.Attribute)
        ):  # what gives its argument back takes the place of the function
            other = rewrite.otherwise.replace("PACKAGE", PACKAGE)
            return make_conditional(module, node.func, condition, other) if other and not node.keywords else []
        return make_conditional(module, node, condition, module.text(node.args[0]))
    if rewrite.recipe == "receiver-unless":
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if node.args or node.keywords or not isinstance(of, (ast.Name, ast.Attribute)):
            return []
        return make_conditional(module, node, condition, module.text(of))
    if rewrite.recipe == "conditional-call":
        return _replace_call(module, node, condition, rewrite.otherwise.replace("PACKAGE", PACKAGE))
    return _rewrite_to_device(module, node, rewrite, condition)


def _launched(module: Module, node: ast.AST, rewrite: Rewrite) -> list[Replacement]:
    """The number, or where that is 0 what the launcher's variable says; inside of a text there may be no quotes."""
    if not isinstance(node, ast.expr) or any(isinstance(around, ast.JoinedStr) for around in module.ancestors(node)):
        return []
    place = module.place(node)
    start, end = ("", "") if is_free(module, node) else ("(", ")")
    number = f'int({PACKAGE}.environ.get("{rewrite.value}", {rewrite.otherwise}))'
    return [*([(place.start, place.start, start)] if start else []), (place.end, place.end, f" or {number}{end}")]


def _launched_later(module: Module, function: ast.expr, rewrite: Rewrite) -> list[Replacement]:
    """A function that gives the number, or where that is 0 what the launcher's variable says, in place of one that counts."""
    place = module.place(function)
    number = f'int({PACKAGE}.environ.get("{rewrite.value}", {rewrite.otherwise}))'
    return [(place.start, place.start, "lambda: "), (place.end, place.end, f"() or {number}")]


def _replace_call(module: Module, call: ast.Call, condition: str, otherwise: str) -> list[Replacement]:
    """The call or something else, where its result is kept or passed on; inside of a text there may be no quotes.

    What a built-in function other than ``print`` is passed is a number to it, and what is reckoned with, compared with one or counts items.
    """
    above = module.parents.get(call)
    counted = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _BUILTINS
    counted = counted or (isinstance(above, ast.Assign) and any(_is_number(module, one) for one in above.targets))
    kept = not counted and isinstance(above, (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call, ast.Attribute))
    if not kept or any(isinstance(around, ast.JoinedStr) for around in module.ancestors(call)):
        return []
    return make_conditional(module, call, condition, otherwise)


def _is_number(module: Module, target: ast.expr) -> bool:
    """Whether a file reckons with what a name or an attribute holds, compares it with a number or takes an item by it."""
    for read in module.nodes.get(type(target), ()):
        if isinstance(getattr(read, "ctx", None), ast.Load) and last_name(read) == last_name(target):
            above = module.parents.get(read)
            texts = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mod) and above.right is read
            compared = isinstance(above, ast.Compare) and any(
                isinstance(one, ast.Constant) and isinstance(one.value, int) for one in above.comparators
            )
            if (
                compared
                or (isinstance(above, ast.BinOp) and not texts)
                or (isinstance(above, ast.Subscript) and above.slice is read)
            ):
                return True
    return False


def _rewrite_to_device(module: Module, call: ast.Call, rewrite: Rewrite, condition: str) -> list[Replacement]:
    """``x.cuda(a)`` becomes ``x.to(a if condition else otherwise)``."""
    function = call.func
    if not isinstance(function, ast.Attribute) or any(isinstance(part, ast.Starred) for part in call.args):
        return []
    end = module.place(function).end
    replacements = [(end - len(function.attr), end, rewrite.method)]
    first = call.args[0] if call.args else next((part.value for part in call.keywords if part.arg == "device"), None)
    if first is not None:
        return [*replacements, *make_conditional(module, first, condition, rewrite.otherwise)]
    opening = module.source.text.index("(", end) + 1
    comma = ", " if call.keywords else ""
    return [*replacements, (opening, opening, f"{rewrite.value} if {condition} else {rewrite.otherwise}{comma}")]


def _is_device_maker(context: Context, hit: Hit) -> bool:
    """Whether a call is one of those of which the device is all that results: then its other arguments are that device's."""
    assert isinstance(hit.node, ast.Call)
    known = {name for idioms in context.rules.idioms for name, kind in idioms.device_functions.items() if not kind}
    return not known.isdisjoint(context.tracer.resolver.names(hit.module, hit.node.func))


def _rewrite_conditionally(context: Context, advice: Advice, hit: Hit) -> list[Change]:
    """The argument, or the text that it starts from, under the condition."""
    rewrite, pattern, argument = advice.rewrite, advice.pattern, hit.argument
    if rewrite is None or pattern is None or argument is None:
        return []
    condition, other = f"{PACKAGE}{rewrite.condition}", rewrite.otherwise.replace("PACKAGE", PACKAGE)
    nodes: list[tuple[Module, ast.expr, str]] = [(hit.module, argument, other)]
    if pattern.argument_is == "device" and pattern.device:
        nodes = []
        for source in context.tracer.evaluate(hit.module, argument):
            text = source.value.value if isinstance(source.value, Known) else None
            named = isinstance(text, str) and text.startswith(pattern.device)
            if named or has_text_prefix(source.node, pattern.device):
                if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
                    return []  # in a configuration or launch file
                nodes.append((source.module, source.node, other))
        call = hit.node
        if isinstance(call, ast.Call) and len(call.args) > 1 and argument is call.args[0] and _is_device_maker(context, hit):
            nodes = [(hit.module, call, f"{hit.module.text(call.func)}({other})")]
        nodes = nodes or [(hit.module, argument, other)]
    return [
        Insertions(module, node, tuple(make_conditional(module, node, condition, otherwise)), rewrite.package)
        for module, node, otherwise in nodes
    ]
