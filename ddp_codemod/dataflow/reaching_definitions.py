"""Reaching definitions on ``ast``: which assignments of a place can hold when a statement runs.

Branches whose condition folds to false are not taken. Loops and exception handlers count as possible.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from ddp_codemod.parse.python import Module, walk
from ddp_codemod.sites.scopes import FUNCTIONS, Binding

Truth = Callable[[ast.expr], "bool | None"]
Case = Callable[[ast.Match], "ast.match_case | None"]
BARRIERS = (ast.Module, ast.ClassDef, *FUNCTIONS)
EXITS = frozenset({"exit", "_exit", "quit", "abort"})
SWALLOWS = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})  # contexts after which a failed body goes on


class ReachingSet(Struct):
    """The definitions that can hold, and whether what held before can hold still."""

    found: list[Binding] = field(default_factory=list)
    open: bool = True
    ends: bool = False  # control does not reach the end (return, raise, ...)


class ReachingDefinitions:
    """Looks for the definitions, among ``made``, of one place in one scope."""

    def __init__(self, module: Module, made: Sequence[Binding], truth: Truth, case: Case = lambda _: None) -> None:
        self.module, self.truth, self.case = module, truth, case
        self._by_node: dict[ast.AST, list[Binding]] = {}
        self._holds: dict[ast.AST, list[Binding]] = {}  # statements, and those around them, with the definitions inside
        for binding in made:
            self._by_node.setdefault(binding.node, []).append(binding)
            for node in (binding.node, *module.ancestors(binding.node)):
                self._holds.setdefault(node, []).append(binding)

    def defines(self, node: ast.AST) -> list[Binding]:
        """The definitions that a statement makes by itself."""
        return self._by_node.get(node, [])

    def before(self, node: ast.AST) -> ReachingSet:
        """What can hold when the statement of ``node`` starts, inside its function, class or module body."""
        statement = self.module.statement(node)
        result = ReachingSet(self._find_inner_definitions(statement, node))
        while True:
            parent = self.module.parents[statement]
            block = _find_block(parent, statement)
            for earlier in reversed(block[: block.index(statement)] if block else []):
                step = self.through(earlier)
                result.found = step.found + result.found
                if not step.open:
                    result.open = False
                    return result
            if isinstance(parent, BARRIERS):
                return result
            if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
                result.found = self._list_all_definitions(parent) + result.found  # an earlier turn of the loop
                if block is getattr(parent, "body", None) and self.defines(parent):
                    result.open = False  # each turn of a ``for`` begins with its own value
                    return result
            elif isinstance(parent, ast.If):
                result.found = self._list_all_definitions(parent.test) + result.found
            elif isinstance(parent, ast.match_case):
                heads = [self.module.parents[parent].subject, parent.pattern, parent.guard]  # type: ignore[attr-defined]
                result.found = [made for head in heads if head for made in self._list_all_definitions(head)] + result.found
            elif isinstance(parent, (ast.With, ast.AsyncWith)):
                result.found = self._list_with_bindings(parent) + result.found
                if self.defines(parent):
                    result.open = False
                    return result
            elif isinstance(parent, ast.ExceptHandler):
                result.found = self.defines(parent) + result.found
            elif _is_try(parent) and block is parent.finalbody:  # type: ignore[attr-defined]
                result.found = self._list_all_definitions(parent) + result.found  # it may have failed anywhere
            elif _is_try(parent) and block is not None and block is not parent.body:  # type: ignore[attr-defined]
                step = self.block(parent.body)  # type: ignore[attr-defined]
                result.found = step.found + result.found
                if not step.open and block is parent.orelse:  # type: ignore[attr-defined]
                    result.open = False
                    return result
            if isinstance(parent, ast.ExceptHandler):
                attempt = self.module.parents[parent]
                for inner in attempt.body:  # type: ignore[attr-defined]
                    result.found = self._list_all_definitions(inner) + result.found
            statement = self.module.statement(parent)  # an except handler or a match case is in its statement

    def block(self, statements: Sequence[ast.stmt]) -> ReachingSet:
        """What can hold after a list of statements."""
        result = ReachingSet()
        for statement in statements:
            step = self.through(statement)
            if not step.open:
                result.found, result.open = step.found, False
            else:
                result.found = result.found + step.found
            if step.ends:
                result.ends = True
                return result
        return result

    def through(self, node: ast.stmt) -> ReachingSet:
        """What one statement leaves behind."""
        try:
            return self._apply_statement(node)
        except RecursionError:  # hundreds of branches in each other, as a long chain of elif is
            return ReachingSet(self._list_all_definitions(node))

    def _apply_statement(self, node: ast.stmt) -> ReachingSet:
        own = self.defines(node)
        if isinstance(node, ast.If):
            branches = [self.block(node.body), self.block(node.orelse)]
            if branches[0].ends is branches[1].ends and node not in self._holds:
                return _join_paths(branches)  # the condition changes nothing here
            known = self.truth(node.test)
            result = _join_paths(branches if known is None else branches[:1] if known else branches[1:])
            return ReachingSet(self._list_all_definitions(node.test) + result.found, True, result.ends) if result.open else result
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if isinstance(node, ast.While) and self.truth(node.test) is False:
                result = self.block(node.orelse)
                return ReachingSet(self._list_all_definitions(node.test) + result.found, result.open, result.ends)
            endless = isinstance(node, ast.While) and self.truth(node.test) is True
            return ReachingSet(self._list_all_definitions(node), not (endless and self._is_always_defined(node.body)))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_get_callee_name(item.context_expr) in SWALLOWS for item in node.items):
                return ReachingSet(self._list_all_definitions(node), not own)
            inner = self.block(node.body)
            own = self._list_with_bindings(node)
            return ReachingSet(
                inner.found if not inner.open else own + inner.found, inner.open and not self.defines(node), inner.ends
            )
        if _is_try(node):
            return self._apply_try(node)
        if isinstance(node, ast.Match):
            taken = self.case(node) if node in self._holds else None
            return ReachingSet(self._list_all_definitions(node)) if taken is None else self.block(taken.body)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return ReachingSet(self._list_all_definitions(node), not own)
        return ReachingSet(self._list_all_definitions(node), not own, _is_exit(node))

    def _is_always_defined(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a body that runs at least once defines the place before anything in it can leave."""
        for statement in body:
            if any(isinstance(part, (ast.Break, ast.Continue)) for part in walk(statement)):
                return False
            if not self.through(statement).open:
                return True
        return False

    def _apply_try(self, node: ast.stmt) -> ReachingSet:
        body = self.block([*node.body, *node.orelse])  # type: ignore[attr-defined]
        paths = [body]
        for handler in node.handlers:  # type: ignore[attr-defined]
            step = self.block(handler.body)
            if step.open:  # what the body had set before it failed can hold still
                step.found = [made for inner in node.body for made in self._list_all_definitions(inner)] + step.found  # type: ignore[attr-defined]
            paths.append(step)
        result = _join_paths(paths)
        last = self.block(node.finalbody)  # type: ignore[attr-defined]
        if not last.open:
            return last
        return ReachingSet(result.found + last.found, result.open, result.ends or last.ends)

    def _list_with_bindings(self, node: ast.With | ast.AsyncWith) -> list[Binding]:
        """What the head of a ``with`` binds."""
        return [made for item in node.items for made in self._list_all_definitions(item.context_expr)] + self.defines(node)

    def _find_inner_definitions(self, statement: ast.AST, node: ast.AST) -> list[Binding]:
        """What the statement of ``node`` itself may have bound before ``node``: by ``:=``, or in an earlier turn of its loop."""
        if isinstance(statement, ast.While):
            return self._list_all_definitions(statement)
        parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, (ast.stmt, ast.match_case))]
        found = [made for part in parts for made in self._list_all_definitions(part) if not isinstance(part, ast.ExceptHandler)]
        return found + (self.defines(statement) if isinstance(statement, (ast.With, ast.AsyncWith)) else [])

    def _list_all_definitions(self, node: ast.AST) -> list[Binding]:
        """Every definition inside a statement."""
        return self._holds.get(node, [])


def _join_paths(paths: list[ReachingSet]) -> ReachingSet:
    alive = [path for path in paths if not path.ends]
    found: list[Binding] = []
    for path in alive:
        found += [made for made in path.found if made not in found]
    return ReachingSet(found, any(path.open for path in alive), not alive)


def _is_exit(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    return isinstance(node, ast.Expr) and _get_callee_name(node.value) in EXITS


def _get_callee_name(node: ast.expr) -> str:
    """The last name of what an expression calls; "" where it is no call of a name."""
    called = node.func if isinstance(node, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _is_try(node: ast.AST) -> bool:
    return type(node).__name__ in ("Try", "TryStar")


def _find_block(parent: ast.AST, statement: ast.AST) -> list[ast.stmt] | None:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return None
