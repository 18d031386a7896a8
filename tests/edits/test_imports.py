import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.edits.insert import add_import, bound_import
from ddp_codemod.model import Reason, Source


def added(text: str, module: str = "os", name: str | None = None) -> tuple[str, str] | Reason:
    """The text with the import that ``init`` needs, and how the module or object is written there."""
    tree = ast.parse(text)
    source = Source(Path("x.py"), "x.py", text.encode(), text, "utf-8")
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "init")
    found = add_import(source, tree, module, name, before=source.offset(call.lineno, call.col_offset))
    if isinstance(found, Reason):
        return found
    place, written = found
    if place is None:
        return text, written
    new = text[: place.offset] + place.text + text[place.offset :]
    tree = ast.parse(new)
    if docstring := ast.get_docstring(ast.parse(text)):
        assert ast.get_docstring(tree) == docstring
    compile(new, "x.py", "exec")  # from __future__ lines are still in front
    return new, written


def check(before: str, after: str, module: str = "os", name: str | None = None, written: str | None = None) -> None:
    assert added(before, module, name) == (after, written or name or module)


def stays(text: str, written: str, module: str = "os", name: str | None = None) -> None:
    assert added(text, module, name) == (text, written)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("import os\ninit()", "os"),
        ("import os as _os\ninit()", "_os"),
        ("import os.path\ninit()", "os"),
        ("import sys, os\ninit()", "os"),
        ("import os; init()", "os"),
        ("import os\ndef f(a):\n    init()", "os"),
        ("import os\nclass A:\n    os = 1\n    def f(self):\n        init()", "os"),
        ("def f():\n    import os\n    init()", "os"),
        ("def f():\n    import os\n    def g():\n        init()", "os"),
        ("if a:\n    import os\n    init()", "os"),
        ("import os\ntry:\n    import os\nexcept E:\n    pass\ninit()", "os"),
        ("import os\nx = [os for os in y]\ninit()", "os"),
    ],
)
def test_an_import_that_ran_is_used(text, written):
    stays(text, written)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("import accelerate\ninit()", "accelerate.H"),
        ("import accelerate.utils\ninit()", "accelerate.H"),
        ("import torch, accelerate as acc\ninit()", "acc.H"),
        ("from accelerate import H\ninit()", "H"),
        ("from accelerate import A, H as K\ninit()", "K"),
    ],
)
def test_an_object_through_what_is_imported(text, written):
    stays(text, written, "accelerate", "H")


def test_a_submodule_is_written_in_full_only_where_imported():
    stays("import torch.distributed\ninit()", "torch.distributed", "torch.distributed")
    stays("from torch import distributed as d\ninit()", "d", "torch.distributed")
    stays("import torch.distributed as dist\ninit()", "dist.X", "torch.distributed", "X")
    check("import torch\ninit()", "import torch\nimport torch.distributed\ninit()", "torch.distributed")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("try:\n    import os\nexcept E:\n    pass\ninit()", "import os\n\ntry:\n    import os\nexcept E:\n    pass\ninit()"),
        ("import a\nif x:\n    import os\ninit()", "import os\nimport a\nif x:\n    import os\ninit()"),
        ("init()\nimport os\n", "import os\n\ninit()\nimport os\n"),
        ("def f():\n    import os\ninit()\n", "import os\n\ndef f():\n    import os\ninit()\n"),
        (
            "class A:\n    import os\n    def f(self):\n        init()\n",
            "import os\n\nclass A:\n    import os\n    def f(self):\n        init()\n",
        ),
        ("from os import path\ninit()", "import os\nfrom os import path\ninit()"),
    ],
)
def test_an_import_that_may_not_have_run_does_not_count(before, after):
    check(before, after)


@pytest.mark.parametrize(
    "text",
    [
        "os = 1\ninit()",
        "def f(os):\n    init()",
        "def f(*os):\n    init()",
        "def f():\n    if x:\n        import os\n    init()",
        "def f():\n    init()\n    import os",
        "import os\ndef f():\n    init()\n    os = 1",
        "import os\ndel os\ninit()",
        "import x as os\ninit()",
        "from .compat import os\ninit()",
        "def os(): pass\ninit()",
        "class os: pass\ninit()",
        "try:\n    import os\nexcept E as os:\n    pass\ninit()",
        "for os in x: pass\ninit()",
        "with x as os: init()",
        "def f():\n    global os\n    os = 1\ninit()",
        "match x:\n    case {'a': 1, **os}: pass\ninit()",
        "if (os := 1): pass\ninit()",
    ],
)
def test_review_where_the_name_is_taken(text):
    found = added(text)
    assert isinstance(found, Reason)
    assert found.key == "insert-name-taken"


@pytest.mark.parametrize(
    "text", ["init()\nprint(os)", "init()\ndef f():\n    return os.environ", "def f(os): pass\ninit(os.name)"]
)
def test_review_where_code_reads_the_name_that_nothing_binds(text):
    found = added(text)
    assert isinstance(found, Reason)
    assert found.key == "insert-name-unbound"


@pytest.mark.parametrize(
    "text",
    [
        "from helpers import *\ninit(os.name)",
        "def f():\n    import os\n    return os.name\ninit()",
        "def f(os):\n    return os.name\ninit()",
        "x = lambda os: 1\ninit()",
        "class A:\n    import os\n    name = os.name\ninit()",
    ],
)
def test_a_name_that_something_binds_where_it_is_read_does_not_stand_in_the_way(text):
    assert not isinstance(added(text), Reason)


