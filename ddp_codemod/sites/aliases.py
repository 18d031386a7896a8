"""Other names under which a file knows something: ``from x import y as z``, ``z = x.y``, ``z = getattr(x, "y")``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.dynamic_lookups import attribute_lookup
from ddp_codemod.sites.scopes import assignment_pairs

Table = dict[str, set[str]]


def imported_aliases(module: Module, words: Iterable[str]) -> set[str]:
    """The names under which a file imports one of the words."""
    return _look_up_words(_build_alias_tables(module)[0], words)


def aliases_of(module: Module, words: Iterable[str]) -> set[str]:
    """The names under which a file imports one of the words, or to which it gives what the word stands for."""
    words = set(words)
    return set().union(*(_look_up_words(table, words) for table in _build_alias_tables(module)))


def _build_alias_tables(module: Module) -> tuple[Table, Table]:
    """The imported and the assigned names of a file, by the word that they stand for."""
    if "aliases" not in module.own:
        imports: Table = {}
        for node in module.nodes.get(ast.ImportFrom, ()):
            assert isinstance(node, ast.ImportFrom)
            for alias in node.names:
                if alias.asname:
                    imports.setdefault(alias.name, set()).add(alias.asname)
        assigned: Table = {}
        for statement in module.nodes.get(ast.Assign, ()):
            assert isinstance(statement, ast.Assign)
            for target, value in assignment_pairs(statement):
                if isinstance(target, ast.Name):
                    for word in _list_words(value):
                        assigned.setdefault(word, set()).add(target.id)
        module.own["aliases"] = imports, assigned
    return module.own["aliases"]  # type: ignore[return-value]


def _list_words(value: ast.expr) -> list[str]:
    """The last names of what an expression stands for: ``x.y``, ``getattr(x, "y")``, ``x.y if new else x.z``."""
    if isinstance(value, ast.IfExp):
        return [*_list_words(value.body), *_list_words(value.orelse)]
    looked_up = attribute_lookup(value) if isinstance(value, ast.Call) else None
    getter = value.func if isinstance(value, ast.Call) else None
    if isinstance(getter, ast.Call) and getter.args and isinstance(getter.args[0], ast.Constant):  # ``attrgetter("x.y")(z)``
        return [str(getter.args[0].value).rpartition(".")[2]]
    word = looked_up[1] if looked_up is not None else last_name(value)
    return [word] if word else []


def _look_up_words(table: Table, words: Iterable[str]) -> set[str]:
    return set().union(*(table.get(word, set()) for word in words))
