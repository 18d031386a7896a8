"""Which names the code of functions, classes and branches mentions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod.discover.files import read
from ddp_codemod.model import Source
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.sites.mentions import FUNCTIONS, NOTHING, find_parts

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


def every_name(tree: ast.AST) -> set[str]:
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, (ast.Name, ast.Attribute))
    }


def test_each_part_has_its_own_names() -> None:
    made = module(Source(Path("a.py"), "a.py", CODE.encode(), CODE, "utf-8"))
    named = {getattr(node, "name", "module"): part for node, part in find_parts(made.tree, every_name(made.tree)).items()}
    assert named["module"].every == {"first", "base", "field", "eighth"}
    assert named["f"].names == {"first", "kind", "default", "result", "second", "third", "test"}
    (branch,) = named["f"].branches
    assert [part.names for part in branch[1:]] == [{"fifth", "sixth"}, {"seventh"}]
    assert named["C"].every == {"base", "meta", "field", "eighth", "ninth"}


def test_only_what_is_wanted_is_kept() -> None:
    made = module(Source(Path("a.py"), "a.py", CODE.encode(), CODE, "utf-8"))
    named = {getattr(node, "name", "module"): part for node, part in find_parts(made.tree, {"sixth", "meta"}).items()}
    assert named.keys() == {"f", "C"}  # the code around the class does not run what makes its type
    assert (named["f"].names, named["f"].every, named["C"].names) == (set(), {"sixth"}, {"meta"})
    ((_, body, orelse),) = named["f"].branches
    assert (body.names, orelse) == ({"sixth"}, NOTHING)
    assert find_parts(made.tree, ()) == {}


@pytest.mark.parametrize("name", ["run/pipeline.py", "sites/scopes.py", "cli/translate.py", "parse/shell_reader.py"])
def test_nothing_is_lost(name: str) -> None:
    root = Path(ddp_codemod.__file__).parent
    source = read(root / name, root)
    assert isinstance(source, Source)
    made = module(source)
    every = every_name(made.tree)
    for wanted in (every, {name for name in every if len(name) % 3 == 0}):
        parts = find_parts(made.tree, wanted)
        for node in (made.tree, *(node for kind in (*FUNCTIONS, ast.ClassDef) for node in made.nodes.get(kind, ()))):
            assert parts.get(node, NOTHING).every == written(node) & wanted


@pytest.mark.parametrize(
    ("decorator", "mentioned"),
    [
        ("app.post('/')", True),
        ("app.command()", True),
        ("table.REGISTRY.register()", True),
        ("torch.no_grad()", False),
        ("first", False),
    ],
)
def test_what_a_decorator_hands_to_an_object_of_the_file_is_mentioned(decorator: str, mentioned: bool) -> None:
    tree = ast.parse(f"import torch\napp = FastAPI()\n@{decorator}\ndef create():\n    pass\n")
    assert ("create" in find_parts(tree, {"create"}).get(tree, NOTHING).names) is mentioned
