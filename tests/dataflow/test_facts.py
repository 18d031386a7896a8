"""Code that a platform never runs is told from code that it may run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ddp_codemod.catalog.model import Fact
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.resolver import Resolver

FACTS = {
    "os.name": "posix",
    "sys.platform": "linux",
    "platform.system()": "Linux",
    "torch.cuda.is_available()": True,
    "torch.cuda.device_count()": Fact(truthy=True),
    "torch.version.cuda": Fact(none=True),
    "torch.npu.is_available()": False,
}
HEAD = "import os\nimport platform\nimport sys\n\nimport torch\n"


def reads(root: Path, text: str) -> tuple[Facts, Module]:
    (root / "a.py").write_text(HEAD + text, "utf-8")
    resolver = Resolver(Project(root, [root / "a.py"], ["torch"]))
    module = resolver.project.module("a.py")
    assert isinstance(module, Module)
    return Facts(resolver, FACTS, {"nccl", "gloo"}), module


def never(root: Path, text: str) -> bool:
    """Whether ``LOOK()`` is known not to run."""
    facts, module = reads(root, text)
    call = next(node for node in module.nodes[ast.Call] if getattr(node.func, "id", "") == "LOOK")  # type: ignore[attr-defined]
    return facts.unreachable(module, call) is not None


@pytest.mark.parametrize(
    "text",
    [
        "if os.name == 'nt':\n    LOOK()",
        "if os.name == 'posix':\n    pass\nelse:\n    LOOK()",
        "if os.name == 'posix':\n    pass\nelif c:\n    LOOK()",
        "if c:\n    if sys.platform == 'win32':\n        LOOK()",
        "x = LOOK() if os.name == 'nt' else 1",
        "x = 1 if torch.cuda.is_available() else LOOK()",
        "os.name == 'nt' and LOOK()",
        "os.name == 'posix' or LOOK()",
        "c and os.name == 'nt' and LOOK()",
        "while torch.npu.is_available():\n    LOOK()",
        "def f():\n    if os.name == 'posix':\n        return\n    LOOK()",
        "def f():\n    if os.name == 'posix':\n        raise E\n    for x in y:\n        LOOK()",
        "def f():\n    assert os.name == 'nt'\n    LOOK()",
        "for x in y:\n    if platform.system() == 'Linux':\n        continue\n    LOOK()",
        "def f():\n    if c:\n        if os.name == 'posix':\n            return\n        LOOK()",
        "def f():\n    if os.name == 'nt':\n        return\n    else:\n        return\n    LOOK()",
        "NT = os.name == 'nt'\nif NT:\n    LOOK()",
        "def nt():\n    return os.name == 'nt'\nif nt():\n    LOOK()",
        "if not torch.cuda.device_count():\n    LOOK()",
        "if torch.version.cuda:\n    LOOK()",
        "if torch.version.cuda is not None:\n    LOOK()",
        "if False:\n    LOOK()",
        "if 0:\n    LOOK()",
        "def f():\n    try:\n        if os.name == 'posix':\n            return\n        LOOK()\n    finally:\n        pass",
        "with c:\n    if os.name == 'nt':\n        LOOK()",
    ],
)
def test_never_runs(tmp_path: Path, text: str) -> None:
    assert never(tmp_path, text + "\n")


@pytest.mark.parametrize(
    "text",
    [
        "LOOK()",
        "if os.name == 'posix':\n    LOOK()",
        "if os.name == 'nt':\n    pass\nLOOK()",
        "if c:\n    LOOK()",
        "if LOOK() or os.name == 'nt':\n    pass",
        "if os.name == 'posix' and LOOK():\n    pass",
        "c or LOOK()",
        "while c:\n    LOOK()",
        "while False:\n    pass\nelse:\n    LOOK()",
        "def f():\n    if os.name == 'nt':\n        return\n    LOOK()",
        "def f():\n    if c:\n        return\n    LOOK()",
        "for x in y:\n    if os.name == 'posix':\n        continue\nLOOK()",
        "for x in y:\n    if os.name == 'posix':\n        break\nelse:\n    pass\nLOOK()",
        "def f():\n    def g():\n        return\n    LOOK()",
        "def f():\n    try:\n        if os.name == 'posix':\n            return\n    finally:\n        LOOK()",
        "def f():\n    try:\n        if os.name == 'posix':\n            raise E\n    except E:\n        LOOK()",
        "def f():\n    try:\n        assert os.name == 'nt'\n    except AssertionError:\n        pass\n    LOOK()",
        "def f():\n    with suppress(E):\n        if os.name == 'posix':\n            raise E\n    LOOK()",
        "name = os.name\nname = c\nif name == 'nt':\n    LOOK()",
        "def f(name=os.name):\n    if name == 'nt':\n        LOOK()",
        "backend = 'gloo'\nif backend == 'nccl':\n    LOOK()",
        "class os:\n    name = 'posix'\nif os.name == 'nt':\n    LOOK()",
        "def f(os):\n    if os.name == 'nt':\n        LOOK()",
        "if torch.cuda.device_count() > 8:\n    LOOK()",
        "if sys.version_info < (3, 8):\n    LOOK()",
        "if __name__ == '__main__':\n    LOOK()",
        "flag = False\ndef f():\n    global flag\n    flag = True\nf()\nif flag:\n    LOOK()",
        "try:\n    flag = True\n    import x\nexcept ImportError:\n    flag = False\nif flag:\n    LOOK()",
        "flag = False\nfor x in y:\n    if flag:\n        LOOK()\n    flag = True",
        "def f():\n    if os.name == 'posix':\n        return LOOK()",
    ],
)
def test_may_run(tmp_path: Path, text: str) -> None:
    assert not never(tmp_path, text + "\n")


def test_open_words_decide_nothing(tmp_path: Path) -> None:
    facts, module = reads(tmp_path, "backend = 'nccl'\nflag = 'fast'\nbackend == 'nccl'\nflag == 'fast'\n")
    first, second = (node.value for node in module.nodes[ast.Expr] if isinstance(node, ast.Expr))
    assert facts.truth(module, first) is None
    assert facts.truth(module, second) is True


def test_what_depends_on_itself_is_unknown(tmp_path: Path) -> None:
    facts, module = reads(tmp_path, "a = b\nb = a\ndef f():\n    return f()\na\nf()\n")
    for node in module.nodes[ast.Expr]:
        assert facts.truth(module, node.value) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("other", "runs"),
    [
        ("size = -1\n\n\ndef init():\n    global size\n    size = measure()\n", True),
        ("size = None\n\n\ndef init():\n    global size\n    size = measure()\n", True),
        ("size = -1\n\n\ndef init():\n    global size\n    size = -2\n", True),
        ("size = -1\n\n\ndef init():\n    size = measure()\n", False),  # a name of its own
        ("size = -1\n", False),
    ],
)
def test_a_name_of_another_file_that_its_functions_set(tmp_path: Path, other: str, runs: bool) -> None:
    (tmp_path / "b.py").write_text(other, "utf-8")
    (tmp_path / "a.py").write_text("import b\n\nb.init()\nif b.size > 1:\n    LOOK()\n", "utf-8")
    resolver = Resolver(Project(tmp_path, [tmp_path / "a.py", tmp_path / "b.py"], ["torch"]))
    module = resolver.project.module("a.py")
    assert isinstance(module, Module)
    call = next(node for node in module.nodes[ast.Call] if getattr(node.func, "id", "") == "LOOK")  # type: ignore[attr-defined]
    assert (Facts(resolver, FACTS, {"nccl", "gloo"}).unreachable(module, call) is None) is runs
