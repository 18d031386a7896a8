"""Trees in smaller nodes: the same trees, with parents, in less memory."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddp_codemod.parse.nodes import Parents, list_children, remake_nodes

LEFT_OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
FILES = ["ast.py", "argparse.py", "asyncio/base_events.py", "dataclasses.py", "typing.py"]
FORMS = """
x = u"kept"
lambda a, /, b=1, *c, d: (yield)
{**a, 1: [b for b in c if b async for d in e], 2: {f, *g}}
def f(a: int = -1, *, b) -> "text":
    global x
    x.y[1:2, ::3] += f"{a!r:>{b}}" if not a else b and c or (z := 2)
    match a:
        case {"k": K(v=1), **rest} | [1, *_] if b: del a
class C(B, metaclass=M):
    try: pass
    except (E, F) as e: raise e from None
"""


TEXTS = [FORMS, *((Path(ast.__file__).parent / name).read_text("utf-8") for name in FILES)]


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes as they stand in the text, by the fields of each."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, LEFT_OUT):
            yield from in_order(child)


@pytest.mark.parametrize("text", TEXTS)
def test_the_tree_is_the_same(text: str) -> None:
    tree, plain = ast.parse(text), ast.parse(text)
    nodes = remake_nodes(tree)
    assert ast.dump(tree, include_attributes=True) == ast.dump(plain, include_attributes=True)
    assert ast.unparse(tree) == ast.unparse(plain)
    every = list(in_order(tree))
    assert {kind: len(found) for kind, found in nodes.items() if found} == {
        kind: sum(type(node) is kind for node in in_order(plain)) for kind in {type(node) for node in in_order(plain)}
    }
    for kind, found in nodes.items():
        wanted = [node for node in every if isinstance(node, kind)]
        assert set(found) == set(wanted) if kind in (ast.Name, ast.Constant) else found == wanted


@pytest.mark.parametrize("text", TEXTS)
def test_the_children_of_a_node_are_those_that_somebody_asks_for(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        assert list_children(node) == [child for child in ast.iter_child_nodes(node) if not isinstance(child, LEFT_OUT)]


@pytest.mark.parametrize("text", TEXTS)
def test_every_node_knows_what_stands_around_it(text: str) -> None:
    tree, other = ast.parse(text), ast.parse("x")
    remake_nodes(tree)
    remake_nodes(other)
    parents = Parents(tree)
    assert parents.get(tree) is None
    assert tree not in parents
    for node in in_order(tree):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, LEFT_OUT):
                assert parents[child] is node
                assert child in parents
                assert child not in Parents(other)


def test_a_node_that_is_made_later_can_be_given_a_parent() -> None:
    tree = ast.parse("x = 1")
    remake_nodes(tree)
    parents, made = Parents(tree), ast.Name("y", ast.Load())
    assert made not in parents
    parents[made] = tree.body[0]
    assert made in parents
    assert parents[made] is tree.body[0]


@pytest.mark.parametrize("text", TEXTS[1:])
def test_the_nodes_take_half_of_the_memory(text: str) -> None:
    tree, plain = ast.parse(text), ast.parse(text)
    remake_nodes(tree)
    assert size(tree) <= size(plain) / 2


def size(tree: ast.AST) -> int:
    """Bytes of the nodes of a tree and their dictionaries, and of parents: a dictionary where a node does not hold its own."""
    nodes = list(in_order(tree))
    held = sum(sys.getsizeof(node) + (sys.getsizeof(own) if (own := node.__dict__) else 0) for node in nodes)
    return held if hasattr(nodes[1], "parent") else held + sys.getsizeof(dict.fromkeys(nodes))
