"""Scopes and bindings agree with Python's own symbol tables."""

from __future__ import annotations

import ast
import symtable
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from ddp_codemod.model import Source
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.sites.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    bindings,
    bindings_of_statement,
    enclosing_scopes,
    owner_scope,
    scope_of,
)

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
# chosen for what they hold: nested scopes, global and nonlocal, comprehensions, match, walrus, async, class bodies
FILES = ["ast.py", "asyncio/tasks.py", "dataclasses.py", "enum.py", "functools.py", "inspect.py", "typing.py", "test/test_scope.py",
         "test/test_named_expressions.py", "test/test_patma.py"]  # fmt: skip


def module_of(text: str, name: str = "x.py") -> Module:
    made = parse(Source(Path(name), name, text.encode(), text, "utf-8"))
    assert isinstance(made, Module)
    return made


def pairs(module: Module, table: symtable.SymbolTable) -> Iterator[tuple[ast.AST, symtable.SymbolTable]]:
    """Every function and class body beside Python's table of it; of those on one line, only where the name tells which."""
    tables: dict[tuple[str, int], list[symtable.SymbolTable]] = {}
    todo = [table]
    while todo:
        at = todo.pop()
        todo += at.get_children()
        tables.setdefault((at.get_name(), at.get_lineno()), []).append(at)
    yield module.tree, table
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        for node in module.nodes.get(kind, ()):
            found = tables.get((node.name, node.lineno), [])  # type: ignore[attr-defined]
            if len(found) == 1:
                yield node, found[0]


def bound(table: symtable.SymbolTable) -> set[str]:
    """The names that Python says a scope gives a value (an annotation alone does not)."""
    return {symbol.get_name() for symbol in table.get_symbols() if _gives_value(symbol)}


def _gives_value(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_parameter() or symbol.is_namespace()


def ours(module: Module, scope: ast.AST) -> set[str]:
    return {name for name in bindings(module, scope) if name != "*"}


def only_annotated(module: Module, scope: ast.AST) -> set[str]:
    return {
        node.target.id
        for node in module.nodes.get(ast.AnnAssign, ())
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.value is None
        and scope_of(module, node) is scope
    }


def check(module: Module, text: str) -> int:
    checked = 0
    comprehensions = [node for kind in COMPREHENSIONS for node in module.nodes.get(kind, ())]
    leaked = {part.target.id for node in comprehensions for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
    # since 3.12 a comprehension is inlined, its variables show in the table around it
    inner = {name for node in comprehensions for name in bindings(module, node)}
    plain = _plain(module)
    for scope, table in pairs(module, symtable.symtable(text, module.name, "exec")):
        names = {_unmangled(name, table, scope, module) for name in bound(table)}
        missing = names - ours(module, scope) - only_annotated(module, scope) - (inner - plain.get(scope, set()))
        extra = ours(module, scope) - names - leaked  # symtable does not call what leaks out of a comprehension assigned
        assert (missing, extra) == (set(), set()), (module.name, table.get_name(), table.get_lineno())
        checked += 1
    return checked


def _plain(module: Module) -> dict[ast.AST, set[str]]:
    """The names that the statements of each scope bind themselves."""
    found: dict[ast.AST, set[str]] = {}
    for nodes in module.nodes.values():
        for node in nodes:
            if not isinstance(node, (*COMPREHENSIONS, ast.comprehension)):
                for binding in bindings_of_statement(node):
                    found.setdefault(scope_of(module, node), set()).add(binding.name)
    return found


def _unmangled(name: str, table: symtable.SymbolTable, scope: ast.AST, module: Module) -> str:
    for at in (scope, *module.ancestors(scope)):
        if isinstance(at, ast.ClassDef) and name.startswith(f"_{at.name.lstrip('_')}__"):
            return name.removeprefix(f"_{at.name.lstrip('_')}")
    return name


@pytest.mark.parametrize("name", FILES)
def test_the_standard_library_is_read_as_python_reads_it(name: str) -> None:
    path = LIBRARY / name
    if not path.is_file():
        pytest.skip(f"this Python comes without {name}")
    text = path.read_text("utf-8")
    assert check(module_of(text, name), text) > 5


NAMES = ("a", "b", "c")
LINES = [
    "{0} = {1}", "{0}, {1} = 1, 2", "({0} := {1})", "import {0}", "import {0}.{1}", "from {0} import {1}", "from {0} import x as {1}",
    "for {0} in {1}: pass", "with {0} as {1}: pass", "with {0} as ({1}, *{2}): pass", "del {0}", "{0} += 1", "{0}: int = 1",
    "[{0} for {0} in {1}]", "[({0} := x) for x in {1}]", "{{x: {0} for x in {1} for {2} in x}}", "print({0}, {1})", "{0}.attribute = {1}",
    "{0}[{1}] = 2", "lambda {0}: {1}", "lambda x, {0}=({1} := 2): x", "try: pass\nexcept E as {0}: pass", "if {0}: {1} = 2",
    "match {0}:\n    case [{1}, *{2}]: pass\n    case {{'k': x, **rest}}: pass\n    case C(y={0}): pass", "while {0}: {1} = 1",
    "@{0}\ndef {1}(): pass", "def {0}(x={1}, *args, y=({2} := 2), **kwargs): pass", "class {0}({1}): pass",
]  # fmt: skip


@st.composite
def bodies(draw: Any, depth: int = 3) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 9 if depth else 6))
        if kind < 7:
            chosen = draw(st.permutations(NAMES))
            lines += draw(st.sampled_from(LINES)).format(*chosen).split("\n")
        else:
            head = ["def {}(p):", "class {}:", "async def {}(p, a=1):"][kind - 7].format(draw(st.sampled_from(NAMES)))
            lines += [head, *(f"    {line}" for line in draw(bodies(depth - 1)))]
    return lines


