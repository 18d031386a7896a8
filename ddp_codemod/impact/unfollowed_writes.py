"""Calls that would take another name than the one that is known, were it written in a way that nothing follows: ``globals()["backend"] = "nccl"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from ddp_codemod.dataflow.bulk_stores import find_classes
from ddp_codemod.dataflow.values import Value
from ddp_codemod.impact.unseen_stores import (
    is_known_read,
    is_spread_by_names,
    is_stored_unseen,
    list_read_words,
    list_words_of_read,
)
from ddp_codemod.model import Uncovered
from ddp_codemod.parse.document import Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.entities import Definition


def may_be_written_elsewhere(context: Context, finding: Finding, names: Sequence[str]) -> bool:
    """Whether a line of the project has one of the names beside the word under which a call has its value."""
    return any(_is_beside(context, word, names) for word in _list_words(finding))


def _is_beside(context: Context, word: str, names: Sequence[str]) -> bool:
    known: dict[str, bool] = context.tracer.memory.setdefault("words beside wrong names", {})
    if word not in known:
        project = context.tracer.resolver.project
        near = re.compile(rb"\b%b\b.*\b(?:%b)\b" % (re.escape(word).encode(), "|".join(map(re.escape, names)).encode()))
        known[word] = any(near.search(project.data(file)) for file in project.mentioning(word))
    return known[word]


def find_written_elsewhere(context: Context, finding: Finding, left: Iterable[Uncovered]) -> Iterator[str]:
    """The names that nothing is seen to read, and that are written unseen under the word under which a call has its value."""
    words, read = {*_list_words(finding)}, list_words_of_read(finding)
    project = context.tracer.resolver.project
    for one in left if words or read else ():
        if one.place.name not in project.names:
            named = any(entry.path[-1:] and entry.path[-1] in read for entry in _find_entries(context, one))
            if named and is_spread_by_names(context.tracer):
                yield one.text
            continue
        module = project.module(one.place.name)
        for node in module.nodes.get(ast.Constant, ()) if module is not None else ():
            if module is not None and isinstance(node, ast.expr) and module.place(node) == one.place:
                holder, word = _find_reflected_write(context, module, node)
                reflected = holder is not None and word in words and _can_be_same(context, finding, module, holder)
                if reflected or is_stored_unseen(context.tracer, module, node, read, finding):
                    yield one.text


def _find_entries(context: Context, one: Uncovered) -> Iterator[Entry]:
    """The entry of a file of settings that a name is in."""
    for document in context.tracer.resolver.project.documents(one.text):
        if document.name == one.place.name:
            yield from (entry for entry in document.entries if document.place(entry) == one.place)


def _can_be_same(context: Context, finding: Finding, module: Module, holder: ast.expr) -> bool:
    """Whether the object that is written to can be the one that the call has its value from, as far as their classes say."""
    argument, use = finding.argument, finding.use
    theirs = find_classes(context.tracer, module, holder)
    if isinstance(argument, ast.Attribute) and isinstance(use.module, Module):
        ours = find_classes(context.tracer, use.module, argument.value)
    else:
        ours = {around for one in finding.possible if (around := _find_class_around(one)) is not None}
    return not theirs or bool(ours & theirs) or (not ours and not _is_class(context, module, holder))


def _find_class_around(source: Value) -> ast.AST | None:
    """The class in whose body, or in a method of which, a value starts."""
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.AST):
        return None
    return next((one for one in source.module.ancestors(source.node) if isinstance(one, ast.ClassDef)), None)


def _list_words(finding: Finding) -> Iterator[str]:
    """The words under which a call that stays as it is has its value: of the argument, and of what gives it one."""
    argument = finding.argument
    if not is_known_read(finding) or not isinstance(argument, ast.expr) or isinstance(argument, ast.Constant):
        return
    if isinstance(argument, ast.Name):
        yield argument.id
    yield from list_read_words(argument)
    for source in finding.possible:
        if isinstance(source.module, Module) and isinstance(source.node, ast.expr):
            if (word := _find_written_word(source.module, source.node)) is not None:
                yield word


def _find_written_word(module: Module, node: ast.expr) -> str | None:
    """The name, attribute or key that an expression is written under."""
    around = module.parents.get(node)
    if isinstance(around, ast.keyword):
        return around.arg
    if isinstance(around, ast.Dict) and node in around.values:
        return _read_text(around.keys[around.values.index(node)])
    if not isinstance(around, ast.Assign | ast.AnnAssign) or around.value is not node:
        return None
    target = around.targets[0] if isinstance(around, ast.Assign) else around.target
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else None


def _find_reflected_write(context: Context, module: Module, node: ast.expr) -> tuple[ast.expr | None, str | None]:
    """What an expression is written into under a word, where that is by way of an object's dictionary, its class or ``setattr``."""
    around = module.parents.get(node)
    if isinstance(around, ast.Assign) and around.value is node:
        target = around.targets[0]
        if isinstance(target, ast.Subscript):
            return _find_reflected(target.value), _read_text(target.slice)
        if isinstance(target, ast.Attribute) and (_is_reflection(target.value) or _is_class(context, module, target.value)):
            return target.value, target.attr
        return None, None
    word = _find_written_word(module, node)
    call = module.parents.get(around) if around is not None else None
    if isinstance(around, ast.Call) and last_name(around.func) in ("setattr", "__setattr__") and node in around.args[1:]:
        return around.args[0], _read_text(around.args[around.args.index(node) - 1])
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        return _find_reflected(call.func.value), word
    if isinstance(call, ast.AugAssign) and isinstance(call.op, ast.BitOr):
        return call.target, word  # ``os.environ |= {"BACKEND": "nccl"}``
    return None, None


def _find_reflected(table: ast.expr) -> ast.expr | None:
    """What has the entries of a table as its attributes, or its names: ``vars(x)``, ``x.__dict__``, ``globals()``."""
    if isinstance(table, ast.Attribute) and table.attr == "__dict__":
        return table.value
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id in ("vars", "globals"):
        return table.args[0] if table.args else table
    return None


def _is_class(context: Context, module: Module, node: ast.expr) -> bool:
    """Whether an expression is a class of the project itself: what is set there holds for objects that have nothing of their own."""
    found = context.tracer.resolver.resolve(module, node)
    return any(isinstance(one, Definition) and isinstance(one.node, ast.ClassDef) for one in found)


def _is_reflection(node: ast.expr) -> bool:
    """Whether an expression is the class of an object, or a module by its name: ``type(self)``, ``sys.modules["settings"]``."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
    return called or (isinstance(node, ast.Subscript) and last_name(node.value) == "modules")


def _read_text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
