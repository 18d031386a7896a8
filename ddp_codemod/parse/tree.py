"""What any kind of file is read into, and where its parts are."""

from __future__ import annotations

import ast
from typing import Union

from ddp_codemod.model import Place
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Launch, Option, Program, Script, Setting

Tree = Union[Module, Document, Script]
Node = Union[ast.AST, Entry, Option, Setting, Launch, Program]


def place_of(tree: Tree, node: Node) -> Place:
    """Where a node of a module, an entry of a document, a part of a script is."""
    if isinstance(tree, Document):
        assert isinstance(node, Entry)
        return tree.place(node)
    if isinstance(tree, Script):
        assert isinstance(node, (Option, Setting, Launch, Program))
        return tree.place(node)
    assert isinstance(node, ast.AST)
    return tree.place(node)


def text_of(tree: Tree, node: Node) -> str:
    """Its source text."""
    place = place_of(tree, node)
    return tree.source.text[place.start : place.end]
