"""Which names the code of functions, classes and branches mentions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod.discover.files import read
from ddp_codemod.model import Source
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.sites.mentioned import FUNCTIONS, Part, parts_of

CODE = """
import a.b
@first
def f(x: kind = default) -> result:
    second
    @third
    def inner():
        fourth
    if test:
        fifth.sixth
    else:
        seventh
class C(base, metaclass=meta):
    field = eighth
    @ninth
    def method(self):
        tenth
"""


def all_names(part: Part) -> set[str]:
    inner = [*part.inside, *(branch for _, body, orelse in part.branches for branch in (body, orelse))]
    return part.names.union(*map(all_names, inner))


def written(node: ast.AST) -> set[str]:
    """The same by a walk of its own for each."""
    found: set[str] = set()
    todo = list(ast.iter_child_nodes(node))
    while todo:
        at = todo.pop()
        if isinstance(at, (ast.Name, ast.Attribute)):
            found.add(at.id if isinstance(at, ast.Name) else at.attr)
        if isinstance(at, FUNCTIONS):
            todo += at.decorator_list
        elif isinstance(at, ast.ClassDef):
            todo += [*at.decorator_list, *at.bases, *(part for part in at.body if not isinstance(part, FUNCTIONS))]
        else:
            todo += ast.iter_child_nodes(at)
    return found


def module(source: Source) -> Module:
    made = parse(source)
    assert isinstance(made, Module)
    return made


def test_each_part_has_its_own_names() -> None:
    made = module(Source(Path("a.py"), "a.py", CODE.encode(), CODE, "utf-8"))
    named = {getattr(node, "name", "module"): part for node, part in parts_of(made).items()}
    assert all_names(named["module"]) == {"first", "base", "field", "eighth"}
    assert named["f"].names == {"first", "kind", "default", "result", "second", "third", "test"}
    (branch,) = named["f"].branches
    assert [part.names for part in branch[1:]] == [{"fifth", "sixth"}, {"seventh"}]
    assert all_names(named["C"]) == {"base", "meta", "field", "eighth", "ninth"}


@pytest.mark.parametrize("name", ["run/pipeline.py", "sites/scopes.py", "cli/translate.py", "parse/shell_reader.py"])
def test_nothing_is_lost(name: str) -> None:
    root = Path(ddp_codemod.__file__).parent
    source = read(root / name, root)
    assert isinstance(source, Source)
    for node, part in parts_of(module(source)).items():
        assert all_names(part) == written(node)
