"""Finds in a file where code goes by a device: its module in torch, attributes, modules made for it, and texts that name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.dataflow.annotations import is_type_of_something
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.impact.device_comparisons import find_compared_value, find_device_sources, is_from_text, is_library_guard
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.entities import Definition

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OF_TEXTS = frozenset(name for name in dir(str) if not name.startswith("_"))
SENTENCE = 4  # words of a text that names no device, but speaks of it


def find_names_below(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The names that are read and stand for something below ``pattern.below``, each whole: ``torch.cuda.amp.autocast``.

    Not those that are types of something alone: an annotation uses no device.
    """
    assert pattern.below is not None
    word = pattern.below.rpartition(".")[2]
    bound = _list_bound_names(module, pattern.below)
    for node in module.nodes.get(ast.Attribute, ()):
        above = module.parents.get(node)
        if not isinstance(node, ast.Attribute) or (isinstance(above, ast.Attribute) and above.value is node):
            continue
        chain, root = _split_dotted_name(node)
        if (word in chain or root in bound) and isinstance(node.ctx, ast.Load) and not is_type_of_something(module, node):
            if any(_is_below(name, pattern.below) for name in context.tracer.resolver.names(module, node)):
                yield node
    for name in module.nodes.get(ast.Name, ()) if bound else ():
        assert isinstance(name, ast.Name)
        read = isinstance(name.ctx, ast.Load) and not isinstance(module.parents.get(name), ast.Attribute)
        if name.id in bound and read and not is_type_of_something(module, name):
            if any(_is_below(one, pattern.below) for one in context.tracer.resolver.names(module, name)):
                yield name


