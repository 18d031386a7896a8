"""Calls that only show a text to whoever reads the output: another text there changes nothing else."""

from __future__ import annotations

import ast
import sys

from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context

# Methods of ``str`` that give another text of any text, and never fail.
_METHODS = frozenset({
    "capitalize", "casefold", "center", "expandtabs", "ljust", "lower", "lstrip", "removeprefix", "removesuffix", "replace", "rjust", "rstrip",
    "split", "splitlines", "strip", "swapcase", "title", "upper", "zfill",
})  # fmt: skip


class ShownTexts:
    """Answers for one run which calls only show what they are passed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._shows = frozenset(name for idioms in context.rules.idioms for name in idioms.shows)
        self._trackers = frozenset(name for idioms in context.rules.idioms for name in idioms.trackers)
        self.packages = self._trackers | frozenset(  # which do nothing with a backend's name but write it down
            name for idioms in context.rules.idioms for name in (*idioms.blind, *idioms.file_packages, *idioms.option_packages)
        )

    def is_shown(self, module: Module, call: ast.Call) -> bool:
        """Whether a call only shows what it is passed, or ends the program with it."""
        last = last_name(call.func)
        names = self.context.tracer.resolver.names(module, call.func)
        if names and not any(self._is_logging(name.split(".")[0]) for name in names):
            return False
        if last in self._shows or last.endswith(("Error", "Exception", "Warning")):
            return True
        if any(name.split(".")[0] in self._trackers for name in names):
            return True
        if last == "write" and isinstance(call.func, ast.Attribute):
            return last_name(call.func.value) in ("stdout", "stderr", "tqdm")
        return any(name in self._shows for name in names)

    def is_result_shown(self, module: Module, method: ast.Attribute) -> bool:
        """Whether what a method makes of a text is only shown: ``print(str(args).replace(", ", "\\n"))``."""
        call = module.parents.get(method)
        if method.attr not in _METHODS or not isinstance(call, ast.Call) or call.func is not method:
            return False
        around = module.parents.get(call)
        if isinstance(around, ast.Attribute):
            return self.is_result_shown(module, around)
        return isinstance(around, ast.Call) and call in around.args and self.is_shown(module, around)

    def _is_logging(self, package: str) -> bool:
        """Whether functions of a package that are named as if they showed something do so, and nothing else."""
        return package in self.packages or package in sys.stdlib_module_names
