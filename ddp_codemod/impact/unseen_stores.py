"""Names that are stored where nothing says whose attribute, entry or answer they become: ``for one in made: one.backend = "nccl"``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from ddp_codemod.dataflow.allocation_sites import AllocationKind, find_origins
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Finding
from ddp_codemod.sites.scopes import lasting_bindings, scope_of
from ddp_codemod.sites.surface_calls import Use

_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)
_ANSWERING = ("__getattr__", "__getattribute__", "__getitem__", "__get__", "__missing__")  # methods that answer for any word


def is_known_read(finding: Finding) -> bool:
    """Whether a call of a program stays as it is because all that it is passed is known."""
    known = bool(finding.possible) and all(isinstance(source.value, Known) for source in finding.possible)
    return known and finding.action is Action.KEEP and isinstance(finding.use, Use) and not is_test(finding.use.module.name)


def list_words_of_read(finding: Finding) -> frozenset[str]:
    """The words of the attribute, entry or function that a call which stays as it is has its value from; none where it names the value.

    A name counts where its scope takes it from there: ``backend = options["backend"]``.
    """
    use, argument = finding.use, finding.argument
    if not is_known_read(finding) or not isinstance(use, Use) or not isinstance(argument, ast.expr):
        return frozenset()
    read = [argument]
    if isinstance(argument, ast.Name):
        made = lasting_bindings(use.module, scope_of(use.module, argument), argument.id)
        read = [one.value for one in made if one.value is not None]
    called = [last_name(one.func) for one in read if isinstance(one, ast.Call)]
    return frozenset([*(word for one in read for word in list_read_words(one)), *called])


def list_read_words(node: ast.expr) -> Iterator[str]:
    """The words of the attribute or entry that an expression reads."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Subscript):
        yield from _list_texts([node.slice])
    elif isinstance(node, ast.Call):
        yield from _list_texts(node.args)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from list_read_words(part)


def _list_texts(nodes: list[ast.expr]) -> Iterator[str]:
    yield from (part.value for part in nodes if isinstance(part, ast.Constant) and isinstance(part.value, str))


def is_stored_unseen(tracer: Tracer, module: Module, node: ast.expr, words: Set[str], finding: Finding) -> bool:
    """Whether a text becomes an attribute, an entry or an answer under one of the words, and of what is not seen.

    ``cfg.plot.backend`` is no ``cfg.dist.backend``, whatever ``cfg`` is.
    """
    around = module.parents.get(node)
    if not words:
        return False
    if isinstance(around, ast.Assign):
        names = {target.id.lower() for target in around.targets if isinstance(target, ast.Name)}
        if not names.isdisjoint(words) and is_spread_by_names(tracer):
            return True  # a constant that is spread with others
        part = _find_part(finding.argument)
        targets = (target for target in around.targets if part is None or _find_part(target) in (part, None))
        return any(_is_unseen_target(tracer, module, target, words) for target in targets)
    if isinstance(around, ast.Tuple):  # a pair of a key and its value
        before = around.elts[around.elts.index(node) - 1] if node in around.elts[1:] else None
        return len(around.elts) == 2 and isinstance(before, ast.Constant) and before.value in words
    if isinstance(around, ast.Call) and node in around.args[1:]:  # ``os.environ.setdefault("BACKEND", "nccl")``
        before = around.args[around.args.index(node) - 1]
        return isinstance(before, ast.Constant) and before.value in words
    if isinstance(around, ast.keyword):
        return around.arg in words and is_spread_by_names(tracer)
    if isinstance(around, ast.Dict) and node in around.values:
        key = around.keys[around.values.index(node)]
        return isinstance(key, ast.Constant) and key.value in words and is_spread_by_names(tracer)
    if isinstance(around, (ast.Return, ast.Lambda)):
        return _is_unseen_answer(module, around, words)
    return False


def _find_part(node: object) -> object:
    """The word under which the object lies whose attribute or entry this is; None where it is not a part of another."""
    holder = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None
    if isinstance(holder, ast.Attribute):
        return holder.attr
    return holder.slice.value if isinstance(holder, ast.Subscript) and isinstance(holder.slice, ast.Constant) else None


def _is_unseen_target(tracer: Tracer, module: Module, target: ast.expr, words: Set[str]) -> bool:
    if isinstance(target, ast.Attribute):
        return target.attr in words and _is_unseen(tracer, module, target.value)
    named = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value in words
    return named and isinstance(target, ast.Subscript) and _is_unseen(tracer, module, target.value)


def _is_unseen(tracer: Tracer, module: Module, holder: ast.expr) -> bool:
    """Whether nothing says which object gets something: it is what a call gives, or runs over others, or comes from anywhere."""
    if isinstance(holder, ast.Call):
        return True
    if isinstance(holder, ast.Name):
        made = lasting_bindings(module, scope_of(module, holder), holder.id)
        if any(one.kind == "other" for one in made):
            return True
    if tracer.resolver.resolve(module, holder):
        return False
    origins = find_origins(tracer, module, holder, Trace(kind=OriginKind.OBJECT)).made
    return not origins or any(one.maker is AllocationKind.UNKNOWN for one in origins)


def is_spread_by_names(tracer: Tracer) -> bool:
    """Whether code of the project gives an object, or the environment, what a table holds, name by name."""
    if "spread by names" not in tracer.memory:
        project = tracer.resolver.project
        files = {
            *project.mentioning("setattr"),
            *project.mentioning("environ"),
            *project.mentioning("__dict__"),
            *project.mentioning("vars"),
        }
        modules = (module for name in sorted(files) if not is_test(name) for module in project.programs(name))
        tracer.memory["spread by names"] = any(map(_spreads_by_names, modules))
    return bool(tracer.memory["spread by names"])


def _spreads_by_names(module: Module) -> bool:
    calls = (call for call in module.nodes.get(ast.Call, ()) if isinstance(call, ast.Call))
    for call in calls:
        last = last_name(call.func)
        if last in ("setattr", "__setattr__") and len(call.args) > 1 and not isinstance(call.args[-2], ast.Constant):
            return True
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        table = isinstance(owner, ast.Attribute) and owner.attr == "__dict__"
        if last == "update" and (table or (isinstance(owner, ast.Call) and last_name(owner.func) == "vars")):
            return True
    stores = (node for node in module.nodes.get(ast.Subscript, ()) if isinstance(node, ast.Subscript))
    return any(
        last_name(one.value) == "environ" and isinstance(one.ctx, ast.Store) and not isinstance(one.slice, ast.Constant)
        for one in stores
    )


def _is_unseen_answer(module: Module, around: ast.Return | ast.Lambda, words: Set[str]) -> bool:
    """Whether a function that answers with the text stands for one that is called: a method for any word, what a decorator gives."""
    function = around if isinstance(around, ast.Lambda) else scope_of(module, around)
    home = module.parents.get(function)
    if isinstance(home, ast.Assign) and any(isinstance(one, ast.Attribute) and one.attr in words for one in home.targets):
        return True  # ``Options.backend = lambda self: "nccl"``
    if isinstance(home, ast.ClassDef):
        return isinstance(function, _DEFINED) and function.name in _ANSWERING
    outer = scope_of(module, function)
    decorated = [one for kind in (ast.FunctionDef, ast.ClassDef) for one in module.nodes.get(kind, ())]
    return isinstance(outer, _DEFINED) and any(
        one.name in words and any(last_name(part) == outer.name for part in one.decorator_list)
        for one in decorated
        if isinstance(one, (ast.FunctionDef, ast.ClassDef))
    )
