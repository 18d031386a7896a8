"""Names lead to what they stand for: through imports of every kind, and never into somebody else's."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ddp_codemod.discover.listing import is_under
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, External, Instance, ModuleRef, Variable
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver


def project(root: Path, **files: str) -> Resolver:
    """A project of files: keys are paths with ``__`` for ``/`` and without ``.py``; ``LOOK(...)`` marks what is asked about."""
    for key, text in files.items():
        path = root / (key.replace("__", "/").replace("/init", "/__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Resolver(Project(root, sorted(root.rglob("*.py")), ["torch", "lightning"]))


def shown(resolver: Resolver, name: str) -> list[str]:
    """What the argument of LOOK in a file stands for, in words."""
    module = resolver.project.module(name)
    assert isinstance(module, Module)
    call = next(node for node in module.nodes[ast.Call] if getattr(node.func, "id", "") == "LOOK")  # type: ignore[attr-defined]
    words = []
    for entity in resolver.resolve(module, call.args[0]):  # type: ignore[attr-defined]
        if isinstance(entity, External):
            words.append(entity.name)
        elif isinstance(entity, Definition):
            words.append(f"{entity.module.name}:{entity.node.name}")
        elif isinstance(entity, Instance):
            words.append(f"{entity.module.name}:{entity.node.name}()")
        elif isinstance(entity, ModuleRef):
            words.append(entity.module.name)
        elif isinstance(entity, Variable):
            words.append(f"{entity.module.name}:{entity.name}=")
    return words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import torch.distributed as dist\nLOOK(dist.init)", ["torch.distributed.init"]),
        ("import torch.distributed\nLOOK(torch.distributed.init)", ["torch.distributed.init"]),
        ("import torch\nLOOK(torch.distributed.init)", ["torch.distributed.init"]),
        ("from torch import distributed\nLOOK(distributed.init)", ["torch.distributed.init"]),
        ("from torch.distributed import init as go\nLOOK(go)", ["torch.distributed.init"]),
        ("from torch.distributed import *\nLOOK(init)", ["torch.distributed.init"]),
        ("import torch.distributed as dist\ngo = dist.init\nLOOK(go)", ["torch.distributed.init"]),
        ("def f():\n    import torch.distributed as d\n    LOOK(d.init)", ["torch.distributed.init"]),
        ("try:\n    import torch.distributed as d\nexcept ImportError:\n    d = None\nLOOK(d.init)", ["torch.distributed.init"]),
        ("import os.path as p\nLOOK(p.join)", ["os.path.join"]),
        ("LOOK(init)", []),
        ("def init(): pass\nLOOK(init)", ["a.py:init"]),
        ("class C:\n    def m(self):\n        LOOK(self)", ["a.py:C()"]),
        ("class C:\n    def m(self):\n        LOOK(self.m)", ["a.py:m"]),
        ("class C:\n    @classmethod\n    def m(cls):\n        LOOK(cls)", ["a.py:C"]),
        ("class C:\n    @staticmethod\n    def m(x):\n        LOOK(x)", []),
        ("class C: pass\nLOOK(C())", ["a.py:C()"]),
        ("class C: pass\nc = C()\nLOOK(c)", ["a.py:C()"]),
        ("class C: pass\ndef f(c: C):\n    LOOK(c)", ["a.py:C()"]),
        ("class B:\n    def m(self): pass\nclass C(B): pass\nLOOK(C().m)", ["a.py:m"]),
        ("class B:\n    def m(self): pass\nclass C(B):\n    def n(self):\n        LOOK(super().m)", ["a.py:m"]),
        ("from torch.distributed import Store\nclass C(Store): pass\nLOOK(C().get)", ["torch.distributed.Store.get"]),
        ("class C:\n    class D: pass\nLOOK(C.D)", ["a.py:D"]),
        ("class C:\n    class D: pass\nLOOK(C.D())", ["a.py:D()"]),
        ("class B:\n    class D: pass\nclass C(B): pass\nLOOK(C.D)", ["a.py:D"]),
        ("from torch import Base\nclass C(Base):\n    class D: pass\nLOOK(C.D)", ["a.py:D"]),
        ("from torch import Base\nclass C(Base):\n    class D: pass\nLOOK(C.E)", ["torch.Base.E"]),
        ("x = 1\nLOOK(x)", ["a.py:x="]),
        ("def f(init):\n    LOOK(init)", []),
        ("from torch.distributed import init\ndef f(init):\n    LOOK(init)", []),
        (
            "from torch.distributed import init\nclass C:\n    init = 1\n    def m(self):\n        LOOK(init)",
            ["torch.distributed.init"],
        ),
        ("[LOOK(init) for init in [1]]\nfrom torch.distributed import init", []),
        ('import torch.distributed as d\nLOOK(getattr(d, "init"))', ["torch.distributed.init"]),
        ('import torch.distributed as d\nN = "init"\nLOOK(getattr(d, N))', ["torch.distributed.init"]),
        ('import torch.distributed as d\nN = "init"\nN = "other"\nLOOK(getattr(d, N))', []),
        ('import torch.distributed as d\nN = "init"\nLOOK(getattr(d, N))\nN = "other"', []),
        ('import importlib\nLOOK(importlib.import_module("torch.distributed").init)', ["torch.distributed.init"]),
        ('import importlib\nLOOK(importlib.import_module(".distributed", "torch"))', []),
        ('LOOK(__import__("torch.distributed"))', ["torch"]),
        ('LOOK(__import__("torch.distributed", fromlist=["x"]))', ["torch.distributed"]),
        ('LOOK(__import__("torch.distributed", fromlist=names))', []),
        ('import sys\nLOOK(sys.modules["torch.distributed"].init)', ["torch.distributed.init"]),
        ('from sys import modules as m\nLOOK(m["torch.distributed"])', []),
        ('import sys\nLOOK(sys.modules.get("torch.distributed"))', ["torch.distributed"]),
        ('modules = {}\nLOOK(modules["torch.distributed"])', []),
        ('import torch\nfrom operator import attrgetter\nLOOK(attrgetter("a.b")(torch))', ["torch.a.b"]),
        ('import torch\nfrom operator import attrgetter\ng = attrgetter("a.b")\nLOOK(g(torch))', ["torch.a.b"]),
        ('import torch\nattrgetter = print\nLOOK(attrgetter("a.b")(torch))', []),
        ('import torch\nLOOK(vars(torch)["a"])', ["torch.a"]),
        ('import torch\nLOOK(torch.__dict__["a"])', ["torch.a"]),
        ("a = b\nb = a\nLOOK(a)", None),
        ("class C(C): pass\nLOOK(C.x)", None),
        ("x = x.y\nLOOK(x)", None),
    ],
)
def test_inside_one_file(tmp_path: Path, text: str, wanted: list[str] | None) -> None:
    got = shown(project(tmp_path, a=text), "a.py")
    assert wanted is None or got == wanted  # None: it has to end, whatever it says


SETTINGS = "X = 1\ndef f(): pass\nclass C: pass\n"


@pytest.mark.parametrize(
    ("importer", "text", "wanted"),
    [
        ("main", "from settings import X\nLOOK(X)", ["settings.py:X="]),
        ("main", "from settings import f as g\nLOOK(g)", ["settings.py:f"]),
        ("main", "import settings\nLOOK(settings.C)", ["settings.py:C"]),
        ("main", "import settings as s\nLOOK(s)", ["settings.py"]),
        ("main", "from settings import *\nLOOK(f)", ["settings.py:f"]),
        ("main", "from pkg import f\nLOOK(f)", ["pkg/inner.py:f"]),
        ("main", "import pkg.inner as i\nLOOK(i.f)", ["pkg/inner.py:f"]),
        ("main", "import pkg.inner\nLOOK(pkg.inner.f)", ["pkg/inner.py:f"]),
        ("main", "from pkg import inner\nLOOK(inner.f)", ["pkg/inner.py:f"]),
        ("main", "from pkg.inner import missing\nLOOK(missing)", []),
        ("main", "from nowhere import f\nLOOK(f)", ["nowhere.f"]),
        ("pkg__other", "from .inner import f\nLOOK(f)", ["pkg/inner.py:f"]),
        ("pkg__other", "from . import inner\nLOOK(inner.f)", ["pkg/inner.py:f"]),
        ("pkg__other", "from . import f\nLOOK(f)", ["pkg/inner.py:f"]),
        ("pkg__sub__deep", "from ..inner import f\nLOOK(f)", ["pkg/inner.py:f"]),
        ("pkg__sub__deep", "from .. import inner as i\nLOOK(i.f)", ["pkg/inner.py:f"]),
        ("pkg__sub__deep", "from ...settings import f\nLOOK(f)", ["settings.py:f"]),
        ("pkg__sub__deep", "from pkg.inner import f\nLOOK(f)", ["pkg/inner.py:f"]),
        ("pkg__sub__deep", "from settings import f\nLOOK(f)", ["settings.py:f"]),
        ("scripts__run", "from helper import f\nLOOK(f)", ["scripts/helper.py:f"]),
        ("scripts__run", "from settings import f\nLOOK(f)", ["settings.py:f"]),
        ("main", "from helper import f\nLOOK(f)", ["helper.f"]),
        ("main", "from lib.tool import f\nLOOK(f)", ["src/lib/tool.py:f"]),
        ("main", "from .nowhere import f\nLOOK(f)", []),
    ],
)
def test_across_files(tmp_path: Path, importer: str, text: str, wanted: list[str]) -> None:
    files = {
        "settings": SETTINGS, "pkg__init": "from .inner import f\n", "pkg__inner": SETTINGS, "pkg__sub__init": "",
        "scripts__helper": SETTINGS, "src__lib__init": "", "src__lib__tool": SETTINGS,
    }  # fmt: skip
    resolver = project(tmp_path, **{**files, importer: text})
    assert shown(resolver, importer.replace("__", "/") + ".py") == wanted


def test_a_package_of_the_project_that_is_named_like_a_framework(tmp_path: Path) -> None:
    files = {"nemo__init": "", "nemo__lightning__init": "def f(): pass\n", "nemo__run": "import lightning\nLOOK(lightning.f)"}
    assert shown(project(tmp_path, **files), "nemo/run.py") == ["lightning.f"]
    (tmp_path / "two").mkdir()
    own = {"torch__init": "", "torch__distributed": "def init(): pass\n", "run": "import torch.distributed as d\nLOOK(d.init)"}
    assert shown(project(tmp_path / "two", **own), "run.py") == ["torch/distributed.py:init"]


def test_circular_imports_and_reexports_end(tmp_path: Path) -> None:
    resolver = project(
        tmp_path,
        a="from b import f, g\nLOOK(f)",
        b="from a import f\nfrom c import *\n",
        c="from b import *\ndef g(): pass\n",
        d="from b import g\nLOOK(g)",
    )
    assert shown(resolver, "a.py") == []
    assert shown(resolver, "d.py") == ["c.py:g"]


def test_files_that_cannot_be_read_are_told_and_not_followed(tmp_path: Path) -> None:
    resolver = project(tmp_path, broken="def f(:\n", a="from broken import f\nLOOK(f)")
    assert shown(resolver, "a.py") in ([], ["broken.f"])
    assert list(resolver.project.skipped) == ["broken.py"]


@pytest.mark.parametrize(
    ("name", "folder", "wanted"),
    [
        ("a/b.py", "", True), ("a/b.py", ".", True), ("a/b.py", "a", True), ("a/b.py", "a/b.py", True), ("a/b.py", "a/b", False),
        ("ab/c.py", "a", False), ("a.py", "a", False),
    ],
)  # fmt: skip
def test_what_lies_under_a_folder(name: str, folder: str, wanted: bool) -> None:
    assert is_under(name, folder) is wanted


def test_names_that_mention_themselves_cost_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = f\nif c:\n    x = x\nelse:\n    x = x.g\nLOOK(x)\n"
    resolver = project(tmp_path, a=text)
    calls = 0
    plain = Resolver.variable

    def counted(self: Resolver, variable: Variable, depth: int = 0) -> list[object]:
        nonlocal calls
        calls += 1
        return plain(self, variable, depth)  # type: ignore[return-value]

    monkeypatch.setattr(Resolver, "variable", counted)
    shown(resolver, "a.py")
    assert calls < 500
