import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["render", "insert", "imports", "lines", "splice", "recipes"])
def test_importing_it_does_not_load_libcst(module):
    code = f"import sys, ddp_codemod.edits.{module}; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_edit_that_is_plain_text_does_not_load_libcst():
    code = r"""
import sys
from pathlib import Path
from ddp_codemod.edits.render import render
from ddp_codemod.model import Applicability, Edit, Reason, Recipe, Source, Survey
source = Source(Path("a.py"), "a.py", b"f()", "f()", "utf-8")
def run(after, recipe):
    edit = Edit("a.py", 0, 3, after, "r", Applicability.SAFE, Reason("why"), 1, recipe)
    return render(Survey(Path(), "p", (), (edit,), (), (), {"a.py": source}), False).changes[0].after
assert run("g()", None) == b"g()"
source = Source(Path("a.py"), "a.py", b"import a\nb", "import a\nb", "utf-8")
edit = Edit("a.py", 0, 8, None, "r", Applicability.SAFE, Reason("why"), 1, Recipe("remove-import-name", (("name", "a"),)))
assert render(Survey(Path(), "p", (), (edit,), (), (), {"a.py": source}), False).changes[0].after == b"b"
source = Source(Path("a.py"), "a.py", b"f()", "f()", "utf-8")
assert "libcst" not in sys.modules
assert run(None, Recipe("add-keyword", (("name", "k"), ("value", "1")))) == b"f(k=1)"
assert "libcst" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
