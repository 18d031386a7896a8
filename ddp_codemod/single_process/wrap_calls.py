"""Calls that hand a model to the group: only where there is one."""

from __future__ import annotations

import ast

from ddp_codemod.model import Reason
from ddp_codemod.single_process import model_uses
from ddp_codemod.single_process.api import passed_argument
from ddp_codemod.single_process.entry_rewriter import EntryRewriter
from ddp_codemod.single_process.guarded_statements import GuardedStatement
from ddp_codemod.single_process.model import ApiCall, Problem
from ddp_codemod.sites.entities import Definition


def rewrite_wrap(work: EntryRewriter, seen: ApiCall) -> None:
    module, node = seen.module, seen.node
    model = passed_argument(node, seen.call.model)
    own = work.api.derived(module, node)
    if (own is not None and not _only_delegates(own)) or model is None:
        work.problem(seen, "single-own-class", text=module.text(node.func))
        return
    if work.refused(seen):
        return
    test = work.test(seen)
    if not test:
        return
    _note_missing_move(work, seen)
    reason = Reason.of("single-wrap", text=module.text(model))
    parent = module.parents.get(node)
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    target = targets[0] if len(targets) == 1 and isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(parent, ast.stmt) and target is not None and module.text(target) == module.text(model):
        work.guarded.append(GuardedStatement(module, parent, test, node, reason))
    elif model_uses.is_plain(model):
        work.either(module, node, test, module.text(model), reason)
    elif isinstance(parent, ast.Assign) and model_uses.is_plain(target) and node.args:
        work.guarded.append(GuardedStatement(module, parent, test, node, reason, wrap=True))
    else:
        work.problem(seen, "single-wrap-place")


def _only_delegates(own: Definition) -> bool:
    """Whether a class of the project does no more than to look up in the model what the wrapping has not."""
    body = [part for part in own.node.body if not isinstance(part, (ast.Pass, ast.Expr))]
    return all(isinstance(part, ast.FunctionDef) and part.name == "__getattr__" for part in body)


def _note_missing_move(work: EntryRewriter, seen: ApiCall) -> None:
    """Note where nothing but the wrapping is seen to move the inputs to the device."""
    if (
        seen.call.moves is None
        or passed_argument(seen.node, None)
        or not any(k.arg == seen.call.moves for k in seen.node.keywords)
    ):
        return
    for module, call in model_uses.calls_of_wrapped(work.wrapped):
        around = [at for at in module.ancestors(call) if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        tree = around[-1] if around else module.tree
        if not any(isinstance(part, ast.Attribute) and part.attr in work.api.moved for part in ast.walk(tree)):
            work.found.unseen.append(Problem(module, call, Reason.of("single-inputs", text=module.text(call.func))))
