"""Which things of the project an expression can be: ``ASK(expression)`` in small programs, with no surface around it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.points_to import find_points_to_set
from ddp_codemod.sites.entities import Definition, External, Instance, ModuleRef, Variable
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver

RULES = load()
CLASSES = "class A:\n    pass\n\n\nclass B:\n    pass\n\n\n"


def held(root: Path, text: str) -> set[str]:
    """What the argument of ``ASK`` can stand for, each as its kind and its name."""
    (root / "prog.py").write_text(text, "utf-8")
    chosen = RULES.platforms["rocm"]
    resolver = Resolver(Project(root, [root / "prog.py"], ["torch"], []))
    evaluator = Evaluator(resolver, Facts(resolver, chosen.facts, {"nccl"}, RULES.backends), RULES, chosen)
    module = resolver.project.module("prog.py")
    assert module is not None
    call = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ASK")
    found: set[str] = set()
    for entity in find_points_to_set(evaluator, module, call.args[0]):
        if isinstance(entity, (External, Variable)):
            found.add(f"{type(entity).__name__} {entity.name}")
        elif isinstance(entity, ModuleRef):
            found.add(f"ModuleRef {entity.module.name}")
        else:
            assert isinstance(entity, (Definition, Instance))
            found.add(f"{type(entity).__name__} {entity.node.name}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ASK(A)", {"Definition A"}),
        ("ASK(A())", {"Instance A"}),
        ("x = A()\nASK(x)", {"Instance A"}),
        ("import torch.nn as nn\nASK(nn.Linear)", {"External torch.nn.Linear"}),
        # what no name is bound to is followed
        ("def make():\n    return A()\n\n\nASK(make())", {"Instance A"}),
        ('TABLE = {"a": A(), "b": B()}\nASK(TABLE["a"])', {"Instance A"}),
        ("def run(given):\n    ASK(given)\n\n\nrun(A())\n", {"Instance A"}),
        ("def run(given):\n    ASK(given)\n\n\nrun(A())\nrun(B())\n", {"Instance A", "Instance B"}),
        ("def run(given):\n    ASK(given)\n\n\nrun(A)\n", {"Definition A"}),
        (
            "class C:\n    def __init__(self, held):\n        self.held = held\n\n    def go(self):\n        ASK(self.held)\n\n\nC(B())\n",
            {"Instance B"},
        ),
        ("class C:\n    def go(self):\n        ASK(self)\n", {"Instance C"}),
        # not all that comes here is known, so that nothing is said
        ("def run(given):\n    ASK(given)\n\n\nrun(A())\nrun(load())\n", set()),
        ("def run(given):\n    ASK(given)\n", set()),
        ('ASK("nccl")', set()),
        ("ASK(load())", set()),
        ("def run(given):\n    ASK(given)\n    run(given)\n", set()),
    ],
)
def test_an_expression_stands_for(tmp_path: Path, text: str, expected: set[str]) -> None:
    """Through names, and where they end through values."""
    assert held(tmp_path, CLASSES + text) == expected
