"""What the files of a project define and mention, told without keeping the trees of those that nothing else is asked about."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping

from msgspec import Struct

from ddp_codemod.parse.newer_nodes import plain_kind
from ddp_codemod.parse.python import Module, last_name, walk_statements
from ddp_codemod.sites.kept_files import kept_files
from ddp_codemod.sites.mentions import EVERY_NAME, FUNCTIONS, NOTHING, Part, find_parts
from ddp_codemod.sites.project import Project

MAIN = "__main__"
# rather some that are none: a text may hold the words, and in a notebook an n is before them; "@dataclass" lies before a class
# by the words: what begins with a text is found sooner
_DEFINED = [re.compile(word + rb"[\s\\]+(?=([^\s\\(\[:]+))") for word in (b"def", b"class")]


class Definition(Struct, frozen=True, eq=False):
    """A function or class: what it mentions, and what may run with it."""

    name: str
    part: Part
    module: Module | None = None  # where the tree is kept
    node: ast.AST | None = None
    bases: tuple[str, ...] = ()  # of a class: the last names
    methods: tuple[Definition, ...] = ()


class Outline(Struct, frozen=True, eq=False):
    """What a file mentions outside of functions, and what it defines at any depth."""

    module: Module | None
    part: Part
    definitions: tuple[Definition, ...]


def defined_in(data: bytes) -> Iterator[str]:
    """The names that a file's bytes seem to define."""
    for name in (found for pattern in _DEFINED for found in pattern.findall(data)):
        yield name.decode() if name.isascii() else unicodedata.normalize("NFKC", name.decode("utf-8", "replace"))


def outline_files(project: Project, name: str, wanted: Container[str], kept: bool, started: bool) -> Iterator[Outline]:
    """The outlines of a file and of the programs in it, of the names ``wanted`` at least.

    Where the tree is not ``kept``, no branch is left to decide: both sides count, but for that of a question for ``__main__``.
    """
    if not kept and not project.is_parsed(name) and (outline := _outline_alone(project, name, wanted, started)) is not None:
        yield outline
        return
    for module in project.programs(name):
        yield _outline_tree(module.tree, module, wanted, started)


def _outline_alone(project: Project, name: str, wanted: Container[str], started: bool) -> Outline | None:
    """The outline of a file whose tree is not kept; None where the file is no program that can be handled."""
    if (files := kept_files()) is None:
        tree = project.parse_once(name)
        return None if tree is None else _outline_tree(tree, None, wanted, started)
    key, data, about = ("outline", str(project.root), name), project.data(name), (started, project.deepest)
    found = files.find(key, data, about)
    if found is None and (tree := project.parse_once(name)) is not None:
        found = _outline_tree(tree, None, EVERY_NAME, started)
        files.keep(key, data, about, found)
    assert found is None or isinstance(found, Outline)
    return found


def _outline_tree(tree: ast.Module, module: Module | None, wanted: Container[str], started: bool) -> Outline:
    found = find_parts(tree, wanted) if module is None or not module.kept else _find_all_parts(module)
    parts = found if module is not None else {node: _merge_branches(part, started) for node, part in found.items()}
    own = module.nodes if module is not None else _find_definitions(tree)
    functions = {node: _outline_definition(node, module, parts) for kind in FUNCTIONS for node in own.get(kind, ())}
    classes = [_outline_definition(node, module, parts, functions) for node in own.get(ast.ClassDef, ())]
    return Outline(module, parts.get(tree, NOTHING), (*functions.values(), *classes))


def _find_all_parts(module: Module) -> dict[ast.AST, Part]:
    """The parts of a file that is kept, with all that they mention: the next survey may look for other names."""
    if "parts" not in module.own:
        module.own["parts"] = find_parts(module.tree, EVERY_NAME)
    return module.own["parts"]  # type: ignore[return-value]


def _outline_definition(
    node: ast.AST, module: Module | None, parts: Mapping[ast.AST, Part], functions: Mapping[ast.AST, Definition] | None = None
) -> Definition:
    assert isinstance(node, (*FUNCTIONS, ast.ClassDef))
    own = (node.name, parts.get(node, NOTHING), module, node if module is not None else None)
    if not isinstance(node, ast.ClassDef) or functions is None:
        return Definition(*own)
    return Definition(*own, tuple(map(last_name, node.bases)), tuple(functions[part] for part in node.body if part in functions))


def _find_definitions(tree: ast.Module) -> dict[type[ast.AST], list[ast.AST]]:
    """The functions and classes of a tree, by their kinds."""
    found: dict[type[ast.AST], list[ast.AST]] = {kind: [] for kind in (*FUNCTIONS, ast.ClassDef)}
    for node in walk_statements(tree):
        if (kind := plain_kind(type(node))) in found:
            found[kind].append(node)
    return found


def _merge_branches(part: Part, started: bool) -> Part:
    """A part without branches: all that the sides mention belongs to it, but what is only for a file that is started, or is not."""
    names = part.names.union(*(_names_of_branch(branch, started) for branch in part.branches))
    return Part(names, (), names)


def _names_of_branch(branch: tuple[ast.If | ast.IfExp, Part, Part], started: bool) -> frozenset[str]:
    node, body, orelse = branch
    if asks_for_main(node.test):
        return (body if started else orelse).every
    return _merge_branches(body, started).names | _merge_branches(orelse, started).names


def asks_for_main(test: ast.expr) -> bool:
    """Whether a condition asks if its file is the one that was started."""
    if isinstance(test, ast.BoolOp):
        return any(map(asks_for_main, test.values))
    if isinstance(test, ast.UnaryOp):
        return asks_for_main(test.operand)
    sides = (test.left, *test.comparators) if isinstance(test, ast.Compare) else ()
    return any(isinstance(side, ast.Constant) and side.value == MAIN for side in sides)
