"""Uses of the distributed package that end where torch was built without it: there the package is a bare module."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.edits.imports import bound_import
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api
from ddp_codemod.single_process.availability_tests import AvailabilityTests
from ddp_codemod.single_process.condition import Condition, Conditions
from ddp_codemod.single_process.enclosing_tests import is_for_type_checker
from ddp_codemod.single_process.entry_rewriter import stands_bare
from ddp_codemod.single_process.fstrings import start_of, text_of
from ddp_codemod.single_process.guarded_statements import GuardedStatement, check_statement, write_guards
from ddp_codemod.single_process.model import EntryRewrite, Problem, SpanEdit
from ddp_codemod.single_process.reachability import DEFS, Def, imports_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Calls that the rewriting for one process puts under a test, with all that is in them; and those that it makes right by themselves.
_WHOLE = ("start", "skip", "gather")
_ITSELF = ("answer", "wrap", "sampler", "context", "launch", "strategy")
# What fails at once where a name is missing, and is caught.
_CAUGHT = frozenset({"", "AttributeError", "Exception", "BaseException"})
_CAUGHT_IMPORT = _CAUGHT - {"AttributeError"} | {"ImportError", "ModuleNotFoundError"}


class MissingPackage:
    """Puts each such use of one entry under the question for the package, or names its line."""

    def __init__(self, api: Api, conditions: Conditions, available: AvailabilityTests, rewritten: bool) -> None:
        """``rewritten``: the calls of the entry that are known are put under a test of their own."""
        self.api, self.conditions, self.available, self.rewritten = api, conditions, available, rewritten
        self.found = EntryRewrite()
        self._guarded: list[GuardedStatement] = []

    def run(self, parts: Iterable[tuple[Module, ast.AST]]) -> EntryRewrite:
        """All edits and problems in the code of an entry."""
        parts = list(parts)
        for module, part in (*parts, *_find_evaluated_nodes(parts)):
            if self.api.candidate(module.source.text.encode("utf-8", "replace")):
                for node in walk(part):
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        self._guard_import(module, node)
                    elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                        self._guard_use(module, node)
                    elif isinstance(node, ast.Raise):
                        self._rewrite_refusal(module, node)
        for problem in filter(None, (check_statement(one.module, one.statement) for one in self._guarded)):
            self.found.problems.append(problem)
        if not self.found.problems:
            self.found.span_edits += write_guards(self._guarded)
        return self.found

    def _is_missing(self, name: str) -> bool:
        """Whether a name of the package is not there in a build without it."""
        return self.api.watched(name) and not self.api.there(name)

    def _guard_import(self, module: Module, node: ast.Import | ast.ImportFrom) -> None:
        """An import of what is missing runs only where the package is there."""
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            missing = [name for name in names if self._is_missing(name)]
        else:
            names = [] if node.level else [f"{node.module}.{alias.name}" for alias in node.names]
            missing = (
                names if node.module and self._is_missing(node.module) else [name for name in names if self._is_missing(name)]
            )
        if not missing or self._is_guarded(module, node, _CAUGHT_IMPORT):
            return
        if len(missing) < len(names):
            self._note_problem(module, node, missing[0])
            return
        asked = self._write_availability_test(module, node)
        if isinstance(asked, Reason):
            self.found.problems.append(Problem(module, node, asked))
            return
        self.found.span_edits += asked.span_edits
        reason = Reason.of("single-bare-import", name=", ".join(name.rpartition(".")[2] for name in missing))
        self._guarded.append(GuardedStatement(module, node, asked.text, node, reason))

    def _rewrite_refusal(self, module: Module, node: ast.Raise) -> None:
        """``if not dist.is_available(): raise``, whose like samplers have, goes where what comes behind it needs the package no more."""
        around = module.parents.get(node)
        if (
            not isinstance(around, ast.If)
            or not self.available.lacks(module, around, node)
            or self._is_guarded(module, around, _CAUGHT)
        ):
            return
        suite = next((s for s in self._find_suites(module.parents.get(around)) if around in s), [])
        if (
            not self.rewritten
            or around.orelse
            or len(around.body) > 1
            or suite[-1:] == [around]
            or check_statement(module, around)
        ):
            self._note_problem(module, node, self.api.table.available)
            return
        place = module.place(around)
        first, last = module.source.line_span(place.start)[0], module.source.line_span(place.end)[1]
        self.found.span_edits.append(SpanEdit(module, first, last, "", Reason.of("single-bare-refusal")))

    def _find_suites(self, node: ast.AST | None) -> list[list[ast.AST]]:
        found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
        return [suite for suite in found if isinstance(suite, list)]

    def _guard_use(self, module: Module, node: ast.Name | ast.Attribute) -> None:
        parent = module.parents.get(node)
        if isinstance(parent, ast.Attribute) or not self._may_resolve(module, node):
            return
        name = next((one for one in self.api.resolver.names(module, node) if self._is_missing(one)), "")
        if not name or self._is_guarded(module, node, _CAUGHT) or self._is_annotation_only(module, node):
            return
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        known = self.api.named(name)
        if known is not None and known.role in _ITSELF and (self.rewritten or known.role in ("wrap", "sampler")):
            return
        if call is not None and name in self.api.questions:
            self._rewrite_question(module, node, call)
        elif (default := _default_around(module, node)) is not None:
            self._default(module, node, default)
        elif not self._is_in_known_call(module, node):
            self._note_problem(module, node, name)

    def _may_resolve(self, module: Module, node: ast.expr) -> bool:
        """Whether a name is worth resolving: its root is imported."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and (node.id in imports_of(module) or "*" in imports_of(module))

    def _is_guarded(self, module: Module, node: ast.AST, caught: frozenset[str]) -> bool:
        """Whether the use runs only where the package is there or for a type checker, or is caught where it fails."""
        if is_for_type_checker(module, node):
            return True
        child = node
        for around in module.ancestors(node):
            if (
                isinstance(around, ast.Try)
                and child in around.body
                and any(_caught_names(one) & caught for one in around.handlers)
            ):
                return True
            if isinstance(around, _FUNCTIONS):
                break
            child = around
        return self.available.guarded(module, node)

    def _is_annotation_only(self, module: Module, node: ast.AST) -> bool:
        """Whether a use is the annotation of a variable in a function, or any where annotations are not evaluated."""
        future = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in module.tree.body)
        child = node
        for around in module.ancestors(node):
            if isinstance(around, ast.AnnAssign) and child is around.annotation:
                inside = next((at for at in module.ancestors(around) if isinstance(at, (*_FUNCTIONS, ast.ClassDef))), None)
                return future or isinstance(inside, _FUNCTIONS)
            if isinstance(around, ast.arg) or (isinstance(around, _FUNCTIONS[:2]) and child is around.returns):
                return future
            if isinstance(around, ast.stmt):
                return False
            child = around
        return False

    def _is_in_known_call(self, module: Module, node: ast.AST) -> bool:
        """Whether a use is in a call that is made only where there is a group."""
        for around in module.ancestors(node):
            if isinstance(around, ast.Call):
                call, _ = self.api.call(module, around)
                if call is not None and call.role in _WHOLE and self.rewritten:
                    return True
            if isinstance(around, ast.stmt):
                return False
        return False

    def _rewrite_question(self, module: Module, node: ast.Name | ast.Attribute, call: ast.Call) -> None:
        """``dist.is_initialized()`` becomes ``dist.is_available() and dist.is_initialized()``."""
        asked = self._write_availability_test(module, node)
        if isinstance(asked, Reason):
            self.found.problems.append(Problem(module, node, asked))
            return
        self.found.span_edits += asked.span_edits
        reason = Reason.of("single-bare-question", name=last_name(node))
        place, parent = module.place(call), module.parents.get(call)
        bare = isinstance(parent, (ast.If, ast.While, ast.Assert)) or stands_bare(module, call)
        bare |= isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And)
        self.found.span_edits.append(
            SpanEdit(module, place.start, place.start, f"{'' if bare else '('}{asked.text} and ", reason)
        )
        if not bare:
            self.found.span_edits.append(SpanEdit(module, place.end, place.end, ")", reason))

    def _default(self, module: Module, node: ast.Name | ast.Attribute, default: ast.expr) -> None:
        """``op=dist.ReduceOp.SUM`` becomes ``op=dist.ReduceOp.SUM if dist.is_available() else None``."""
        asked = self._write_availability_test(module, node)
        if isinstance(asked, Reason):
            self.found.problems.append(Problem(module, node, asked))
            return
        self.found.span_edits += asked.span_edits
        end, reason = module.place(default).end, Reason.of("single-bare-default", name=last_name(node))
        if not any((one.module, one.start) == (module, end) for one in self.found.span_edits):
            self.found.span_edits.append(SpanEdit(module, end, end, f" if {asked.text} else None", reason))

    def _write_availability_test(self, module: Module, node: ast.AST) -> Condition | Reason:
        """``is_available()`` as a file writes it."""
        package, _, name = self.api.table.available.rpartition(".")
        prefix = node
        while isinstance(prefix, ast.Attribute):
            prefix = prefix.value
            if package in self.api.resolver.names(module, prefix):
                return Condition(f"{text_of(module, prefix)}.{name}()")
        before = start_of(module, node) if isinstance(node, ast.expr) else module.place(node).start
        top, _, rest = package.partition(".")
        for whole, inner in ((package, ""), (top, f".{rest}")):
            written = bound_import(module.source, module.tree, whole, None, before=before)
            if written is not None:
                return Condition(f"{written}{inner}.{name}()")
        needed = self.conditions.imported(module, package, node)
        return needed if isinstance(needed, Reason) else Condition(f"{needed.text}.{name}()", needed.span_edits)

    def _note_problem(self, module: Module, node: ast.AST, name: str) -> None:
        self.found.problems.append(Problem(module, node, Reason.of("single-bare", Meaning.CONDITION, name=name)))