def find_attributes(pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The attributes of these names that are read, of whatever object; what is called is a method."""
    for node in module.nodes.get(ast.Attribute, ()):
        assert isinstance(node, ast.Attribute)
        if node.attr in pattern.attributes and isinstance(node.ctx, ast.Load):
            above = module.parents.get(node)
            if not (isinstance(above, ast.Call) and above.func is node):
                yield node


def find_imports(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.stmt]:
    """The statements that import one of the modules, none of the project's own; what is under a condition knows why."""
    project = context.tracer.resolver.project
    folder = module.name.rpartition("/")[0] or "."
    for kind in (ast.Import, ast.ImportFrom):
        for node in module.nodes.get(kind, ()):
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            else:
                assert isinstance(node, ast.ImportFrom)
                found = [node.module or ""] if not node.level else []
            if any(
                _is_module_match(name, wanted) and project.file(name, folder) is None
                for name in found
                for wanted in pattern.names
            ):
                if not any(isinstance(at, ast.If) for at in module.ancestors(node)):
                    yield node


def find_texts(pattern: Pattern, module: Module) -> Iterator[ast.Constant]:
    """The strings that are one of the texts, whole."""
    for node in module.nodes.get(ast.Constant, ()):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in pattern.texts:
            yield node


def annotated(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The types that list ``pattern.device`` among nothing but ``texts``, and not the platform's own device; with that entry."""
    device = context.platform.device
    for node in module.nodes.get(ast.Subscript, ()):
        assert isinstance(node, ast.Subscript)
        if last_name(node.value) not in {name.rpartition(".")[2] for name in pattern.names}:
            continue
        listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        texts = {one.value: one for one in listed if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        if len(texts) == len(listed) and pattern.device in texts and texts.keys() <= {*pattern.texts}:
            resolved = context.tracer.resolver.names(module, node.value)
            if (device is None or device.type not in texts) and not set(pattern.names).isdisjoint(resolved):
                yield node, texts[pattern.device]


def find_device_arguments(context: Context, pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The texts that a call is passed, each the name of a device and nothing else; what only shows a text, or looks into one, is no such call."""
    named = re.compile(rf"(?:{'|'.join(map(re.escape, pattern.texts))})(?::\d*)?")
    quiet = {name.rpartition(".")[2] for idioms in context.rules.idioms for name in (*idioms.sayers, *idioms.shows)}
    getters = {name for idioms in context.rules.idioms for name in idioms.getters}
    for kind in (ast.Constant, ast.JoinedStr):
        for node in module.nodes.get(kind, ()):
            above = module.parents.get(node)
            call = module.parents.get(above) if isinstance(above, ast.keyword) else above
            if not isinstance(node, ast.expr) or not isinstance(call, ast.Call) or not named.fullmatch(find_literal_prefix(node)):
                continue
            called = last_name(call.func)
            of_text = isinstance(call.func, ast.Attribute) and called in _OF_TEXTS
            asked_for = called in getters and node in call.args[:1]  # the key of an entry, and no default of one
            if called in quiet or called in pattern.without or of_text or asked_for:
                continue
            if not any(isinstance(one, Definition) for one in context.tracer.resolver.resolve(module, call.func)):
                yield node  # what the project's own functions do with it is followed from where they do it


def find_device_comparisons(context: Context, pattern: Pattern, module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """The comparisons of a device, by the name of what is compared, with a text that starts with ``pattern.device``; and the text.

    ``argument_is`` says where what is compared comes from: a text of the program ("from-text"), or what torch tells ("told").
    """
    for test, text in _find_comparisons(pattern, module):
        if is_library_guard(context, module, test):
            continue
        other = find_compared_value(test, text)
        if other is not None and not _is_named_like(_strip_conversions(other), pattern):
            # it may still be a device's name, where one of those it starts from is called so
            if pattern.argument_is == "from-text" and any(
                isinstance(source.module, Module)
                and isinstance(source.node, ast.expr)
                and _is_called_like(source.module, source.node, pattern)
                for source in find_device_sources(context, module, other, pattern.device)
            ):
                yield test, text
        elif other is None or is_from_text(context, module, other) == (pattern.argument_is == "from-text"):
            yield test, text


def _find_comparisons(pattern: Pattern, module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    for compare in module.nodes.get(ast.Compare, ()):
        assert isinstance(compare, ast.Compare)
        sides = [compare.left, *compare.comparators]
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            if _has_prefix(side, pattern.device) and not isinstance(other, ast.Constant):
                yield compare, side
    for call in module.nodes.get(ast.Call, ()):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "startswith" and call.args:
            if _has_prefix(call.args[0], pattern.device):
                yield call, call.args[0]


def _strip_conversions(node: ast.expr) -> ast.expr:
    """What an expression writes out: ``device`` of ``str(device)``, ``device.type`` of ``device.type.lower()``."""
    if not isinstance(node, ast.Call):
        return node
    if isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1 else node


def _is_called_like(module: Module, text: ast.expr, pattern: Pattern) -> bool:
    """Whether a text goes to something with one of the words of the pattern in its name."""
    return any(not set(pattern.holders).isdisjoint((name or "").lower().split("_")) for name in _list_targets(module, text))


def _is_named_like(node: ast.expr, pattern: Pattern) -> bool:
    """Whether one of the words of a name is among the pattern's: ``device_str``."""
    name = (last_name(node) or "").lower()
    return name in pattern.holders or not set(pattern.holders).isdisjoint(name.split("_"))


def find_device_assignments(pattern: Pattern, module: Module) -> Iterator[ast.expr]:
    """The texts that name a device and go to something that is called so: a variable, an attribute, a field, an entry, a default."""
    wanted = {word.lower() for word in pattern.holders}
    for kind in (ast.Constant, ast.JoinedStr):
        for node in module.nodes.get(kind, ()):
            if isinstance(node, ast.expr) and find_literal_prefix(node).startswith(pattern.device):
                if any((name or "").lower().lstrip("_") in wanted for name in _list_targets(module, node)):
                    yield node


def _list_targets(module: Module, node: ast.expr) -> list[str | None]:
    """What a value is passed to, also as one of two that a condition chooses from."""
    below: ast.AST = node
    above = module.parents.get(node)
    while isinstance(above, ast.IfExp) and below is not above.test:
        below, above = above, module.parents.get(above)
    if isinstance(above, ast.Assign) and below is above.value:
        return [_name_target(target) for target in above.targets]
    if isinstance(above, ast.AnnAssign) and below is above.value:
        return [_name_target(above.target)]
    if isinstance(above, ast.Dict):
        keys = [key for key, value in zip(above.keys, above.values, strict=True) if value is below]
        return [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None for key in keys]
    if isinstance(above, ast.arguments):
        behind = [*above.posonlyargs, *above.args][-len(above.defaults) :] if above.defaults else []
        given = [*zip(behind, above.defaults, strict=True), *zip(above.kwonlyargs, above.kw_defaults, strict=True)]
        return [parameter.arg for parameter, default in given if default is below]
    return []


def _name_target(node: ast.expr) -> str | None:
    """The name of what is assigned to: a variable, an attribute, or a key that is written out."""
    if isinstance(node, ast.Subscript):
        key = node.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    return last_name(node)


def is_device_aware(module: Module, node: ast.AST, device: str, ported: Sequence[str] = ()) -> bool:
    """Whether the function that a node is in, or its statement outside of functions, names a device itself.

    ``ported``: lines that an earlier run wrote, which say nothing of what the code knows.
    """
    key = ("knows", device)
    if key not in module.cache:
        name = re.escape(device)
        wanted = re.compile(rf"{name}(?<![a-z]{name})(?![a-z])")  # "input" names no npu; what begins with a text is found sooner
        kinds = (ast.Name, ast.Attribute, ast.Constant) if wanted.search(module.source.text.lower()) else ()
        parts = (part for kind in kinds for part in module.nodes.get(kind, ()))
        naming = (part for part in parts if wanted.search(_read_name(part).lower()))
        own = (part for part in naming if not ported or _read_line(module, part) not in ported)
        module.cache[key] = frozenset(_find_outermost(module, part) for part in own)
    there: frozenset[ast.AST] = module.cache[key]  # type: ignore[assignment]
    return bool(there) and _find_outermost(module, node) in there


def is_variable_named_too(module: Module, text: ast.AST, visible: Mapping[str, str]) -> bool:
    """Whether the function around a variable's name, or its statement outside of functions, names the device's own beside it."""
    own = visible.get(text.value) if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
    if own is None or own not in module.source.text:
        return False
    same = (part for part in module.nodes.get(ast.Constant, ()) if isinstance(part, ast.Constant) and part.value == own)
    return any(_find_outermost(module, part) is _find_outermost(module, text) for part in same)


def _read_line(module: Module, node: ast.AST) -> str:
    start, end = module.source.line_span(module.place(node).start)
    return module.source.text[start:end].strip()


def _read_name(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and len(node.value.split()) < SENTENCE else ""
    return last_name(node) or ""


def _find_outermost(module: Module, node: ast.AST) -> ast.AST:
    """The outermost function around a node; its top-level statement where there is none."""
    found, last = None, node
    for around in module.ancestors(node):
        if isinstance(around, ast.Module):
            break
        last = around
        if isinstance(around, FUNCTIONS):
            found = around
    return found or last


def _split_dotted_name(node: ast.Attribute) -> tuple[set[str], str]:
    """The attributes of a dotted name, and the name that it starts with."""
    found: set[str] = set()
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        found.add(at.attr)
        at = at.value
    return found, at.id if isinstance(at, ast.Name) else ""


def _is_below(name: str, top: str) -> bool:
    return name == top or name.startswith(f"{top}.")


def _is_module_match(name: str, wanted: str) -> bool:
    """Whether a module is one that a pattern names, or below it; ``*`` stands for a part of the first name."""
    return fnmatchcase(name.partition(".")[0], wanted) if "*" in wanted else _is_below(name, wanted)


def _list_bound_names(module: Module, top: str) -> set[str]:
    """The names that imports of a file give to a module, or to what is below it."""
    key = ("bound", top)
    if key not in module.cache:
        found: set[str] = set()
        for node in module.nodes.get(ast.ImportFrom, ()):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found |= {alias.asname or alias.name for alias in node.names if _is_below(f"{node.module}.{alias.name}", top)}
        for statement in module.nodes.get(ast.Import, ()):
            if isinstance(statement, ast.Import):
                found |= {alias.asname for alias in statement.names if alias.asname and _is_below(alias.name, top)}
        module.cache[key] = found
    return module.cache[key]  # type: ignore[return-value]


def _has_prefix(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(text)
