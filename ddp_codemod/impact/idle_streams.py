"""Streams of a device that code only enters and waits for: without the device nothing runs in them, and nothing is waited for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ddp_codemod.catalog.advisory import Rewrite
from ddp_codemod.parse.python import Module, walk
from ddp_codemod.policy.findings import Context


def find_waiting_statement(module: Module, node: ast.AST, methods: Collection[str]) -> ast.Expr | None:
    """The statement that only calls these methods of a stream, or with it: ``current_stream().wait_stream(own)``."""
    at = node
    while True:
        above = module.parents.get(at)
        if isinstance(above, ast.Expr):
            return above if at is not node or isinstance(node, ast.Call) else None
        if isinstance(above, ast.Attribute) and above.attr in methods:
            call = module.parents.get(above)
            if not isinstance(call, ast.Call) or call.func is not above:
                return None
            at = call
        elif (
            isinstance(above, ast.Call)
            and isinstance(above.func, ast.Attribute)
            and above.func.attr in methods
            and at in above.args
        ):
            at = above
        else:
            return None


def is_idle(context: Context, module: Module, call: ast.Call, rewrite: Rewrite) -> bool:
    """Whether a new stream goes to a name that is only entered (``enters``), and waited for together with the current one (``of``)."""
    result = module.parents.get(call)
    targets = result.targets if isinstance(result, ast.Assign) else [result.target] if isinstance(result, ast.AnnAssign) else []
    if len(targets) != 1 or getattr(result, "value", None) is not call:
        return False
    uses = list(find_uses(context, module, targets[0], rewrite.enters))
    return bool(uses) and all(
        _is_entered(context, at, use, rewrite.enters) or _is_waited_for(context, at, use, rewrite) for at, use in uses
    )


def find_uses(context: Context, module: Module, target: ast.expr, enters: Collection[str]) -> Iterator[tuple[Module, ast.expr]]:
    """Where the file reads a name, or any file an attribute of that name of whatever object of the project."""
    if isinstance(target, ast.Name):
        for name in module.nodes.get(ast.Name, ()):
            if isinstance(name, ast.Name) and name.id == target.id and isinstance(name.ctx, ast.Load):
                yield module, name
    elif isinstance(target, ast.Attribute):
        project = context.tracer.resolver.project
        for at in (one for file in sorted({module.name, *project.mentioning(target.attr)}) for one in project.programs(file)):
            for node in at.nodes.get(ast.Attribute, ()):
                if isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load):
                    if set(enters).isdisjoint(context.tracer.resolver.names(at, node)):  # torch.cuda.stream
                        if not _is_of_another(module, target, at, node):
                            yield at, node


def _is_of_another(module: Module, target: ast.Attribute, at: Module, node: ast.Attribute) -> bool:
    """Whether an attribute of ``self`` is read in another class, which sets one of that name itself."""
    if not isinstance(target.value, ast.Name) or not isinstance(node.value, ast.Name) or node.value.id != target.value.id:
        return False
    own, other = _find_class(module, target), _find_class(at, node)
    if own is None or other is None or own is other:
        return False
    stores = (part for part in walk(other) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store))
    return any(ast.unparse(part) == ast.unparse(node) for part in stores)


def _find_class(module: Module, node: ast.AST) -> ast.ClassDef | None:
    return next((around for around in module.ancestors(node) if isinstance(around, ast.ClassDef)), None)


def _is_entered(context: Context, module: Module, use: ast.expr, enters: Collection[str]) -> bool:
    above = module.parents.get(use)
    entered = isinstance(above, ast.Call) and above.args[:1] == [use]
    return entered and not set(enters).isdisjoint(context.tracer.resolver.names(module, getattr(above, "func", use)))


def _is_waited_for(context: Context, module: Module, use: ast.expr, rewrite: Rewrite) -> bool:
    """Whether a statement does nothing but to wait, and asks for the current stream: with that, it is put under the condition."""
    statement = find_waiting_statement(module, use, rewrite.waits)
    calls = (part for part in walk(statement) if isinstance(part, ast.Call)) if statement is not None else ()
    return any(not set(rewrite.of).isdisjoint(context.tracer.resolver.names(module, call.func)) for call in calls)
