"""How the project itself says that there are several processes, at any place of its code."""

from __future__ import annotations

import ast

from msgspec import Struct

from ddp_codemod.dataflow.calls import CallArguments, find_passed_argument
from ddp_codemod.edits.imports import add_import, bound_import
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.single_process.api import Api, passed_argument
from ddp_codemod.single_process.fstrings import start_of, text_of
from ddp_codemod.single_process.guards import Guards
from ddp_codemod.single_process.model import ApiCall, SpanEdit
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.scopes import assignment_pairs, bindings, owner_scope, scope_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Condition(Struct, frozen=True):
    """A test as source text, and the imports that it needs."""

    text: str
    span_edits: tuple[SpanEdit, ...] = ()


class Conditions:
    """The test for a group, at the call that starts it and elsewhere."""

    def __init__(self, api: Api, guards: Guards, start: ApiCall | None) -> None:
        self.api, self.guards, self.start = api, guards, start
        self.size = (
            self._find_process_count(start) if start is not None else None
        )  # the project's expression for the number of processes

    def at_start(self) -> Condition | Reason:
        """The test under which the group is made."""
        assert self.start is not None
        if self.size is not None:
            text = write_several_test(self.start.module, self.size)
            return Condition(text) if text else Reason.of("single-size", text=self.start.module.text(self.size))
        module, node = self.start.module, self.start.node
        needed = self.imported(module, "os", node)
        if isinstance(needed, Reason):
            return needed
        name = self.api.table.world_size_variable
        text = f'int({needed.text}.environ.get("{name}", "{self.api.environment[name]}")) > 1'
        return Condition(text, needed.span_edits)

    def elsewhere(self, seen: ApiCall) -> bool:
        """Whether another start cannot be put under the test of this one: its names are those of this one's function."""
        if self.start is None:
            return True
        return self.size is not None and _enclosing_function(seen) is not _enclosing_function(self.start)

    def at(self, module: Module, node: ast.AST) -> Condition | Reason:
        """The test at a place behind the start: the project's own name where it is seen there, else torch's answer."""
        named = self._find_named_test(module, node)
        if named:
            return Condition(named)
        return self.asked(module, node)

    def asked(self, module: Module, node: ast.AST) -> Condition | Reason:
        """``is_initialized()`` as this file writes it, where torch may lack the package behind ``is_available()``."""
        name, found = self.api.table.asked.rpartition(".")[2], self.package(module, node)
        if isinstance(found, Reason):
            return found
        available = self.api.table.available.rpartition(".")[2]
        first = f"{found.text}{available}() and " if self.api.bare else ""
        return Condition(f"{first}{found.text}{name}()", found.span_edits)

    def package(self, module: Module, node: ast.AST) -> Condition | Reason:
        """What is before ``is_initialized()`` in this file: ``dist.``, or nothing where functions of the package are imported."""
        package, _, name = self.api.table.asked.rpartition(".")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if package in self.api.resolver.names(module, node.func.value):
                return Condition(f"{text_of(module, node.func.value)}.")
        before = start_of(module, node)
        written = bound_import(module.source, module.tree, package, None, before=before)
        if written is not None:
            return Condition(f"{written}.")
        single = package in {
            f"{found.module}" for found in module.nodes.get(ast.ImportFrom, ()) if isinstance(found, ast.ImportFrom)
        }
        if single and not self.api.bare:
            needed = self.imported(module, package, node, name)
            return needed if isinstance(needed, Reason) else Condition(needed.text.removesuffix(name), needed.span_edits)
        needed = self.imported(module, package, node)
        return needed if isinstance(needed, Reason) else Condition(f"{needed.text}.", needed.span_edits)

    def imported(self, module: Module, package: str, node: ast.AST, name: str | None = None) -> Condition | Reason:
        """How a package is written here; the text is the name."""
        found = add_import(module.source, module.tree, package, name, before=module.place(module.statement(node)).start)
        if isinstance(found, Reason):
            return found
        insertion, written = found
        if insertion is None:
            return Condition(written)
        reason = Reason.of("edit-import", Meaning.IMPORT, name=name or package)
        return Condition(written, (SpanEdit(module, insertion.offset, insertion.offset, insertion.text, reason),))

    def _find_process_count(self, start: ApiCall) -> ast.expr | None:
        """The number of processes as the start is passed it, or as a name that is read from the environment before it."""
        found = passed_argument(start.node, start.call.world_size)
        if found is not None and not (isinstance(found, (ast.Constant, ast.UnaryOp)) and _read_number(found) in (-1, None)):
            return found
        module = start.module
        scope = scope_of(module, start.node)
        line = module.place(start.node).start
        for home in dict.fromkeys((scope, module.tree)):
            for statement in getattr(home, "body", ()):
                for target, value in assignment_pairs(statement):
                    simple = isinstance(target, (ast.Name, ast.Attribute)) and module.place(statement).end < line
                    if simple and self.reads_size(module, value) and isinstance(value, ast.Call):
                        return target
        return None

    def reads_size(self, module: Module, node: ast.expr) -> bool:
        """``int(os.environ["WORLD_SIZE"])`` and the like."""
        words = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        if self.api.table.world_size_variable not in words:
            return False
        names = {name for part in ast.walk(node) if isinstance(part, ast.expr) for name in self.api.resolver.names(module, part)}
        return (
            isinstance(node, ast.Call)
            and last_name(node.func) == "int"
            and bool(names & {"os.environ", "os.getenv", "os.environ.get"})
        )

    def _find_named_test(self, module: Module, node: ast.AST) -> str:
        """``n_gpus > 1`` where the project's own name is seen; "" elsewhere."""
        if self.start is not None and self.size is not None and module is self.start.module:
            home, scope = scope_of(module, self.start.node), scope_of(module, node)
            same = home is scope or home in set(module.ancestors(node))
            if same and self._has_same_meaning(module, self.size, node, home):
                return write_several_test(module, self.size, plain=True)
        counted = self.counted(module, node)
        if counted:
            return f"{counted} > 1"
        passed = self._find_passed_count(module, node)
        return write_several_test(module, passed, plain=True) if passed is not None else ""

    def _has_same_meaning(self, module: Module, size: ast.expr, node: ast.AST, home: ast.AST) -> bool:
        """Whether an expression means the same at a node as at the start."""
        for part in ast.walk(size):
            if isinstance(part, ast.Name):
                scope = scope_of(module, node)
                if owner_scope(module, scope, part.id) is not owner_scope(module, home, part.id):
                    return False
                result = bindings(module, owner_scope(module, home, part.id) or module.tree).get(part.id, [])
                if isinstance(home, ast.Module) and scope is not home and not any(one.node in home.body for one in result):
                    return False  # under the main guard: a function may be called from elsewhere
                start = module.place(self.start.node).start if self.start else 0
                if any(not isinstance(one.node, ast.arg) and module.place(one.node).start > start for one in result):
                    return False
        return True

    def counted(self, module: Module, node: ast.AST, answer: str = "1") -> str:
        """A name of the same function that an earlier plain statement filled with ``get_world_size()``, or with ``get_rank()``."""
        scope = scope_of(module, node)
        if not isinstance(scope, _FUNCTIONS):
            return ""
        line = start_of(module, node)
        for statement in scope.body:
            if module.place(statement).end > line:
                break
            for target, value in assignment_pairs(statement):
                found = self.api.call(module, value)[0] if isinstance(value, ast.Call) else None
                if isinstance(target, ast.Name) and found is not None and found.role == "answer" and found.value == answer:
                    if len(bindings(module, scope).get(target.id, ())) == 1:
                        return target.id
        return ""

    def _find_passed_count(self, module: Module, node: ast.AST) -> ast.expr | None:
        """What the function around a node handed to the function that starts the group, as the number of processes."""
        if self.start is None or not isinstance(self.size, ast.Name):
            return None
        function, scope = scope_of(self.start.module, self.start.node), scope_of(module, node)
        if not isinstance(function, _FUNCTIONS) or not isinstance(scope, _FUNCTIONS):
            return None
        line = start_of(module, node)
        for part in scope.body:
            call = part.value if isinstance(part, ast.Expr) else None
            if not isinstance(call, ast.Call) or module.place(part).end > line:
                continue
            if any(isinstance(e, Definition) and e.node is function for e in self.api.resolver.resolve(module, call.func)):
                handed = CallArguments(module, call, tuple(call.args), tuple(call.keywords))
                value = find_passed_argument(handed, function, self.size.id, False)
                if isinstance(value, (ast.Name, ast.Attribute)) and _is_bound_once(module, scope, value):
                    return value
        return None


