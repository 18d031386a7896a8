"""An address that is omitted from the mapping which a call unpacks, and which holds the backend: it is passed beside that."""

from __future__ import annotations

import ast

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.values import Value
from ddp_codemod.model import Action
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, Finding, NewKey, NewKeyword, Splice


def add_url_to_mappings(backend: Finding | None, parameter: Parameter, url: str) -> list[Change] | None:
    """The address in every mapping that the backend comes from; None where one of them is not written out, or has an address."""
    if backend is None or backend.action is Action.REVIEW or backend.argument is not None or not backend.possible:
        return None
    changes = [_add_url(source, parameter.name, url) for source in backend.possible]
    return None if None in changes else [change for change in changes if change is not None]


def _add_url(source: Value, name: str, url: str) -> Change | None:
    if isinstance(source.module, Document):
        entry = source.node
        if not isinstance(entry, Entry) or not source.module.may_add_below(entry) or source.module.at((*entry.path[:-1], name)):
            return None
        return NewKey(source.module, entry, name, url)
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return None
    module, around = source.module, source.module.parents.get(source.node)
    if isinstance(around, ast.keyword):
        call = module.parents[around]
        result = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "dict"
        if isinstance(call, ast.Call) and result and all(keyword.arg not in (name, None) for keyword in call.keywords):
            return NewKeyword(module, call, name, f'"{url}"')
    elif isinstance(around, ast.Dict) and source.node in around.values:
        if all(isinstance(key, ast.Constant) and key.value != name for key in around.keys):
            return Splice(module, module.place(source.node).end, f', "{name}": "{url}"')
    return None
