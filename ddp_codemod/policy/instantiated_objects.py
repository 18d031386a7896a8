"""Whether an object in a file of settings surely takes the place of the text: what reads the files makes it, and nothing asks for the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.catalog.objects import Objects
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.config_uses import ConfiguredUse
from ddp_codemod.sites.key_path_uses import KeyedUse

_MAKER = "instantiate"
_RECURSIVE = "_recursive_"  # with it, Hydra makes no objects of what is inside
_HOLDERS = frozenset({"trainer", "_trainer"})  # ``self.trainer.strategy`` is the framework's object, not the settings' text
_MAKES_INSIDE = {"hydra": ">=1.1"}


def is_always_instantiated(context: Context, use: ConfiguredUse | KeyedUse, entry: Entry, objects: Objects) -> bool:
    """Whether every reader of an entry makes the object that would take the place of its text.

    For Hydra, a program that is composed from the file's folder makes objects of what it reads; the framework's own command line
    always does. No program asks settings for the text, no file builds on it, and no other gives an object in its place.
    """
    project, key = context.tracer.resolver.project, entry.path[-1]
    assert isinstance(use.module, Document)
    if isinstance(use, ConfiguredUse):
        if not context.tracer.composed.of(use.module) or project.mentioning(_RECURSIVE) or not _makes_objects(context, use):
            return False
        if context.versions.holds(_MAKES_INSIDE, use.module.name, asks=False) is False:
            return False
    if any(_asks_for_text(module, node) for module, node in _find_mentions(context, key)):
        return False
    return not any(_is_overriding(document, key, objects) for document in project.documents(key))


def _makes_objects(context: Context, use: ConfiguredUse) -> bool:
    """Whether programs leave it to Hydra to make the objects, and none unpacks a part of the settings into the call by itself."""
    project, names = context.tracer.resolver.project, {name.rpartition(".")[2] for name in use.surface.names}
    by_hand = (module for name in project.naming(names) for module in project.programs(name) if _unpacks(module, names))
    return any(b"hydra" in project.data(name) for name in project.mentioning(_MAKER)) and next(by_hand, None) is None


def _unpacks(module: Module, names: set[str]) -> bool:
    calls = (call for name in names for call in index_calls(module).get(name, ()))
    return any(keyword.arg is None for call in calls for keyword in call.keywords)


def _find_mentions(context: Context, key: str) -> Iterator[tuple[Module, ast.AST]]:
    """Where programs name the key: as an attribute, or in a text."""
    project = context.tracer.resolver.project
    for name in project.mentioning(key):
        for module in project.programs(name):
            for attribute in module.nodes.get(ast.Attribute, ()):
                if isinstance(attribute, ast.Attribute) and attribute.attr == key:
                    yield module, attribute
            for text in module.nodes.get(ast.Constant, ()):
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value.rpartition(".")[2] == key:
                    yield module, text


def _asks_for_text(module: Module, node: ast.AST) -> bool:
    """Whether a place may read what settings hold under the key; one that stores another value there does not."""
    if not isinstance(node, ast.Attribute):
        return True
    if isinstance(node.ctx, ast.Store):
        return False
    compared = isinstance(module.parents.get(node), ast.Compare)
    return compared or last_name(node.value) not in _HOLDERS or _is_of_settings(node.value)


def _is_of_settings(node: ast.expr) -> bool:
    """Whether ``x.trainer`` is read from settings: whatever is no object of the framework's."""
    return isinstance(node, ast.Attribute) and last_name(node.value) not in {"self", "cls", "pl_module", "module", "model"}


def _is_overriding(document: Document, key: str, objects: Objects) -> bool:
    """Whether a file reads the entry for something else, gives an object of its own in its place, or keeps inner objects from being made."""
    if _RECURSIVE in document.source.text or f".{key}}}" in document.source.text:
        return True
    return any(len(one.path) > 1 and one.path[-2:] == (key, objects.target) for one in document.entries)
