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
from ddp_codemod.single_process.name_words import split_words
from ddp_codemod.single_process.reachability import imports_of
from ddp_codemod.single_process.vendored_library import VendoredLibrary
from ddp_codemod.sites.entities import Definition, External

_BUILTIN = frozenset(dir(builtins))
_BINDS = "functools.partial"
Kind = Literal["needs", "flag", "may"]


class GroupQuery(Struct, frozen=True, eq=False):
    """One call. ``needs``: it works with the group by its name; ``flag``: a switch of it does; ``may``: it is told of the group."""

    module: Module
    node: ast.AST
    kind: Kind
    text: str
    keyword: ast.keyword | None = None


class ExternalCalls:
    """Tells what a call of code that no program of the project holds may do with the group."""

    def __init__(self, api: Api) -> None:
        self.api, self.library = api, VendoredLibrary(api)

    def asks(self, module: Module, node: ast.Call) -> GroupQuery | None:
        """What a call may ask; None where nothing speaks of a group, or the code is known or read."""
        if not self._may_speak_of_group(module, node):
            return None
        func, given = node.func, node.args
        names = self.api.resolver.names(module, func)
        if _BINDS in names and given:
            func, given = given[0], given[1:]
            names = self.api.resolver.names(module, func)
        if not names:
            return self._query_of_method(module, node, func)
        for name in names:
            result = None if self._is_known_harmless(name) else self._query_of_name(module, node, name, given)
            if result is not None:
                return result
        return None

    def derives(self, module: Module, node: ast.ClassDef) -> GroupQuery | None:
        """The same of a class that derives from one from elsewhere."""
        for base in node.bases:
            if self._words_of_callee(module, base) & self.api.speaks:
                for name in self.api.resolver.names(module, base):
                    if (
                        split_words(_last_part(name)) & self.api.speaks
                        and not self._is_known_harmless(name)
                        and self.library.asks(name) is not False
                    ):
                        return GroupQuery(module, node, "needs", name)
        return None

    def switches(self, module: Module, node: ast.Dict | ast.Assign) -> list[GroupQuery]:
        """Entries of a table that are switches of such code: ``{"use_ddp": True}``, ``options["use_ddp"] = True``."""
        pairs = (
            zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ((t, node.value) for t in node.targets)
        )
        result: list[GroupQuery] = []
        for key, value in pairs:
            name = key.slice if isinstance(key, ast.Subscript) else key if isinstance(node, ast.Dict) else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
                if self._is_flag(ast.keyword(arg=name.value, value=value)):
                    result.append(GroupQuery(module, name, "may", f"{name.value!r}"))
        return result

    def _query_of_name(self, module: Module, node: ast.Call, name: str, given: Iterable[ast.expr]) -> GroupQuery | None:
        flag = next((one for one in node.keywords if self._is_flag(one)), None)
        strong = bool(split_words(_last_part(name)) & self.api.speaks)
        told = [one.value for one in node.keywords if one.arg and one is not flag and not _is_negative(one.value)]
        hinted = any(split_words(one.arg or "") & self.api.hints for one in node.keywords if not _is_negative(one.value))
        hinted |= any(split_words(last_name(part)) & self.api.hints for part in (*given, *told) if _is_name(part))
        hinted |= bool(split_words(name) & (self.api.hints | self.api.speaks) or split_words(_last_part(name)) & self.api.verbs)
        if not (flag or strong or hinted):
            return None
        if self.library.asks(name, flag is not None) is False:
            return None
        if flag is not None:
            return GroupQuery(module, node, "flag", f"{name}({flag.arg}=...)", flag)
        return GroupQuery(module, node, "needs" if strong else "may", name)

    def _query_of_method(self, module: Module, node: ast.Call, func: ast.expr) -> GroupQuery | None:
        """A method of something unknown, whose name, or switch, speaks of a group, and that the project does not define."""
        last = last_name(func)
        flag = next((one for one in node.keywords if self._is_flag(one)), None)
        if isinstance(func, ast.Name) and last == "dict" and flag is not None:
            return GroupQuery(module, node, "may", f"{flag.arg!r}")
        if not last or (isinstance(func, ast.Name) and last in _BUILTIN):
            return None
        found = [entity for entity in self.api.resolver.resolve(module, func) if not isinstance(entity, External)]
        if any(isinstance(entity, Definition) for entity in found) or self.library.defines(last):
            return None
        if isinstance(func, ast.Attribute) and (flag is not None or split_words(last) & self.api.speaks):
            return GroupQuery(module, node, "may", " ".join(module.text(func).split()))
        return None

    def _is_flag(self, keyword: ast.keyword) -> bool:
        """``use_ddp=True``, but no ``use_ddp=False`` and nothing that is a text or a number."""
        value = keyword.value
        if not keyword.arg or not split_words(keyword.arg) & self.api.speaks or _is_negative(value):
            return False
        return not isinstance(value, (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Lambda)) or (
            isinstance(value, ast.Constant) and value.value is True
        )

    def _may_speak_of_group(self, module: Module, node: ast.Call) -> bool:
        """A quick look, before anything is resolved."""
        wanted = self.api.speaks | self.api.hints
        if self._words_of_callee(module, node.func) & (wanted | self.api.verbs):
            return True
        if any(split_words(one.arg) & wanted for one in node.keywords if one.arg):
            return True
        values = (*node.args, *(one.value for one in node.keywords))
        return any(_is_name(part) and split_words(last_name(part)) & wanted for part in values)

    def _words_of_callee(self, module: Module, func: ast.expr) -> frozenset[str]:
        """The words of a callee as it is written, and as it is imported."""
        found: frozenset[str] = frozenset()
        while isinstance(func, ast.Attribute):
            found |= split_words(func.attr)
            func = func.value
        if isinstance(func, ast.Name):
            found |= split_words(func.id)
            for statement, alias in imports_of(module).get(func.id, ()):
                source = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
                found |= split_words(source) | split_words(alias.name)
        return found

    def _is_known_harmless(self, name: str) -> bool:
        """Whether code from elsewhere is known not to ask, or is in the tables with what it does."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in self.api.apart or top in self.api.watched_tops:
            return True
        return self.api.named(name) is not None


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
