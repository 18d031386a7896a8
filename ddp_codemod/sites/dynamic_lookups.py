"""What is looked up by a name that is written out: ``getattr(x, "name")``, ``sys.modules["torch.distributed"]``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from ddp_codemod.parse.python import last_name

T = TypeVar("T")
Ask = Callable[[ast.expr], "list[str]"]  # the qualified names of an expression, or the text that it surely is, if any


class Lookup(Struct, frozen=True):
    """A member of an object, below each other, or with a ``module`` that of this name."""

    owner: ast.expr | None
    path: tuple[str, ...] = ()
    module: str = ""


def find_lookup(node: ast.Call | ast.Subscript, names: Ask, texts: Ask, made: Callable[[ast.expr], ast.expr]) -> Lookup | None:
    """What an expression looks up by its name; ``made`` gives what alone a name stands for, where that is one expression."""
    if isinstance(node, ast.Subscript):
        return _find_entry(node, names, texts)
    return next(filter(None, (form(node, names, texts, made) for form in _FORMS)), None)


def attribute_lookup(node: ast.Call) -> tuple[ast.expr, str] | None:
    """What ``getattr(x, "name")`` looks into, and the name."""
    if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2:
        name = node.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
            return node.args[0], name.value
    return None


def deduplicate(found: list[T]) -> list[T]:
    """Each once, in order."""
    return list(dict.fromkeys(found))


def _find_attribute(node: ast.Call, names: Ask, texts: Ask, made: Callable[[ast.expr], ast.expr]) -> Lookup | None:
    """``getattr(x, "name")``"""
    if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2:
        return next((Lookup(node.args[0], (text,)) for text in texts(node.args[1]) if text.isidentifier()), None)
    return None


def _find_imported(node: ast.Call, names: Ask, texts: Ask, made: Callable[[ast.expr], ast.expr]) -> Lookup | None:
    """``import_module("a.b")``, ``__import__("a.b", fromlist=["c"])``; without a list the last gives the top of the package."""
    last = last_name(node.func)
    if last == "import_module" and len(node.args) == 1 and not node.keywords and "importlib.import_module" in names(node.func):
        return next((Lookup(None, module=text) for text in texts(node.args[0])), None)
    if last != "__import__" or not node.args or not isinstance(node.func, ast.Name):
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    listed = given.get("fromlist", node.args[3] if len(node.args) > 3 else None)
    whole = isinstance(listed, (ast.List, ast.Tuple)) and bool(listed.elts)
    if (listed is not None and not isinstance(listed, (ast.List, ast.Tuple))) or "level" in given or len(node.args) > 4:
        return None
    return next((Lookup(None, module=text if whole else text.partition(".")[0]) for text in texts(node.args[0])), None)


def _find_loaded(node: ast.Call, names: Ask, texts: Ask, made: Callable[[ast.expr], ast.expr]) -> Lookup | None:
    """``sys.modules.get("a.b")``"""
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and len(node.args) == 1
        and _is_modules(node.func.value, names)
    ):
        return next((Lookup(None, module=text) for text in texts(node.args[0])), None)
    return None


def _find_getter(node: ast.Call, names: Ask, texts: Ask, made: Callable[[ast.expr], ast.expr]) -> Lookup | None:
    """``attrgetter("a.b")(x)``"""
    getter = made(node.func) if len(node.args) == 1 and not node.keywords else None
    if not isinstance(getter, ast.Call) or len(getter.args) != 1 or last_name(getter.func) != "attrgetter":
        return None
    path = next((text for text in texts(getter.args[0]) if "operator.attrgetter" in names(getter.func)), "")
    return Lookup(node.args[0], tuple(path.split("."))) if path else None


def _find_entry(node: ast.Subscript, names: Ask, texts: Ask) -> Lookup | None:
    """``sys.modules["a.b"]``, ``vars(x)["name"]``, ``x.__dict__["name"]``"""
    table = node.value
    if _is_modules(table, names):
        return next((Lookup(None, module=text) for text in texts(node.slice)), None)
    owner = table.value if isinstance(table, ast.Attribute) and table.attr == "__dict__" else None
    if isinstance(table, ast.Call) and last_name(table.func) == "vars" and len(table.args) == 1:
        owner = table.args[0]
    return next((Lookup(owner, (text,)) for text in texts(node.slice)), None) if owner is not None else None


def _is_modules(node: ast.expr, names: Ask) -> bool:
    return last_name(node) == "modules" and "sys.modules" in names(node)


_FORMS = (_find_attribute, _find_imported, _find_loaded, _find_getter)
# in the files that look up a function by its name, which is a text there
LOOKING_UP = (b"getattr", b"attrgetter", b"methodcaller", b"vars(", b"__dict__")