def _find_evaluated_nodes(parts: Iterable[tuple[Module, ast.AST]]) -> Iterator[tuple[Module, ast.AST]]:
    """What a file that is imported looks up for definitions that nothing of the program names: bases, defaults, decorators, annotations."""
    reached = {part for _, part in parts}
    for module in {module.name: module for module, _ in parts}.values():
        for part in module.tree.body:
            if isinstance(part, DEFS) and part not in reached:
                yield from ((module, one) for one in _find_definition_nodes(part))


def _find_definition_nodes(part: Def) -> Iterator[ast.AST]:
    yield from part.decorator_list
    if isinstance(part, ast.ClassDef):
        yield from (*part.bases, *part.keywords)
        for inner in part.body:
            yield from _find_definition_nodes(inner) if isinstance(inner, DEFS) else (inner,)
    else:
        yield from (one for one in (part.args, part.returns) if one is not None)


def _default_around(module: Module, node: ast.expr) -> ast.expr | None:
    """The default of a parameter that a use is, or an argument of."""
    child: ast.expr = node
    for around in module.ancestors(node):
        if isinstance(around, ast.arguments):
            return child if child in (*around.defaults, *around.kw_defaults) else None
        if not isinstance(around, (ast.Attribute, ast.Call)):
            return None
        child = around
    return None


def _caught_names(handler: ast.ExceptHandler) -> frozenset[str]:
    """Last names of what a handler catches; "" for all."""
    if handler.type is None:
        return frozenset({""})
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return frozenset(last_name(kind) for kind in kinds)
