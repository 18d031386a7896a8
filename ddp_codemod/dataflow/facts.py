"""Folding of conditions under a platform's facts."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from functools import cached_property, partial

import msgspec

from ddp_codemod.catalog.model import Fact, FactValue
from ddp_codemod.dataflow.blocks import find_in_preceding
from ddp_codemod.dataflow.branches import find_branch, list_pattern_constants
from ddp_codemod.dataflow.demands import is_device_demand
from ddp_codemod.dataflow.field_stores import find_stores_by_text
from ddp_codemod.dataflow.fold import TRUTHY, UNKNOWN, FoldResult, Known, fold, truth
from ddp_codemod.dataflow.opened_gates import AS_WRITTEN, NOTHING_OPENED, EditedConditions
from ddp_codemod.dataflow.reaching_definitions import ReachingDefinitions
from ddp_codemod.dataflow.values import Frame
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, Variable
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.scopes import Binding, bindings, bindings_from_inside, enclosing_scopes, owner_scope, scope_of

FEW = 8
BODIES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Facts:
    """What conditions in a project come to on one platform.

    ``open_words`` are texts that may be edited (backend names): a variable that holds one decides no condition.
    ``present`` says which fact tells whether a name is there: ``hasattr(torch.distributed, "ProcessGroupNCCL")``.
    ``switches``: what a variable is set to by hand decides a condition; of backends only ``names`` do, where it does not.
    ``edited``: the conditions that edits take out or answer otherwise.
    """

    def __init__(
        self,
        resolver: Resolver,
        facts: Mapping[str, FactValue],
        open_words: Container[str],
        names: Container[str] = (),
        present: Mapping[str, str] = {},
        switches: bool = True,
        edited: EditedConditions = AS_WRITTEN,
    ) -> None:
        self.resolver, self.facts, self.open_words = resolver, facts, open_words
        self.names, self.present, self.switches, self.edited = names, present, switches, edited
        self._folded: dict[tuple[ast.expr, Frame | None], FoldResult] = {}
        self._flows: dict[tuple[ast.AST, str], ReachingDefinitions] = {}

    @cached_property
    def unset(self) -> Facts:
        """The same facts, under which a switch that the project sets by hand may be on as well as off."""
        told = (self.resolver, self.facts, self.open_words, self.names, self.present)
        return Facts(*told, False, self.edited)

    @cached_property
    def closed(self) -> Facts:
        """The same facts for the code as it is, in which no edit has opened a check for a device."""
        told = (self.resolver, self.facts, self.open_words, self.names, self.present)
        return Facts(*told, self.switches, msgspec.structs.replace(self.edited, opened=NOTHING_OPENED))

    def truth(self, module: Module, node: ast.expr, frame: Frame | None = None) -> bool | None:
        """Whether a condition is true on the platform; None where that is open."""
        return truth(self.fold(module, node, frame))

    def fold(self, module: Module, node: ast.expr, frame: Frame | None = None) -> FoldResult:
        """What an expression gives on the platform. What depends on itself is unknown."""
        key = (node, frame)
        if key not in self._folded:
            self._folded[key] = UNKNOWN
            self._folded[key] = fold(node, lambda part: self._look_up_fact(module, part, frame))
        return self._folded[key]

    def _look_up_fact(self, module: Module, node: ast.expr, frame: Frame | None) -> FoldResult:
        call = node if isinstance(node, ast.Call) and not node.args and not node.keywords else None
        named = call.func if call else node
        if isinstance(named, (ast.Name, ast.Attribute)):
            for name in self.resolver.names(module, named):
                found = self.facts.get(f"{name}()" if call else name)
                if found is not None:
                    return self.edited.answer(self.resolver, module, name, call) or as_value(found)
        if isinstance(node, ast.Name):
            return self._fold_name(module, node, frame)
        if isinstance(node, ast.Attribute):
            return self._fold_member(module, node)
        if isinstance(node, ast.Call):
            return self._fold_hasattr(module, node) or self._fold_call(module, node)
        return UNKNOWN

    def _fold_hasattr(self, module: Module, node: ast.Call) -> Known | None:
        """``hasattr(torch, "npu")`` where a fact about torch.npu is true: then it is there."""
        if isinstance(node.func, ast.Name) and node.func.id == "hasattr" and len(node.args) == 2:
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
            if isinstance(name, str) and isinstance(node.args[0], (ast.Name, ast.Attribute)):
                for owner_name in self.resolver.names(module, node.args[0]):
                    told = self.facts.get(self.present.get(f"{owner_name}.{name}", ""))
                    if isinstance(told, bool):
                        return Known(told)
                    inside = f"{owner_name}.{name}."
                    if any(fact.startswith(inside) and value is True for fact, value in self.facts.items()):
                        return Known(True)
        return None

    def _fold_name(self, module: Module, node: ast.Name, frame: Frame | None) -> FoldResult:
        home = owner_scope(module, scope_of(module, node), node.id)
        if home is None:
            return UNKNOWN
        made = bindings(module, home).get(node.id, [])
        if any(binding.kind == "parameter" for binding in made):
            within = frame.find(home) if frame else None
            if within is None or node.id not in within.bound or len(made) != 1:
                return UNKNOWN
            bound_module, bound, outer = within.bound[node.id]
            return self._hide_open_words(self.fold(bound_module, bound, outer))
        found = self.definitions(module, node)
        if found and all(binding.kind == "import" for binding in found):
            return self._fold_member(module, node)
        return self._merge_bindings(module, found, frame)

    def definitions(self, module: Module, node: ast.Name) -> list[Binding]:
        """The bindings of a name that can hold where it is used."""
        scope = scope_of(module, node)
        home = owner_scope(module, scope, node.id)
        if home is None:
            return []
        if home is not scope or not isinstance(home, BODIES):
            last = self.find_at_end(module, home, node.id)
            return [*self._find_at_call(module, home, scope, node.id, last), *last] if isinstance(home, ast.Module) else last
        made = bindings(module, home)[node.id]
        if bindings_from_inside(module, home, node.id):
            return _add_inside_bindings(module, home, node.id, made)
        if len(made) == 1 and _is_unconditional(module, made[0], home):
            return made
        reached = self._make_flow(module, made, (home, node.id)).before(node)
        return [*_select_parameters(made), *reached.found] if reached.open else reached.found

    def find_at_end(self, module: Module, home: ast.AST, name: str) -> list[Binding]:
        """The bindings of a name that can hold once the body of its scope has run: what functions inside see."""
        made = bindings(module, home).get(name, [])
        if not isinstance(home, BODIES):
            return made
        key = ("at-end", home, name)
        if key not in module.cache:
            module.cache[key] = made  # while its own conditions are being folded
            reached = self._make_flow(module, made, (home, name)).block(home.body)
            found = [*_select_parameters(made), *reached.found] if reached.open else reached.found
            # a scope that never ends (a server's loop) still has its bindings
            module.cache[key] = _add_inside_bindings(module, home, name, found) or made
        return module.cache[key]  # type: ignore[return-value]

    def _find_at_call(self, module: Module, home: ast.Module, scope: ast.AST, name: str, last: list[Binding]) -> list[Binding]:
        """The bindings of a module's name that hold while the module itself calls the function around, and are replaced later."""
        made = bindings(module, home).get(name, [])
        around = (scope, *enclosing_scopes(module, scope))
        names = {at.name for at in around if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef))}
        if len(made) < 2 or not names:
            return []
        found: list[Binding] = []
        for call in module.nodes.get(ast.Call, ()):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
                if scope_of(module, call) is home and self.unreachable(module, call) is None:
                    found += self._make_flow(module, made, (home, name)).before(call).found
        return [binding for binding in dict.fromkeys(found) if binding not in last]

    def _make_flow(self, module: Module, made: list[Binding], of: tuple[ast.AST, str]) -> ReachingDefinitions:
        branch = partial(self._decide_branch, module)
        found = self._flows.get(of) or ReachingDefinitions(module, made, branch, partial(self.case, module))
        if len(made) > FEW:
            self._flows[of] = found  # what is soon made takes more room than time
        return found

    def _merge_bindings(self, module: Module, found: list[Binding], frame: Frame | None) -> FoldResult:
        """The one value that all bindings give, if they do."""
        results: list[FoldResult] = []
        for binding in found:
            if binding.kind != "value" or binding.value is None or (not self.switches and self._is_switch(binding.value)):
                return UNKNOWN
            results.append(self.fold(module, binding.value, frame))
        if not results or any(other != results[0] or type(other) is not type(results[0]) for other in results):
            return UNKNOWN
        return self._hide_open_words(results[0])

    def _is_switch(self, value: ast.expr) -> bool:
        """Whether somebody chose what a variable holds: a constant that is no backend's name."""
        return isinstance(value, ast.Constant) and not (isinstance(value.value, str) and value.value.lower() in self.names)

    def _fold_member(self, module: Module, node: ast.Attribute | ast.Name) -> FoldResult:
        """A constant of another module of the project."""
        if isinstance(node, ast.Attribute) and find_stores_by_text(module, ast.unparse(node)):
            return UNKNOWN
        for entity in self.resolver.resolve(module, node):
            if isinstance(entity, Variable) and isinstance(entity.scope, ast.Module):
                made = bindings(entity.module, entity.scope).get(entity.name, [])
                made = _add_inside_bindings(entity.module, entity.scope, entity.name, made)
                return self._merge_bindings(entity.module, made, None)
        return UNKNOWN

    def _fold_call(self, module: Module, node: ast.Call) -> FoldResult:
        """A function of the project that is a single ``return``, such as ``def is_windows(): return os.name == "nt"``."""
        if node.args or node.keywords:
            return UNKNOWN
        for entity in self.resolver.resolve(module, node.func):
            if isinstance(entity, Definition) and isinstance(entity.node, ast.FunctionDef):
                body = [part for part in entity.node.body if not _is_docstring(part)]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                    return self._hide_open_words(self.fold(entity.module, body[0].value, None))
        return UNKNOWN

    def _hide_open_words(self, value: FoldResult) -> FoldResult:
        changes = isinstance(value, Known) and isinstance(value.value, str) and value.value.lower() in self.open_words
        return UNKNOWN if changes else value

    def unreachable(self, module: Module, node: ast.AST) -> ast.AST | None:
        """What keeps a node from running on the platform, a condition or a statement that leaves; None where it may run."""
        child = node
        for parent in module.ancestors(node):
            if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
                wanted = find_branch(parent, child)
                if wanted is not None and self._decide_branch(module, parent.test) is (not wanted):
                    return parent.test
            elif isinstance(parent, ast.BoolOp):
                for earlier in parent.values[: parent.values.index(child)] if child in parent.values else ():
                    if self.truth(module, earlier) is isinstance(parent.op, ast.Or):
                        return earlier
            elif isinstance(parent, ast.Match) and isinstance(child, ast.match_case):
                if self.case(module, parent) not in (None, child):
                    return parent.subject
            if isinstance(child, ast.stmt):
                left = self._find_earlier_exit(module, parent, child)
                if left is not None:
                    return left
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return None
            child = parent
        return None

    def _decide_branch(self, module: Module, test: ast.expr) -> bool | None:
        """Whether a branch is taken on the platform; of a demand for a device both may be, for nothing ends there any more."""
        known = self.truth(module, test)
        return None if known and self._is_demand(module, module.parents.get(test)) else known

    def _is_demand(self, module: Module, statement: ast.AST | None) -> bool:
        return bool(self.edited.demanded) and is_device_demand(self.resolver, self.edited.demanded, module, statement)

    def case(self, module: Module, node: ast.Match) -> ast.match_case | None:
        """The case that a ``match`` takes on the platform, where its subject and the patterns up to it are constants."""
        subject = self.fold(module, node.subject)
        for case in node.cases if isinstance(subject, Known) else ():
            values = list_pattern_constants(case.pattern)
            if values is None or case.guard is not None:
                return None
            if not values or subject in [self.fold(module, value) for value in values]:
                return case
        return None

    def _find_earlier_exit(self, module: Module, parent: ast.AST, child: ast.stmt) -> ast.AST | None:
        """An earlier statement of the same block after which nothing runs on the platform."""
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if not isinstance(block, list) or child not in block:
                continue
            flow = self._make_flow(module, [], (module.tree, ""))

            def ends(earlier: ast.stmt, flow: ReachingDefinitions = flow) -> ast.AST | None:
                if isinstance(earlier, ast.Assert) and self.truth(module, earlier.test) is False:
                    return None if self._is_demand(module, earlier) else earlier.test
                left = flow.through(earlier).ends
                return (earlier.test if isinstance(earlier, ast.If) else earlier) if left else None

            return find_in_preceding(module, block, block.index(child), ends)
        return None


def as_value(fact: FactValue) -> FoldResult:
    """A fact of rule data as a value."""
    if isinstance(fact, Fact):
        return Known(None) if getattr(fact, "none", False) else TRUTHY
    return Known(fact)


def _select_parameters(made: list[Binding]) -> list[Binding]:
    return [binding for binding in made if binding.kind == "parameter"]


def _is_unconditional(module: Module, binding: Binding, home: ast.AST) -> bool:
    return binding.kind == "parameter" or module.parents.get(binding.node) is home


def _add_inside_bindings(module: Module, home: ast.AST, name: str, made: list[Binding]) -> list[Binding]:
    """The bindings of a name, and those by functions inside, which may have run: then a None is only a placeholder."""
    elsewhere = bindings_from_inside(module, home, name)
    kept = [one for one in made if not (elsewhere and isinstance(one.value, ast.Constant) and one.value.value is None)]
    return [*kept, *elsewhere]


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