def write_several_test(module: Module, size: ast.expr, plain: bool = False) -> str:
    """The test that a number of processes is more than one; "" where it cannot be written on a line. ``plain``: names only."""
    text = module.text(size)
    if "\n" in text or "\r" in text or isinstance(size, ast.Constant):
        return ""
    if isinstance(size, ast.IfExp):  # ``n if T else 1``
        alone = isinstance(size.orelse, ast.Constant) and size.orelse.value == 1
        inner = write_several_test(module, size.body, plain)
        if not alone or not inner or isinstance(size.test, (ast.IfExp, ast.Lambda)):
            return ""
        test = module.text(size.test)
        loose = isinstance(size.test, ast.BoolOp) and isinstance(size.test.op, ast.Or)
        return f"{f'({test})' if loose else test} and {inner}"
    simple = (ast.Name, ast.Attribute) if plain else (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)
    if not isinstance(size, simple):
        return ""
    if any(isinstance(part, (ast.Await, ast.NamedExpr, ast.Lambda, ast.Yield)) for part in ast.walk(size)):
        return ""
    return f"{text} > 1"


def _read_number(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else 0
    return node.value if isinstance(node, ast.Constant) else 0


def _is_bound_once(module: Module, scope: ast.AST, value: ast.expr) -> bool:
    root = value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    home = owner_scope(module, scope, root.id)
    return home is not None and len(bindings(module, home).get(root.id, ())) == 1


def _enclosing_function(seen: ApiCall) -> ast.AST:
    return next((at for at in seen.module.ancestors(seen.node) if isinstance(at, _FUNCTIONS)), seen.module.tree)