@pytest.mark.parametrize(
    "text",
    ["def f(os): pass\ninit()", "x = lambda os: 1\ninit()", "class A:\n    os = 1\ninit()", "import osx\nx.os = 1\ninit(os=1)"],
)
def test_a_name_of_another_scope_is_free(text):
    assert not isinstance(added(text), Reason)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nimport sys\ninit()", "import torch\nimport os\nimport sys\ninit()"),
        ("import torch\nfrom x import y\ninit()", "import os\nimport torch\nfrom x import y\ninit()"),
        ("from . import x\ninit()", "import os\nfrom . import x\ninit()"),
        ("import torch\r\ninit()\r\n", "import os\r\nimport torch\r\ninit()\r\n"),
        ("# c\n\fimport torch\ninit()\n", "# c\n\fimport os\nimport torch\ninit()\n"),
        ("import torch; init()", "import os\nimport torch; init()"),
        (
            "from __future__ import annotations\nimport sys\ninit()",
            "from __future__ import annotations\nimport os\nimport sys\ninit()",
        ),
    ],
)
def test_a_standard_module_goes_among_its_like(before, after):
    check(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import os\nfrom accelerate import A\nimport torch\ninit()",
            "import os\nfrom accelerate import A, H\nimport torch\ninit()",
        ),
        ("from accelerate import (\n    A,\n)\ninit()", "from accelerate import (\n    A,\n    H,\n)\ninit()"),
        ("from accelerate import A  # c\ninit()", "from accelerate import A, H  # c\ninit()"),
        (
            "from accelerate import A; x = [\n  1]\ninit()",
            "from accelerate import A, H; x = [\n  1]\ninit()",
        ),
        ("import os\nimport torch\ninit()", "import os\nfrom accelerate import H\nimport torch\ninit()"),
        ("from accelerate import (A, B as C)\r\ninit()", "from accelerate import (A, B as C, H)\r\ninit()"),
        ("from accelerate.utils import A\ninit()", "from accelerate import H\nfrom accelerate.utils import A\ninit()"),
        ("from accelerate import *\ninit()", "from accelerate import *\nfrom accelerate import H\ninit()"),
        (
            "def f():\n    from accelerate import A\ninit()",
            "from accelerate import H\n\ndef f():\n    from accelerate import A\ninit()",
        ),
        ("import os\ninit()", "import os\nfrom accelerate import H\ninit()"),
        (
            "from accelerate import A\nx()\nfrom accelerate import B\ninit()",
            "from accelerate import A, H\nx()\nfrom accelerate import B\ninit()",
        ),
    ],
)
def test_an_object_goes_beside_its_package(before, after):
    check(before, after, "accelerate", "H")


def test_a_plug_in_goes_behind_its_host():
    check(
        "import os\nimport torch\nimport torch.nn as nn\nimport yaml\ninit()",
        "import os\nimport torch\nimport torch.nn as nn\nimport torch_x\nimport yaml\ninit()",
        "torch_x",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("init()", "import os\n\ninit()"),
        ("#!/bin/x\n# lic\n\n# c\ninit()\n", "#!/bin/x\n# lic\n\nimport os\n\n# c\ninit()\n"),
        ("# -*- coding: utf-8 -*-\ninit()\n", "# -*- coding: utf-8 -*-\nimport os\n\ninit()\n"),
        ("\n# -*- coding: utf-8 -*-\ninit()\n", "\n# -*- coding: utf-8 -*-\nimport os\n\ninit()\n"),
        ('"""doc"""\ninit()\n', '"""doc"""\n\nimport os\n\ninit()\n'),
        ('# lic\n"""doc\n\nmore"""\n\n\n# c\ninit()\n', '# lic\n"""doc\n\nmore"""\n\n\nimport os\n\n# c\ninit()\n'),
        ("from __future__ import division\ninit()", "from __future__ import division\n\nimport os\n\ninit()"),
        ('"""doc"""; init()\n', '"""doc"""; import os; init()\n'),
        ('"""doc"""\r\ninit()\r\n', '"""doc"""\r\n\r\nimport os\r\n\r\ninit()\r\n'),
        ("def f():\n    init()\nimport sys\nf()\n", "import os\n\ndef f():\n    init()\nimport sys\nf()\n"),
    ],
)
def test_at_the_top(before, after):
    check(before, after)


LINES = [
    "import torch",
    "import sys",
    "from x import (\n  y,\n)",
    "a()",
    "if b:\n    import os",
    "import os",
    "import a; b()",
    "# c",
    "",
    "x = '''\n# no\n'''",
    "c(); \\\nd()",
]


@given(
    st.sampled_from(["", "# lic\n", '"""doc"""\n', "from __future__ import division\n"]),
    st.lists(st.sampled_from(LINES)),
    st.sampled_from(LINES),
)
def test_the_module_is_bound_where_it_is_used(head, above, below):
    text = head + "".join(line + "\n" for line in above) + "init()\n" + below
    new, written = added(text)
    tree = ast.parse(new)
    source = Source(Path("x.py"), "x.py", new.encode(), new, "utf-8")
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "init")
    assert bound_import(source, tree, "os", before=source.offset(call.lineno, call.col_offset)) == written
    assert added(new) == (new, written)
    assert [ast.dump(node) for node in tree.body if ast.unparse(node) != "import os"] == [
        ast.dump(node) for node in ast.parse(text).body if ast.unparse(node) != "import os"
    ]
