"""Which files import which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.sites.imports import IMPORT, Imports, find_import_statements
from ddp_codemod.sites.project import Project


def imports(folder: Path, files: dict[str, str]) -> Imports:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Imports(Project(folder, sorted(folder.rglob("*.py"))))


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("import b", {"b.py"}),
        ("import b as x, p.c", {"b.py", "p/c.py"}),
        ("from b import name", {"b.py"}),
        ("from p import c", {"p/__init__.py", "p/c.py"}),
        ("from p import (\n    c,  # why\n    d as e,\n)", {"p/__init__.py", "p/c.py", "p/d.py"}),
        ("from p import c, \\\n    d", {"p/__init__.py", "p/c.py", "p/d.py"}),
        ("import torch, \\\r\n  b, \\\r\n  p.c\nimport p.d", {"b.py", "p/c.py", "p/d.py"}),
        ("from p import c \\\n\nd", {"p/__init__.py", "p/c.py"}),
        ("def later():\n    from p.d import x", {"p/d.py"}),
        ("import torch\nfrom torch import b", set()),
        ("# import b\nimportant = 1\nname = 'import b'", set()),
    ],
)
def test_what_a_file_imports(tmp_path: Path, text: str, imported: set[str]) -> None:
    files = {"a.py": text, "b.py": "", "p/__init__.py": "", "p/c.py": "from . import d\n", "p/d.py": ""}
    assert imports(tmp_path, files).of["a.py"] == imported


NAMED = {"hub/__init__.py": "", "hub/net_a.py": "", "hub/net_b.py": "", "hub/sub/__init__.py": "", "hub/sub/deep.py": ""}
ALL = {"hub/net_a.py", "hub/net_b.py", "hub/sub/__init__.py"}


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ('import_module("hub.net_a")', {"hub/net_a.py"}),
        ('import_module(f"hub.{name}")', ALL),
        ('import_module("hub." + name)', ALL),
        ("importlib.import_module( 'hub.%s' % name)", ALL),
        ('import_module("hub.{}".format(name))', ALL),
        ('__import__("hub." + name, fromlist=["Net"])', ALL),
        ('import_module(f"hub.net_{name}")', {"hub/net_a.py", "hub/net_b.py"}),
        ('import_module("hub.sub." + name)', {"hub/sub/deep.py"}),
        ('import_module("torch." + name)', set()),
        ("import_module(name)", set()),
        ("import_module(f'{name}')", set()),
        ('reimport_module("hub.net_a")', set()),
        ('"hub." + name', set()),
    ],
)
def test_what_a_file_imports_by_a_name_that_it_puts_together(tmp_path: Path, text: str, imported: set[str]) -> None:
    assert imports(tmp_path, {**NAMED, "a.py": text}).of["a.py"] == imported


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("import_module('.net_a', __name__)", {"hub/net_a.py"}),
        ("import_module(__name__ + '.' + name)", ALL),
        ("import_module(f'{__package__}.{name}')", ALL),
        ("import_module('.' + name, __package__)", ALL),
        ("for file in os.listdir(dirname(__file__)):\n    import_module(space + '.' + file[:-3])", ALL),
        ("for one in pkgutil.iter_modules(__path__):\n    __import__(one.name)", ALL),
        ("__all__ = [file.stem for file in Path(__file__).parent.glob('*.py')]", ALL),
        ("texts = [open(file).read() for file in Path(__file__).parent.glob('*.py')]", set()),
        ("for file in os.listdir(folder):\n    import_module(file[:-3])", set()),
    ],
)
def test_what_a_package_imports_of_itself(tmp_path: Path, text: str, imported: set[str]) -> None:
    assert imports(tmp_path, {**NAMED, "hub/__init__.py": text}).of["hub/__init__.py"] == imported


def test_a_package_runs_before_what_is_imported_from_it(tmp_path: Path) -> None:
    files = {
        "a.py": "from p.q.c import x\n",
        "p/__init__.py": "from . import d\n",
        "p/q/__init__.py": "",
        "p/q/c.py": "",
        "p/d.py": "",
    }
    found = imports(tmp_path, files)
    assert found.of["a.py"] == {"p/q/c.py"}
    assert found.below(["a.py"]) == {"a.py", "p/__init__.py", "p/q/__init__.py", "p/q/c.py", "p/d.py"}
    assert found.below(["p/q/c.py"]) == {"p/q/c.py"}  # as it is started
    assert found.above(["p/d.py"]) == {"p/d.py", "p/__init__.py"}


def test_a_package_beside_a_module_of_its_name_and_one_at_the_root_give_files(tmp_path: Path) -> None:
    files = {"__init__.py": "", "a.py": "from . import b\n", "b.py": "", "p.py": "", "p/c.py": "from . import d\n", "p/d.py": ""}
    found = imports(tmp_path, files).of
    assert "b.py" in found["a.py"]
    assert "p/d.py" in found["p/c.py"]


def test_relative_imports_and_what_lies_above_and_below(tmp_path: Path) -> None:
    files = {
        "a.py": "import p.c",
        "other.py": "",
        "p/__init__.py": "",
        "p/c.py": "from .d import x\n",
        "p/d.py": "from .c import y\n",
    }
    found = imports(tmp_path, files)
    assert found.below(["a.py"]) == {"a.py", "p/__init__.py", "p/c.py", "p/d.py"}
    assert found.above(["p/d.py"]) == {"a.py", "p/c.py", "p/d.py"}
    assert found.above(["other.py"]) == {"other.py"}


@given(
    st.lists(st.sampled_from(["import ", "from ", "a", ".", "(", ")", ", ", "\n", "\r\n", " ", "\t", "#", ";", "\\\n", "import"]))
)
def test_statements_are_those_that_a_look_at_the_start_of_every_line_finds(parts: list[str]) -> None:
    data = "".join(parts).encode()
    slow = re.compile(b"^" + IMPORT.pattern, re.M)
    assert [found.span() for found in find_import_statements(data)] == [found.span() for found in slow.finditer(data)]


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("exec(open('b.py').read())", {"b.py"}),
        ('exec(compile(open("p/c.py").read(), "c", "exec"))', {"p/c.py"}),
        ("runpy.run_path('./b.py')", {"b.py"}),
        ("exec(open(sys.argv[1]).read())", set()),
        ("run(open('b.py').read())", set()),
        ("cursor.execute('b.py')", set()),
        ("exec(open('../b.py').read())", set()),
    ],
)
def test_a_file_that_is_run_by_its_path(tmp_path: Path, text: str, imported: set[str]) -> None:
    files = {"a.py": f"{text}\n", "b.py": "", "p/__init__.py": "", "p/c.py": ""}
    assert imports(tmp_path, files).of_file("a.py") == imported
