"""Events of a device that code only records, waits for and measures time with: without the device none of that is done."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Rewrite
from ddp_codemod.dataflow.opened_gates import SAYS
from ddp_codemod.impact.conditional_text import guard_statement, make_conditional
from ddp_codemod.impact.idle_streams import find_uses, find_waiting_statement
from ddp_codemod.impact.usage import Hit
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import PACKAGE, Change, Context, Insertions


def rewrite_event(context: Context, rewrite: Rewrite, hit: Hit) -> list[Change]:
    """The event under the condition, and so each statement that records or waits for it; the time that it measures, else ``value``.

    Nothing where something else is done with it.
    """
    module, condition = hit.module, f"{PACKAGE}{rewrite.condition}"
    target = _find_target(module, hit.node)
    if target is None or not isinstance(hit.node, ast.expr):
        return []
    changes: list[Change] = [
        Insertions(module, hit.node, tuple(make_conditional(module, hit.node, condition, rewrite.otherwise)), rewrite.package)
    ]
    uses = list(find_uses(context, module, target, ()))
    for at, use in uses:
        if (statement := find_waiting_statement(at, use, rewrite.waits)) is not None:
            node: ast.expr = statement.value
            replacements = guard_statement(at, node, condition, rewrite.waits)
        else:
            measured = _find_measuring_call(at, use, rewrite.measures)
            if measured is None:
                return []
            if not isinstance(measured.func, ast.Attribute) or measured.func.value is not use:
                continue  # the event that it is measured from sees to it
            if not any(isinstance(around, ast.JoinedStr) for around in at.ancestors(measured)):
                node, replacements = measured, make_conditional(at, measured, condition, rewrite.value)
            else:
                said = _find_message(at, measured)
                if said is None:
                    return []
                if next(_find_measuring_calls(said, rewrite.measures)) is not measured:
                    continue
                node, replacements = said, guard_statement(at, said, condition, ())
        if not replacements:
            return []
        changes.append(Insertions(at, node, tuple(replacements), rewrite.package))
    return changes if uses else []


def _find_target(module: Module, call: ast.AST) -> ast.expr | None:
    """What an event goes to: the one target of its statement, or the one at its place among several."""
    above = module.parents.get(call)
    place = None
    if isinstance(above, ast.Tuple):
        place, call, above = above.elts.index(call), above, module.parents.get(above)  # type: ignore[arg-type]
    targets = above.targets if isinstance(above, ast.Assign) else [above.target] if isinstance(above, ast.AnnAssign) else []
    if len(targets) != 1 or getattr(above, "value", None) is not call:
        return None
    if place is None:
        return targets[0]
    into = targets[0].elts if isinstance(targets[0], (ast.Tuple, ast.List)) else []
    same = isinstance(call, ast.Tuple) and len(into) == len(call.elts)
    return into[place] if same and not any(isinstance(one, ast.Starred) for one in (*into, *call.elts)) else None


def _find_measuring_call(module: Module, use: ast.expr, measures: tuple[str, ...]) -> ast.Call | None:
    """The call that measures the time between an event and another, of either of them."""
    above = module.parents.get(use)
    call = module.parents.get(above) if isinstance(above, ast.Attribute) else above
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in measures:
        return None
    return call if len(call.args) == 1 and not call.keywords and use in (call.func.value, call.args[0]) else None


def _find_message(module: Module, node: ast.AST) -> ast.Call | None:
    """The call around a node that is a statement of its own and only tells somebody something."""
    statement = next((around for around in module.ancestors(node) if isinstance(around, ast.stmt)), None)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return call if isinstance(call, ast.Call) and last_name(call.func) in SAYS else None


def _find_measuring_calls(node: ast.AST, measures: tuple[str, ...]) -> Iterator[ast.Call]:
    for part in walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in measures:
            yield part