@settings(max_examples=200, deadline=None)
@given(bodies())
def test_any_program_is_read_as_python_reads_it(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    note(text)
    try:
        compile(text, "x.py", "exec")
        symtable.symtable(text, "x.py", "exec")
    except SyntaxError:
        return
    module = module_of(text)
    assert check(module, text) >= 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f():\n    x = 1\n    return LOOK", "f"),
        ("x = 1\ndef f():\n    return LOOK", "module"),
        ("def f():\n    x = 1\n    def g():\n        return LOOK\n", "f"),
        ("def f():\n    x = 1\n    class C:\n        x = 2\n        def g(self):\n            return LOOK\n", "f"),
        ("x = 1\nclass C:\n    x = 2\n    def g(self):\n        return LOOK\n", "module"),
        ("class C:\n    x = 2\n    y = LOOK\n", "C"),
        ("x = 1\ndef f():\n    global x\n    x = 2\n    return LOOK\n", "module"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        return LOOK\n", "f"),
        ("def f(x):\n    return [LOOK for y in x]\n", "f"),
        ("def f(y):\n    return [LOOK for x in y]\n", "ListComp"),
        ("def f(y):\n    return [y for y in LOOK]\n", None),
        ("def f(y, x=1):\n    return lambda: LOOK\n", "f"),
        ("x = 1\ndef f(y=LOOK, x=2): pass\n", "module"),
        ("x = 1\n@LOOK\ndef f(x): pass\n", "module"),
        ("x = 1\nclass C(LOOK):\n    x = 2\n", "module"),
        ("x = 1\ndef f(x: LOOK = 2): pass\n", "module"),
        ("print(LOOK)", None),
        ("class C:\n    x = 2\n    y = [LOOK for z in [1]]\n", None),
        ("def f():\n    [x := y for y in [1]]\n    return LOOK\n", "f"),
        ("x = 1\nf = lambda x: LOOK\n", "Lambda"),
        ("x = 1\nf = lambda y=LOOK: y\n", "module"),
    ],
)
def test_the_scope_that_a_name_belongs_to(text: str, wanted: str | None) -> None:
    module = module_of(text.replace("LOOK", "x"))
    shown = module_of(text)
    look = next(node for node in shown.nodes[ast.Name] if getattr(node, "id", "") == "LOOK")
    at = next(
        node
        for node in module.nodes[ast.Name]
        if (node.lineno, node.col_offset) == (look.lineno, look.col_offset)  # type: ignore[attr-defined]
    )
    home = owner_scope(module, scope_of(module, at), "x")
    named = "module" if isinstance(home, ast.Module) else getattr(home, "name", type(home).__name__) if home else None
    assert named == wanted


def test_class_bodies_are_not_around_their_methods() -> None:
    module = module_of("def f():\n    class C:\n        def g(self):\n            x\n")
    around = list(enclosing_scopes(module, module.nodes[ast.FunctionDef][1]))
    assert [getattr(node, "name", "module") for node in around] == ["f", "module"]


def test_every_use_of_a_name_has_the_owner_that_python_gives_it() -> None:
    for name in FILES[:7]:
        path = LIBRARY / name
        text = path.read_text("utf-8")
        module = module_of(text, name)
        tables = {id(scope): table for scope, table in pairs(module, symtable.symtable(text, name, "exec"))}
        seen = 0
        # since 3.12 a comprehension is inlined, its variables show in the table around it
        inner = {one for kind in COMPREHENSIONS for node in module.nodes.get(kind, ()) for one in bindings(module, node)}
        for node in module.nodes[ast.Name]:
            scope = scope_of(module, node)
            table = tables.get(id(scope))
            if table is None or not isinstance(scope, (ast.Module, *FUNCTIONS)) or not isinstance(node, ast.Name):
                continue
            if node.id not in table.get_identifiers():
                continue
            symbol = table.lookup(node.id)
            if node.id in inner and sys.version_info >= (3, 12):
                continue
            home = owner_scope(module, scope, node.id)
            if symbol.is_local() and not isinstance(scope, ast.Module):
                assert home is scope, (name, node.id, node.lineno)
            elif symbol.is_free():
                assert home is not None, (name, node.id, node.lineno)
                assert home is not scope
                assert not isinstance(home, ast.Module)
            elif symbol.is_global():
                assert home in (None, module.tree), (name, node.id, node.lineno)
            seen += 1
        assert seen > 50


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a statement of Python 3.12")
def test_a_type_alias_gives_its_name_a_value() -> None:
    module = module_of('backend = "nccl"\ntype backend = str\n\n\ndef f():\n    type inner = int\n')
    assert [one.kind for one in bindings(module, module.tree)["backend"]] == ["value", "other"]
    assert list(bindings(module, module.nodes[ast.FunctionDef][0])) == ["inner"]
