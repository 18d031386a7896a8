"""What an expression can be: ``ASK(expression)`` in small programs, with no surface around it.

Each case says the values (in any order, as Python writes them; ``name`` for what is no constant) and whether they are all that it can be.
"""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import CurrentBackend, PlatformDefault, Value, ValueSet
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver

RULES = load()
SUFFIXES = (".yaml", ".yml", ".json", ".toml", ".gin")


def evaluated(root: Path, files: dict[str, str], platform: str = "rocm", ahead: int | None = None) -> ValueSet:
    """What the argument of ``ASK`` can be; ``ahead``: asked after every other expression, in an order by this seed."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    paths = [root / name for name in files]
    programs, configs = ([path for path in paths if (path.suffix in SUFFIXES) is wanted] for wanted in (False, True))
    chosen = RULES.platforms[platform]
    resolver = Resolver(Project(root, programs, ["torch"], configs))
    facts = Facts(resolver, chosen.facts, {"nccl"}, RULES.backends)
    evaluator = Evaluator(resolver, facts, RULES, chosen)
    modules = [resolver.project.module(name) for name in files if name.endswith(".py")]
    every = [(one, node) for one in modules if one is not None for node in ast.walk(one.tree) if isinstance(node, _ASKED)]
    random.Random(ahead).shuffle(every)
    for one, node in every if ahead is not None else ():
        evaluator.evaluate(one, node)
    for name in files:
        module = resolver.project.module(name) if name.endswith(".py") else None
        calls = module.nodes[ast.Call] if isinstance(module, Module) else []
        for call in calls:
            assert isinstance(call, ast.Call)
            if getattr(call.func, "id", "") == "ASK":
                assert isinstance(module, Module)
                return evaluator.evaluate(module, call.args[0])
    raise AssertionError("nothing is asked")


def said(leaf: Value) -> str:
    if isinstance(leaf.value, Known):
        return repr(leaf.value.value)
    if isinstance(leaf.value, (PlatformDefault, CurrentBackend)):
        return type(leaf.value).__name__
    return " ".join(leaf.text.split())


def whole(leaf: Value) -> tuple[object, ...]:
    """All of a leaf that decisions are made by."""
    hops = tuple((hop.place, hop.reason) for hop in leaf.trace.steps)
    return said(leaf), leaf.place, leaf.kind, leaf.why, leaf.open, leaf.decided, leaf.trace.doubt, leaf.trace.doubted_at, hops


_ASKED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)  # expressions that lead on
A, B = "'nccl'", "'gloo'"
CLOSED = {
    "a constant": ("ASK('nccl')", [A]),
    "a name": ("x = 'nccl'\nASK(x)", [A]),
    "the last of two": ("x = 'gloo'\nx = 'nccl'\nASK(x)", [A]),
    "what a branch may set": ("x = 'gloo'\nif c():\n    x = 'nccl'\nASK(x)", [A, B]),
    "both branches": ("if c():\n    x = 'nccl'\nelse:\n    x = 'gloo'\nASK(x)", [A, B]),
    "a branch that the platform never takes": ("import os\nx = 'nccl'\nif os.name == 'nt':\n    x = 'gloo'\nASK(x)", [A]),
    "a ternary": ("ASK('nccl' if c() else 'gloo')", [A, B]),
    "a ternary that the platform decides": ("import os\nASK('gloo' if os.name == 'nt' else 'nccl')", [A]),
    "or of a text": ("ASK('nccl' or c())", [A]),
    "or of None": ("x = None\nASK(x or 'nccl')", [A]),
    "a method that gives back what it set": (
        "class S:\n    def __init__(self, b=None):\n        self.b = b\n    def get(self):\n        return self.b or self.own()\n"
        "    def own(self):\n        return 'nccl'\n    def set(self):\n        self.b = self.get()\n        ASK(self.b)",
        [A],
    ),
    "a mapping that holds what it gives itself": (
        "def get():\n    return d\nd = {'a': get()['b'], 'b': 'nccl'}\nASK(get()['a'])",
        [A],
    ),
    "an object that holds what it gives itself": (
        "class C: pass\ndef get():\n    return c\nc = C()\nc.b = 'nccl'\nc.a = get().b\nASK(get().a)",
        [A],
    ),
    "one function, other arguments": ("def f(x):\n    return x\ny = f('gloo')\nASK(f(f('nccl')))", [A]),
    "one function, made twice": (
        "def f(x):\n    def g():\n        return x\n    return g()\nASK(f('nccl') if c() else f('gloo'))",
        [A, B],
    ),
    "functions that end in one another": ("def f():\n    return g()\ndef g():\n    return f()\nASK(f() or 'nccl')", [A]),
    "a lambda of the scope": ("y = 'nccl'\nf = lambda: y\nASK(f())", [A]),
    "one of two lambdas": ("f = (lambda: 'nccl') if c() else (lambda: 'gloo')\nASK(f())", [A, B]),
    "a named expression": ("ASK(x := 'nccl')", [A]),
    "a tuple that is unpacked": ("x, y = 'nccl', 1\nASK(x)", [A]),
    "a swap": ("x, y = 'gloo', 'nccl'\nx, y = y, x\nASK(x)", [A]),
    "a starred target": ("x, *y = 'nccl', 'gloo', 'mpi'\nASK(x)", [A]),
    "an entry of a dictionary": ("d = {'a': 'nccl', 'b': 'gloo'}\nASK(d['a'])", [A]),
    "get with a default": ("d = {'a': 'nccl'}\nASK(d.get('a', 'gloo'))", [A, B]),
    "get of what is not there": ("d = {'a': 'nccl'}\nASK(d.get('b', 'gloo'))", [B]),
    "an entry that is set": ("d = {}\nd['a'] = 'nccl'\nASK(d['a'])", [A]),
    "an updated dictionary": ("d = {'a': 'gloo'}\nd.update(a='nccl')\nASK(d['a'])", [A]),
    "a union of two": ("d = {'a': 'gloo'} | {'a': 'nccl'}\nASK(d['a'])", [A]),
    "an unpacked one": ("e = {'a': 'nccl'}\nd = {**e, 'b': 1}\nASK(d['a'])", [A]),
    "dict of keywords": ("d = dict(a='nccl')\nASK(d['a'])", [A]),
    "one of them": ("import other\nd = {'a': 'nccl', 'b': 'gloo'}\nASK(d[other.k])", [A, B]),
    "one in another": ("d = {'a': {'b': 'nccl'}}\nASK(d['a']['b'])", [A]),
    "an item of a list": ("x = ['gloo', 'nccl']\nASK(x[1])", [A]),
    "the last item": ("x = ['gloo', 'nccl']\nASK(x[-1])", [A]),
    "an item before what is unpacked": ("import other\nx = ['nccl', *other.x]\nASK(x[0])", [A]),
    "an item behind what is unpacked": ("import other\nx = [*other.x, 'gloo', 'nccl']\nASK(x[-1])", [A]),
    "a loop over a tuple": ("for x in ('nccl', 'gloo'):\n    ASK(x)", [A, B]),
    "joined texts": ("x = 'nc'\nASK(x + 'cl')", [A]),
    "an f-string": ("x = 'nccl'\nASK(f'{x}')", [A]),
    "a text in small letters": ("ASK('NCCL'.lower())", ["'NCCL'"]),  # the same name to torch
    "str of a text": ("ASK(str('nccl'))", [A]),
    "a function's result": ("def f():\n    return 'nccl'\nASK(f())", [A]),
    "two results": ("def f():\n    if c():\n        return 'nccl'\n    return 'gloo'\nASK(f())", [A, B]),
    "a result on the platform": (
        "import os\ndef f():\n    if os.name == 'nt':\n        return 'gloo'\n    return 'nccl'\nASK(f())",
        [A],
    ),
    "a parameter and its call": ("def f(x):\n    ASK(x)\nf('nccl')", [A]),
    "a parameter and its calls": ("def f(x):\n    ASK(x)\nf('nccl')\nf(x='gloo')", [A, B]),
    "a default and a call": ("def f(x='gloo'):\n    ASK(x)\nf('nccl')", [A, B]),  # callers outside
    "a default that a call leaves": ("def f(x='nccl'):\n    ASK(x)\nf()", [A]),
    "a parameter of a parameter": ("def g(y):\n    ASK(y)\ndef f(x):\n    g(x)\nf('nccl')", [A]),
    "what is handed through": ("def f(x):\n    return x\nASK(f('nccl'))", [A]),
    "each call has its own": ("def f(x):\n    return x\nf('gloo')\nASK(f('nccl'))", [A]),
    "keywords that are unpacked": ("def f(x):\n    ASK(x)\nd = {'x': 'nccl'}\nf(**d)", [A]),
    "arguments that are unpacked": ("def f(x, y):\n    ASK(y)\nf(*(1, 'nccl'))", [A]),
    "a lambda's result": ("f = lambda: 'nccl'\nASK(f())", [A]),
    "partial": ("from functools import partial\ndef f(x):\n    ASK(x)\npartial(f, 'nccl')()", [A]),
    "an attribute of a class": ("class C:\n    x = 'nccl'\nASK(C.x)", [A]),
    "an attribute of an object": ("class C:\n    def __init__(self):\n        self.x = 'nccl'\nASK(C().x)", [A]),
    "self": ("class C:\n    def __init__(self):\n        self.x = 'nccl'\n    def f(self):\n        ASK(self.x)\nC().f()", [A]),
    "what is given to a constructor": ("class C:\n    def __init__(self, x):\n        self.x = x\nASK(C('nccl').x)", [A]),
    "an inherited attribute": ("class B:\n    x = 'nccl'\nclass C(B):\n    pass\nASK(C.x)", [A]),
    "one that is put in its place": ("class B:\n    x = 'gloo'\nclass C(B):\n    x = 'nccl'\nASK(C.x)", [A]),
    "a property": ("class C:\n    @property\n    def x(self):\n        return 'nccl'\nASK(C().x)", [A]),
    "a method's result": ("class C:\n    def f(self):\n        return 'nccl'\nASK(C().f())", [A]),
    "a dataclass": ("from dataclasses import dataclass\n@dataclass\nclass C:\n    x: str = 'nccl'\nASK(C().x)", [A]),
    "a dataclass that is given": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    x: str = 'gloo'\nASK(C(x='nccl').x)",
        [A, B],
    ),
    "replace": (
        "from dataclasses import dataclass, replace\n@dataclass\nclass C:\n    x: str = 'gloo'\nASK(replace(C(), x='nccl').x)",
        [A],
    ),
    "an enumeration": ("from enum import Enum\nclass E(str, Enum):\n    A = 'nccl'\nASK(E.A.value)", [A]),
    "a namespace": ("from types import SimpleNamespace\nn = SimpleNamespace(x='nccl')\nASK(n.x)", [A]),
    "getattr": ("class C:\n    x = 'nccl'\nASK(getattr(C, 'x'))", [A]),
    "setattr": ("class C:\n    pass\nc = C()\nsetattr(c, 'x', 'nccl')\nASK(c.x)", [A]),
    "a global that a function sets": ("x = 'gloo'\ndef f():\n    global x\n    x = 'nccl'\nf()\nASK(x)", [A, B]),
    "try": ("try:\n    import a\n    x = 'nccl'\nexcept ImportError:\n    x = 'gloo'\nASK(x)", [A, B]),
    "with": ("with c() as f:\n    x = 'nccl'\nASK(x)", [A]),
    "a loop that may not run": ("x = 'gloo'\nfor i in c():\n    x = 'nccl'\nASK(x)", [A, B]),
    "while": ("x = 'gloo'\nwhile c():\n    x = 'nccl'\nASK(x)", [A, B]),
    "match": ("match c():\n    case 1:\n        x = 'nccl'\n    case _:\n        x = 'gloo'\nASK(x)", [A, B]),
    "none is what a text or None can be": ("x = None if c() else 'nccl'\nASK(x)", [A, "None"]),
    "what a guard keeps out": ("x = None if c() else 'nccl'\nif x is None:\n    x = 'gloo'\nASK(x)", [A, B]),
    "an option": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', default='nccl')\na = p.parse_args()\nASK(a.x)",
        [A],
    ),
    "an option of a dash": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x-y', default='nccl')\nASK(p.parse_args().x_y)",
        [A],
    ),
    "vars of options": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', default='nccl')\nASK(vars(p.parse_args())['x'])",
        [A],
    ),
    "a variable of the environment": ("import os\nASK(os.environ.get('X', 'nccl'))", [A]),
    "what a library asks torch for": ("import torch.distributed as dist\nASK(dist.get_backend())", ["CurrentBackend"]),
}
OPEN = {
    "a call of what is not there": ("import other\nASK(other.f())", ["other.f()"]),
    "an item that is chosen at run time": ("import random\nASK(random.choice(['nccl', 'gloo']))", None),
    "a name from elsewhere": ("from other import x\nASK(x)", ["x"]),
    "what a text becomes": ("ASK('nccl-x'.split('-')[0])", None),
    "input": ("ASK(input())", ["input()"]),
    "one branch that is not known": ("import other\nASK('nccl' if c() else other.x)", [A, "other.x"]),
    "an unknown decorator": ("import other\n@other.wraps\ndef f(x):\n    ASK(x)\nf('nccl')", [A]),
    "a namesake among the options": (
        "import argparse\nfrom other import settings\np = argparse.ArgumentParser()\np.add_argument('--x', default='nccl')\nASK(settings().x)",
        None,
    ),
    "an entry of a dictionary that is not known": ("from other import d\nASK(d['a'])", ["d['a']"]),
    "an item that what is unpacked moves": ("import other\nx = [*other.x, 'gloo']\nASK(x[0])", None),
    "a lambda's parameter": ("f = lambda x: x\nASK(f('nccl'))", None),
    "a lambda or something else": ("import other\nf = other.f if c() else (lambda: 'nccl')\nASK(f())", None),
    "what stands behind the rest": ("x, *y, z = other()\nASK(z)", None),
    "eval": ("ASK(eval('x'))", ["eval('x')"]),
}
FILES = {
    "another file": ({"a.py": "from b import x\nASK(x)", "b.py": "x = 'nccl'\n"}, [A], True),
    "a function of another file": ({"a.py": "import b\nASK(b.f())", "b.py": "def f():\n    return 'nccl'\n"}, [A], True),
    "through a third": ({"a.py": "from b import x\nASK(x)", "b.py": "from c import x\n", "c.py": "x = 'nccl'\n"}, [A], True),
    "a star": ({"a.py": "from b import *\nASK(x)", "b.py": "x = 'nccl'\n"}, [A], True),
    "a call from another file": ({"a.py": "def f(x):\n    ASK(x)\n", "b.py": "from a import f\nf('nccl')\n"}, [A], True),
    "yaml": (
        {"a.py": "import yaml\nc = yaml.safe_load(open('c.yaml'))\nASK(c['x']['y'])", "c.yaml": "x:\n  y: nccl\n"},
        [A],
        True,
    ),
    "json": ({"a.py": "import json\nc = json.load(open('c.json'))\nASK(c['x'])", "c.json": '{"x": "nccl"}\n'}, [A], True),
    "OmegaConf": (
        {"a.py": "from omegaconf import OmegaConf\nc = OmegaConf.load('c.yaml')\nASK(c.x.y)", "c.yaml": "x:\n  y: nccl\n"},
        [A],
        True,
    ),
    "each file that may be opened": (
        {
            "a.py": "import sys\nimport yaml\nc = yaml.safe_load(open(sys.argv[1]))\nASK(c['x'])",
            "c.yaml": "x: nccl\n",
            "d.yaml": "x: gloo\n",
        },
        [A, B],
        True,
    ),
    "a key of nobody's file": ({"a.py": "from other import c\nASK(c.x)", "c.yaml": "x: nccl\n"}, None, False),
    "gin": (
        {
            "a.py": "import gin\n@gin.configurable\ndef f(x='gloo'):\n    ASK(x)\ngin.parse_config_file('c.gin')\nf()\n",
            "c.gin": "f.x = 'nccl'\n",
        },
        [A, B],
        True,
    ),
}


def check(found: ValueSet, values: list[str] | None, closed: bool) -> None:
    if values is not None:
        assert sorted(set(map(said, found))) == sorted(values)
    assert found.closed is closed
    assert (found.why is None) is closed


@pytest.mark.parametrize("name", CLOSED)
def test_all_that_it_can_be(tmp_path: Path, name: str) -> None:
    text, values = CLOSED[name]
    check(evaluated(tmp_path, {"a.py": text}), values, True)


@pytest.mark.parametrize("name", OPEN)
def test_it_may_be_something_else(tmp_path: Path, name: str) -> None:
    text, values = OPEN[name]
    check(evaluated(tmp_path, {"a.py": text}), values, False)


@pytest.mark.parametrize("name", FILES)
def test_values_of_other_files(tmp_path: Path, name: str) -> None:
    files, values, closed = FILES[name]
    check(evaluated(tmp_path, files), values, closed)


def test_what_leads_only_to_itself_is_nothing(tmp_path: Path) -> None:
    found = evaluated(tmp_path, {"a.py": "def f(x):\n    ASK(x)\n    f(x)\n"})
    assert [leaf for leaf in found if isinstance(leaf.value, Known)] == []


@pytest.mark.parametrize(("platform", "value"), [("rocm", A), ("windows", B)])
def test_the_platform_decides(tmp_path: Path, platform: str, value: str) -> None:
    text = "import sys\nx = 'gloo' if sys.platform == 'win32' else 'nccl'\nASK(x)"
    assert list(map(said, evaluated(tmp_path, {"a.py": text}, platform))) == [value]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", [*CLOSED, *OPEN, *FILES])
def test_an_answer_does_not_hang_on_what_was_asked_before(tmp_path: Path, name: str, seed: int) -> None:
    files = FILES[name][0] if name in FILES else {"a.py": {**CLOSED, **OPEN}[name][0]}  # type: ignore[dict-item]
    alone = [*map(whole, evaluated(tmp_path, files))]
    assert [*map(whole, evaluated(tmp_path, files, ahead=seed))] == alone


def test_what_is_asked_on_many_ways_is_followed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function is reached on two ways, so the last on two to the thirtieth, and all say the same."""
    asked, real = [0], Evaluator.step

    def counted(self: Evaluator, *given: Any) -> Any:
        asked[0] += 1
        return real(self, *given)

    monkeypatch.setattr(Evaluator, "step", counted)
    links = "".join(f"def f{i + 1}():\n    return f{i}() if c() else f{i}()\n" for i in range(30))
    found = evaluated(tmp_path, {"a.py": f"def f0():\n    return 'nccl'\n{links}ASK(f30())"})
    assert [*map(said, found)] == [A]
    assert asked[0] < 200
