"""Reaching definitions on ``ast``: which assignments of a place can hold when a statement runs.

Branches whose condition folds to false are not taken. Loops and exception handlers are taken for possible.
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


class Reached(Struct):
    """The definitions that can hold, and whether what held before can hold still."""

    found: list[Binding] = field(default_factory=list)
    open: bool = True
    ends: bool = False  # control does not come out at the end (return, raise, ...)


class Flow:
    """Looks for the definitions, among ``made``, of one place in one scope."""

    def __init__(self, module: Module, made: Sequence[Binding], truth: Truth, case: Case = lambda _: None) -> None:
        self.module, self.truth, self.case = module, truth, case
        self._made: dict[ast.AST, list[Binding]] = {}
        self._holds: dict[ast.AST, list[Binding]] = {}  # statements, and those around them, with the definitions inside
        for binding in made:
            self._made.setdefault(binding.node, []).append(binding)
            for node in (binding.node, *module.ancestors(binding.node)):
                self._holds.setdefault(node, []).append(binding)

    def defines(self, node: ast.AST) -> list[Binding]:
        """The definitions that a statement makes by itself."""
        return self._made.get(node, [])

    def before(self, node: ast.AST) -> Reached:
        """What can hold when the statement of ``node`` starts, inside its function, class or module body."""
        statement = self.module.statement(node)
        result = Reached(self._within(statement, node))
        while True:
            parent = self.module.parents[statement]
            block = _block_of(parent, statement)
            for earlier in reversed(block[: block.index(statement)] if block else []):
                step = self.through(earlier)
                result.found = step.found + result.found
                if not step.open:
                    result.open = False
                    return result
            if isinstance(parent, BARRIERS):
                return result
            if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
                result.found = self._anything(parent) + result.found  # an earlier turn of the loop
                if block is getattr(parent, "body", None) and self.defines(parent):
                    result.open = False  # each turn of a ``for`` begins with its own value
                    return result
            elif isinstance(parent, ast.If):
                result.found = self._anything(parent.test) + result.found
            elif isinstance(parent, ast.match_case):
                heads = [self.module.parents[parent].subject, parent.pattern, parent.guard]  # type: ignore[attr-defined]
                result.found = [made for head in heads if head for made in self._anything(head)] + result.found
            elif isinstance(parent, (ast.With, ast.AsyncWith)):
                result.found = self._heads(parent) + result.found
                if self.defines(parent):
                    result.open = False
                    return result
            elif isinstance(parent, ast.ExceptHandler):
                result.found = self.defines(parent) + result.found
            elif _is_try(parent) and block is parent.finalbody:  # type: ignore[attr-defined]
                result.found = self._anything(parent) + result.found  # it may have failed anywhere
            elif _is_try(parent) and block is not None and block is not parent.body:  # type: ignore[attr-defined]
                step = self.block(parent.body)  # type: ignore[attr-defined]
                result.found = step.found + result.found
                if not step.open and block is parent.orelse:  # type: ignore[attr-defined]
                    result.open = False
                    return result
            if isinstance(parent, ast.ExceptHandler):
                attempt = self.module.parents[parent]
                for inner in attempt.body:  # type: ignore[attr-defined]
                    result.found = self._anything(inner) + result.found
            statement = self.module.statement(parent)  # an except handler or a match case stands in its statement

    def block(self, statements: Sequence[ast.stmt]) -> Reached:
        """What can hold after a list of statements."""
        result = Reached()
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

    def through(self, node: ast.stmt) -> Reached:
        """What one statement leaves behind."""
        try:
            return self._through(node)
        except RecursionError:  # hundreds of branches in each other, as a long chain of elif is
            return Reached(self._anything(node))

    def _through(self, node: ast.stmt) -> Reached:
        own = self.defines(node)
        if isinstance(node, ast.If):
            branches = [self.block(node.body), self.block(node.orelse)]
            if branches[0].ends is branches[1].ends and node not in self._holds:
                return _join(branches)  # the condition changes nothing here
            known = self.truth(node.test)
            result = _join(branches if known is None else branches[:1] if known else branches[1:])
            return Reached(self._anything(node.test) + result.found, True, result.ends) if result.open else result
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if isinstance(node, ast.While) and self.truth(node.test) is False:
                result = self.block(node.orelse)
                return Reached(self._anything(node.test) + result.found, result.open, result.ends)
            endless = isinstance(node, ast.While) and self.truth(node.test) is True
            return Reached(self._anything(node), not (endless and self._always(node.body)))
        if isinstance(node, (ast.With, ast.AsyncWith)):
            if any(_called(item.context_expr) in SWALLOWS for item in node.items):
                return Reached(self._anything(node), not own)
            inner = self.block(node.body)
            own = self._heads(node)
            return Reached(
                inner.found if not inner.open else own + inner.found, inner.open and not self.defines(node), inner.ends
            )
        if _is_try(node):
            return self._through_try(node)
        if isinstance(node, ast.Match):
            taken = self.case(node) if node in self._holds else None
            return Reached(self._anything(node)) if taken is None else self.block(taken.body)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return Reached(self._anything(node), not own)
        return Reached(self._anything(node), not own, _leaves(node))

    def _always(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a body that runs at least once defines the place before anything in it can leave."""
        for statement in body:
            if any(isinstance(part, (ast.Break, ast.Continue)) for part in walk(statement)):
                return False
            if not self.through(statement).open:
                return True
        return False

    def _through_try(self, node: ast.stmt) -> Reached:
        body = self.block([*node.body, *node.orelse])  # type: ignore[attr-defined]
        paths = [body]
        for handler in node.handlers:  # type: ignore[attr-defined]
            step = self.block(handler.body)
            if step.open:  # what the body had set before it failed can hold still
                step.found = [made for inner in node.body for made in self._anything(inner)] + step.found  # type: ignore[attr-defined]
            paths.append(step)
        result = _join(paths)
        last = self.block(node.finalbody)  # type: ignore[attr-defined]
        if not last.open:
            return last
        return Reached(result.found + last.found, result.open, result.ends or last.ends)

    def _heads(self, node: ast.With | ast.AsyncWith) -> list[Binding]:
        """What the head of a ``with`` binds."""
        return [made for item in node.items for made in self._anything(item.context_expr)] + self.defines(node)

    def _within(self, statement: ast.AST, node: ast.AST) -> list[Binding]:
        """What the statement of ``node`` itself may have bound before ``node``: by ``:=``, or in an earlier turn of its loop."""
        if isinstance(statement, ast.While):
            return self._anything(statement)
        parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, (ast.stmt, ast.match_case))]
        found = [made for part in parts for made in self._anything(part) if not isinstance(part, ast.ExceptHandler)]
        return found + (self.defines(statement) if isinstance(statement, (ast.With, ast.AsyncWith)) else [])

    def _anything(self, node: ast.AST) -> list[Binding]:
        """Every definition inside a statement."""
        return self._holds.get(node, [])


def _join(paths: list[Reached]) -> Reached:
    alive = [path for path in paths if not path.ends]
    found: list[Binding] = []
    for path in alive:
        found += [made for made in path.found if made not in found]
    return Reached(found, any(path.open for path in alive), not alive)


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    return isinstance(node, ast.Expr) and _called(node.value) in EXITS


def _called(node: ast.expr) -> str:
    """The last name of what an expression calls; "" where it is no call of a name."""
    called = node.func if isinstance(node, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _is_try(node: ast.AST) -> bool:
    return type(node).__name__ in ("Try", "TryStar")


def _block_of(parent: ast.AST, statement: ast.AST) -> list[ast.stmt] | None:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return None
