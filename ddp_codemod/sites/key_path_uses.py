"""Uses of surfaces that a framework reads from configuration by a fixed path of keys, such as mmengine's ``env_cfg.dist_cfg``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Union

from msgspec import Struct

from ddp_codemod.catalog.model import Surface
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.sites.option_receivers import find_option_receivers
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.scopes import assignment_pairs, bindings
from ddp_codemod.sites.target_keys import TARGETS


class KeyedUse(Struct, frozen=True, eq=False):
    """A place where the keys of a surface lead: below ``call`` there is ``rest`` of them still to go."""

    module: Union[Module, Document, Script]
    call: Union[ast.expr, Entry, Option]
    surface: Surface
    rest: tuple[str, ...] = ()
    lacks_key: bool = False  # the mapping of ``call`` does not have the last of the keys


def find_key_path_uses(project: Project, surfaces: Iterable[Surface]) -> Iterator[KeyedUse]:
    """The places of the project's files that hold the keys of a surface, where the project uses the framework."""
    for surface in surfaces:
        keys = tuple(surface.key.split("."))
        if surface.shown_with and not project.mentioning(surface.shown_with):
            continue
        found = (
            [*_find_python_uses(project, surface, keys), *_find_uses_in_other_configs(project, surface, keys)]
            if surface.key
            else []
        )
        words = [surface.shown_with] if surface.shown_with else surface.shown_by
        if found and any(imports_package(module, surface.shown_by) for module in _parse_mentioning_files(project, words)):
            yield from found


def is_settings(module: Module) -> bool:
    """Whether a file does nothing but give names their values, as configuration files do."""
    return not any(module.nodes.get(kind) for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def imports_package(module: Module, packages: Iterable[str]) -> bool:
    """Whether a file imports from one of the packages."""
    packages = set(packages)
    for node in module.nodes.get(ast.Import, ()):
        assert isinstance(node, ast.Import)
        if any(alias.name.split(".")[0] in packages for alias in node.names):
            return True
    for node in module.nodes.get(ast.ImportFrom, ()):
        assert isinstance(node, ast.ImportFrom)
        if not node.level and (node.module or "").split(".")[0] in packages:
            return True
    return False


def _parse_mentioning_files(project: Project, words: Iterable[str]) -> Iterator[Module]:
    for name in dict.fromkeys(name for word in words for name in project.mentioning(word)):
        yield from project.programs(name)


def _find_python_uses(project: Project, surface: Surface, keys: tuple[str, ...]) -> Iterator[KeyedUse]:
    if len(keys) == 1:  # in a program a name by itself says too little
        yield from _find_key_values(project, surface) if surface.anywhere else ()
        return
    last = keys[-1].encode()
    for name in project.mentioning(keys[-2]):
        for module in project.programs(name) if last in project.data(name) else ():
            if is_settings(module):
                for binding in bindings(module, module.tree).get(keys[0], ()):
                    if binding.kind == "value" and binding.value is not None:
                        yield KeyedUse(module, binding.value, surface, keys[1:])
            for value in _find_stored_values(module, keys):
                yield KeyedUse(module, value, surface)
            for value in _find_nested_values(module, keys[0]) if imports_package(module, surface.shown_by) else ():
                yield KeyedUse(module, value, surface, keys[1:])


def _find_key_values(project: Project, surface: Surface) -> Iterator[KeyedUse]:
    """What programs give a key, in a dictionary or by an assignment to a subscript."""
    for name in project.mentioning(surface.key):
        for module in project.programs(name):
            values = [
                value
                for value in _find_nested_values(module, surface.key)
                if not isinstance(module.parents.get(value), ast.keyword)
            ]
            for statement in module.nodes.get(ast.Assign, ()):
                for target, value in assignment_pairs(statement):
                    if isinstance(target, ast.Subscript) and value is not None and _is_key(target.slice, surface.key):
                        values.append(value)
            yield from (KeyedUse(module, value, surface) for value in values)


def _find_stored_values(module: Module, keys: tuple[str, ...]) -> Iterator[ast.expr]:
    """What is assigned to ``cfg.env_cfg.dist_cfg.backend``, written with attributes or subscripts."""
    for kind in (ast.Assign, ast.AnnAssign):
        for statement in module.nodes.get(kind, ()):
            for target, value in assignment_pairs(statement):
                if value is not None and _ends_with(target, keys):
                    yield value


def _ends_with(node: ast.expr, keys: tuple[str, ...]) -> bool:
    for key in reversed(keys):
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return isinstance(node, ast.Name) and node.id == key == keys[0]
        name = (
            node.attr if isinstance(node, ast.Attribute) else node.slice.value if isinstance(node.slice, ast.Constant) else None
        )
        if name != key:
            return False
        node = node.value
    return True


def _is_key(node: ast.expr, key: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _find_nested_values(module: Module, key: str) -> Iterator[ast.expr]:
    """What is under a key inside a call or a dictionary: ``Runner(env_cfg=dict(...))``."""
    for keyword in module.nodes.get(ast.keyword, ()):
        assert isinstance(keyword, ast.keyword)
        if keyword.arg == key:
            yield keyword.value
    for mapping in module.nodes.get(ast.Dict, ()):
        assert isinstance(mapping, ast.Dict)
        for name, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                yield value


def _has_target(document: Document, entry: Entry) -> bool:
    """Whether a key beside an entry, or beside the mapping around it, names what is passed the value: that is a site of its own."""
    for target, arguments in TARGETS.items():
        around = entry.path[: len(entry.path) - 1 - len(arguments)]
        if entry.path[len(around) : -1] == arguments and document.at((*around, target), entry.document):
            return True
    return False


def _find_missing_keys(document: Document, surface: Surface, keys: tuple[str, ...]) -> Iterator[KeyedUse]:
    """The mappings that have other keys of the framework, and not this one."""
    beside = document.mapping(keys[:-1])
    for number in sorted({entry.document for entry in beside}):
        if not document.at(keys, number):
            here = [entry for entry in beside if entry.document == number]
            place = next((entry for entry in here if document.may_add_below(entry)), here[0])
            yield KeyedUse(document, place, surface, lacks_key=True)


def _find_uses_in_other_configs(project: Project, surface: Surface, keys: tuple[str, ...]) -> Iterator[KeyedUse]:
    """The same keys in configuration files of other kinds, and as overrides on command lines."""
    for document in project.documents(keys[-2:][0]):
        for entry in document.ending(surface.key) if surface.anywhere else document.at(keys):
            if entry.is_text and not (surface.anywhere and _has_target(document, entry)):
                yield KeyedUse(document, entry, surface)
        if any(parameter.omitted == "platform-default" for parameter in surface.parameters):
            yield from _find_missing_keys(document, surface, keys)
    for script in project.scripts(surface.key):
        for option in script.options:
            if option.name == surface.key and find_option_receivers(project, script, option):
                yield KeyedUse(script, option, surface)
