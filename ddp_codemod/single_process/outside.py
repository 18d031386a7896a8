"""Calls into code from elsewhere that may ask the process group itself, as far as names tell."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.library import Library
from ddp_codemod.single_process.reach import imports_of
from ddp_codemod.single_process.words import words_of
from ddp_codemod.sites.entities import Definition, External

_BUILTIN = frozenset(dir(builtins))
_BINDS = "functools.partial"
Kind = Literal["needs", "flag", "may"]


class Asking(Struct, frozen=True, eq=False):
    """One call. ``needs``: it works with the group by its name; ``flag``: a switch of it does; ``may``: it is told of the group."""

    module: Module
    node: ast.AST
    kind: Kind
    text: str
    keyword: ast.keyword | None = None


class Outside:
    """Tells what a call of code that no program of the project holds may do with the group."""

    def __init__(self, api: Api) -> None:
        self.api, self.library = api, Library(api)

    def asks(self, module: Module, node: ast.Call) -> Asking | None:
        """What a call may ask; None where nothing speaks of a group, or the code is known or read."""
        if not self._speaks(module, node):
            return None
        func, given = node.func, node.args
        names = self.api.resolver.names(module, func)
        if _BINDS in names and given:
            func, given = given[0], given[1:]
            names = self.api.resolver.names(module, func)
        if not names:
            return self._unresolved(module, node, func)
        for name in names:
            made = None if self._apart(name) else self._named(module, node, name, given)
            if made is not None:
                return made
        return None

    def derives(self, module: Module, node: ast.ClassDef) -> Asking | None:
        """The same of a class that derives from one from elsewhere."""
        for base in node.bases:
            if self._tokens(module, base) & self.api.speaks:
                for name in self.api.resolver.names(module, base):
                    if words_of(_last(name)) & self.api.speaks and not self._apart(name) and self.library.asks(name) is not False:
                        return Asking(module, node, "needs", name)
        return None

    def switches(self, module: Module, node: ast.Dict | ast.Assign) -> list[Asking]:
        """Entries of a table that are switches of such code: ``{"use_ddp": True}``, ``options["use_ddp"] = True``."""
        pairs = (
            zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ((t, node.value) for t in node.targets)
        )
        made: list[Asking] = []
        for key, value in pairs:
            name = key.slice if isinstance(key, ast.Subscript) else key if isinstance(node, ast.Dict) else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
                if self._is_flag(ast.keyword(arg=name.value, value=value)):
                    made.append(Asking(module, name, "may", f"{name.value!r}"))
        return made

    def _named(self, module: Module, node: ast.Call, name: str, given: Iterable[ast.expr]) -> Asking | None:
        flag = next((one for one in node.keywords if self._is_flag(one)), None)
        strong = bool(words_of(_last(name)) & self.api.speaks)
        told = [one.value for one in node.keywords if one.arg and one is not flag and not _is_no(one.value)]
        hinted = any(words_of(one.arg or "") & self.api.hints for one in node.keywords if not _is_no(one.value))
        hinted |= any(words_of(last_name(part)) & self.api.hints for part in (*given, *told) if _is_name(part))
        hinted |= bool(words_of(name) & (self.api.hints | self.api.speaks) or words_of(_last(name)) & self.api.verbs)
        if not (flag or strong or hinted):
            return None
        if self.library.asks(name, flag is not None) is False:
            return None
        if flag is not None:
            return Asking(module, node, "flag", f"{name}({flag.arg}=...)", flag)
        return Asking(module, node, "needs" if strong else "may", name)

    def _unresolved(self, module: Module, node: ast.Call, func: ast.expr) -> Asking | None:
        """A method of something unknown, whose name, or switch, speaks of a group, and that the project does not define."""
        last = last_name(func)
        flag = next((one for one in node.keywords if self._is_flag(one)), None)
        if isinstance(func, ast.Name) and last == "dict" and flag is not None:
            return Asking(module, node, "may", f"{flag.arg!r}")
        if not last or (isinstance(func, ast.Name) and last in _BUILTIN):
            return None
        found = [entity for entity in self.api.resolver.resolve(module, func) if not isinstance(entity, External)]
        if any(isinstance(entity, Definition) for entity in found) or self.library.defines(last):
            return None
        if isinstance(func, ast.Attribute) and (flag is not None or words_of(last) & self.api.speaks):
            return Asking(module, node, "may", " ".join(module.text(func).split()))
        return None

    def _is_flag(self, keyword: ast.keyword) -> bool:
        """``use_ddp=True``, but no ``use_ddp=False`` and nothing that is a text or a number."""
        value = keyword.value
        if not keyword.arg or not words_of(keyword.arg) & self.api.speaks or _is_no(value):
            return False
        return not isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Lambda)) or (
            isinstance(value, ast.Constant) and value.value is True
        )

    def _speaks(self, module: Module, node: ast.Call) -> bool:
        """A quick look, before anything is resolved."""
        wanted = self.api.speaks | self.api.hints
        if self._tokens(module, node.func) & (wanted | self.api.verbs):
            return True
        if any(words_of(one.arg) & wanted for one in node.keywords if one.arg):
            return True
        values = (*node.args, *(one.value for one in node.keywords))
        return any(_is_name(part) and words_of(last_name(part)) & wanted for part in values)

    def _tokens(self, module: Module, func: ast.expr) -> frozenset[str]:
        """The words of a callee as it is written, and as it is imported."""
        found: frozenset[str] = frozenset()
        while isinstance(func, ast.Attribute):
            found |= words_of(func.attr)
            func = func.value
        if isinstance(func, ast.Name):
            found |= words_of(func.id)
            for statement, alias in imports_of(module).get(func.id, ()):
                source = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
                found |= words_of(source) | words_of(alias.name)
        return found

    def _apart(self, name: str) -> bool:
        """Whether code from elsewhere is known not to ask, or stands in the tables with what it does."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in self.api.apart or top in self.api.watched_tops:
            return True
        return self.api.named(name) is not None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))


def _is_no(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
