"""Calls that load code by a name which is only known when the program runs, so that nothing here can tell what they load."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator

from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.model import Place
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.word_search import WordMatcher

_LOADERS = ("import_module", "__import__", "run_path", "run_module", "exec_module", "exec")
_READERS = ("open", "read", "read_text", "compile", "read_bytes")
_WORDS = WordMatcher(_LOADERS)


def find_unfollowed_loads(
    context: Context, files: Iterable[str], runs: Callable[[Module, ast.AST], bool], reached: Container[str]
) -> Iterator[Place]:
    """Those in code of the files that ``runs``; of what they load, ``reached`` is looked at already."""
    project = context.tracer.resolver.project
    for name in sorted(files):
        for module in project.programs(name) if _WORDS.some(project.data(name)) else ():
            calls = [call for word in _LOADERS for call in index_calls(module).get(word, ())]
            for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
                if runs(module, call) and not _is_followed(context, module, call, reached):
                    yield module.place(call)


def _is_followed(context: Context, module: Module, call: ast.Call, reached: Container[str]) -> bool:
    """Whether all that a call can load is known, and looked at or none of the project's."""
    if not call.args or (isinstance(call.func, ast.Attribute) and call.func.attr == "exec"):
        return True  # a method of another kind
    if last_name(call.func) == "exec" and not _runs_file(call.args[0]):
        return True
    project, folder = context.tracer.resolver.project, module.name.rpartition("/")[0] or "."
    if find_literal_prefix(call.args[0]):
        return True  # the imports of a file hold all that begins so
    values = [
        source.value.value if isinstance(source.value, Known) else None
        for source in context.tracer.evaluate(module, call.args[0])
    ]
    return bool(values) and all(
        isinstance(value, str) and ((file := project.file(value, folder)) is None or file in reached) for value in values
    )


def _runs_file(code: ast.expr) -> bool:
    """Whether code to run is read from a file whose name is not written out: the imports of a file hold the others."""
    calls = [part for part in ast.walk(code) if isinstance(part, ast.Call)]
    if any(last_name(call.func) == "open" and call.args and find_literal_prefix(call.args[0]) for call in calls):
        return False
    return any(last_name(call.func) in _READERS for call in calls)
