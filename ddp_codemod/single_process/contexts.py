"""Contexts of several processes, which one process has no use for: ``with Join([net]):``."""

from __future__ import annotations

import ast

from ddp_codemod.edits.imports import add_import, bound_import
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.model import ApiCall, SpanEdit

ENTERS = frozenset({"enter_context"})


def rewrite_context(work: EntryRewriter, seen: ApiCall) -> None:
    """``Join([net])`` becomes ``Join([net]) if is_initialized() else contextlib.nullcontext()``."""
    module, node = seen.module, seen.node
    if not is_entered(module, node):
        work.problem(seen, "single-value-used", name=seen.name)
        return
    if work.refused(seen):
        return
    nothing = write_null_context(work.api, module, node)
    if isinstance(nothing, Reason):
        work.problem(seen, nothing.key, **dict(nothing.args))
        return
    test = work.test(seen)
    if test:
        written, result = nothing
        work.found.span_edits += result
        work.either(module, node, test, f"{written}()", Reason.of("single-context", text=last_name(node.func)))


def is_entered(module: Module, node: ast.expr) -> bool:
    """Whether an expression is entered as a context, and what that gives is not used."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.withitem):
        return parent.optional_vars is None
    if isinstance(parent, ast.Call) and node in parent.args and last_name(parent.func) in ENTERS:
        return isinstance(module.parents.get(parent), ast.Expr)
    return False


def write_null_context(api: Api, module: Module, node: ast.AST) -> tuple[str, list[SpanEdit]] | Reason:
    """How a file writes the context that does nothing, and the import that it needs."""
    package, _, name = api.table.nothing.rpartition(".")
    before = module.place(module.statement(node)).start
    written = bound_import(module.source, module.tree, package, name, before=before)
    if written is not None:
        return written, []
    found = add_import(module.source, module.tree, package, None, before=before)
    if isinstance(found, Reason):
        return found
    insertion, written = found
    if insertion is None:
        return f"{written}.{name}", []
    reason = Reason.of("edit-import", Meaning.IMPORT, name=package)
    return f"{written}.{name}", [SpanEdit(module, insertion.offset, insertion.offset, insertion.text, reason)]
