"""What a name or dotted expression stands for: something from outside, or a function, class or module of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.sites.dynamic_lookups import Lookup, deduplicate, find_lookup
from ddp_codemod.sites.entities import Definition, Entity, External, Instance, ModuleRef, Variable
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.scopes import Binding, bindings, bindings_from_inside, is_public, lasting_bindings, owner_scope, scope_of

DEPTH = 12  # aliases of aliases; cycles end here
_NONE = 1_000_000  # more than there can be at a time


class Resolver:
    """Resolves names through imports, aliases, re-exports and classes; every answer is a list of what it can be."""

    def __init__(self, project: Project, same: frozenset[str] = frozenset()) -> None:
        self.project = project
        self.same = same  # qualified names of calls that give back what stands for their first argument
        self._known: dict[Variable, list[Entity]] = {}
        self._resolving: dict[Variable, int] = {}  # those whose answer is being worked out, numbered from the outermost
        # the outermost of them that was met again and omitted, so that what lies inside has no full answer yet
        self._open = _NONE

    def names(self, module: Module, node: ast.expr) -> list[str]:
        """Qualified names, from outside the project, that an expression can stand for."""
        return [entity.name for entity in self.resolve(module, node) if isinstance(entity, External)]

    def resolve(self, module: Module, node: ast.expr, depth: int = 0) -> list[Entity]:
        """All that an expression can stand for; [] where that is not known."""
        if depth > DEPTH:
            return self._give_up()
        if isinstance(node, ast.Name):
            scope = scope_of(module, node)
            if depth:
                return self._resolve_name(module, scope, node.id, depth)
            key = ("resolved", scope, node.id)
            if key not in module.cache:
                module.cache[key] = self._resolve_name(module, scope, node.id, depth)
            return module.cache[key]  # type: ignore[return-value]
        if isinstance(node, ast.Attribute):
            found: list[Entity] = []
            for entity in self.resolve(module, node.value, depth + 1):
                found += self.member(entity, node.attr, depth + 1)
            return deduplicate(found)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
                return self._resolve_enclosing_bases(module, node, depth)
            if (looked_up := self._find_lookup(module, node, depth)) is not None:
                return self._resolve_lookup(module, looked_up, depth)
            called = self.resolve(module, node.func, depth + 1)
            if node.args and any(isinstance(entity, External) and entity.name in self.same for entity in called):
                return self.resolve(module, node.args[0], depth + 1)
            return self._resolve_call(called, depth)
        if isinstance(node, ast.Subscript) and (looked_up := self._find_lookup(module, node, depth)) is not None:
            return self._resolve_lookup(module, looked_up, depth)
        return []

    def _find_lookup(self, module: Module, node: ast.Call | ast.Subscript, depth: int) -> Lookup | None:
        def names(asked: ast.expr) -> list[str]:
            return [entity.name for entity in self.resolve(module, asked, depth + 1) if isinstance(entity, External)]

        def texts(asked: ast.expr) -> list[str]:
            said = self._find_only_value(module, asked, depth)[1]
            return [said.value] if isinstance(said, ast.Constant) and isinstance(said.value, str) else []

        def made(asked: ast.expr) -> ast.expr:
            home, value = self._find_only_value(module, asked, depth)
            return value if home is module else asked

        return find_lookup(node, names, texts, made)

    def _find_only_value(self, module: Module, node: ast.expr, depth: int) -> tuple[Module, ast.expr]:
        """The expression that a name stands for where it never stands for another; others as they are."""
        found = self.resolve(module, node, depth + 1) if isinstance(node, (ast.Name, ast.Attribute)) else []
        if len(found) == 1 and isinstance(found[0], Variable):
            one = found[0]
            made = bindings(one.module, one.scope).get(one.name, [])
            made = [*made, *bindings_from_inside(one.module, one.scope, one.name)]
            if len(made) == 1 and made[0].kind == "value" and made[0].value is not None:
                return one.module, made[0].value
        return module, node

    def _resolve_lookup(self, module: Module, looked_up: Lookup, depth: int) -> list[Entity]:
        if looked_up.owner is None:
            return [ModuleRef(other) if (other := self.project.find(looked_up.module, module)) else External(looked_up.module)]
        held = self.resolve(module, looked_up.owner, depth + 1)
        for name in looked_up.path:
            held = deduplicate([found for entity in held for found in self.member(entity, name, depth + 1)])
        return held

    def _resolve_call(self, called: list[Entity], depth: int) -> list[Entity]:
        """The objects that a call gives: of a class that is called, or of the class that a function says it returns."""
        found: list[Entity] = []
        for entity in called:
            if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                found.append(Instance(entity.module, entity.node))
            elif isinstance(entity, Definition) and not isinstance(entity.node, ast.ClassDef):
                found += self.annotated(entity.module, entity.node.returns, depth)
        return found

    def annotated(self, module: Module, annotation: ast.expr | None, depth: int = 0) -> list[Entity]:
        """The instances that an annotation names: ``C``, ``"C"``, ``Optional[C]``, ``C | None``."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str) and annotation.value.isidentifier():
            named = self.member(ModuleRef(module), annotation.value, depth + 1)
        elif isinstance(annotation, (ast.Name, ast.Attribute)):
            named = self.resolve(module, annotation, depth + 1)
        elif isinstance(annotation, ast.Subscript):
            return self.annotated(module, annotation.slice, depth + 1)
        elif isinstance(annotation, ast.BinOp):
            return [*self.annotated(module, annotation.left, depth + 1), *self.annotated(module, annotation.right, depth + 1)]
        else:
            return []
        return [Instance(e.module, e.node) for e in named if isinstance(e, Definition) and isinstance(e.node, ast.ClassDef)]

    def _resolve_name(self, module: Module, scope: ast.AST, name: str, depth: int) -> list[Entity]:
        home = owner_scope(module, scope, name)
        if home is None:
            return self._resolve_star_imports(module, name, depth)
        return self.variable(Variable(module, home, name), depth)

    def variable(self, variable: Variable, depth: int = 0) -> list[Entity]:
        """What a name of a scope can stand for, over all its bindings."""
        known = self._known.get(variable)
        if known is not None:
            return known
        if variable in self._resolving:  # ``x = x.lower()``: nothing new comes from here
            self._open = min(self._open, self._resolving[variable])
            return []
        found: list[Entity] = []
        made = lasting_bindings(variable.module, variable.scope, variable.name)
        made = [*made, *bindings_from_inside(variable.module, variable.scope, variable.name)]
        number, around = len(self._resolving), self._open if self._resolving else _NONE
        self._resolving[variable], self._open = number, _NONE
        try:
            for binding in made:
                found += self._resolve_binding(variable.module, variable.scope, binding, depth)
        finally:
            del self._resolving[variable]
        found = deduplicate(found)
        if self._open >= number:
            self._known[variable], self._open = found, around
        else:
            self._open = min(self._open, around)
        return found

    def _give_up(self) -> list[Entity]:
        """No answer, because it would take too long."""
        self._open = -1
        return []

    def _resolve_binding(self, module: Module, scope: ast.AST, binding: Binding, depth: int) -> list[Entity]:
        if binding.kind == "import":
            return self._resolve_import(module, binding, depth)
        if binding.kind in ("function", "class"):
            return [Definition(module, binding.node)]  # type: ignore[arg-type]
        if binding.kind == "parameter":
            return self.parameter(module, binding.node, depth) if isinstance(binding.node, ast.arg) else []
        if binding.kind == "value" and binding.value is not None:
            if depth >= DEPTH:
                return self._give_up()
            annotation = binding.node.annotation if isinstance(binding.node, ast.AnnAssign) else None
            made = self.resolve(module, binding.value, depth + 1) or self.annotated(module, annotation, depth)
            return made or [Variable(module, scope, binding.name)]
        return []

    def parameter(self, module: Module, node: ast.arg, depth: int = 0) -> list[Entity]:
        """``self`` and ``cls`` are the class around a method; an annotation that names a project class gives its instance."""
        scope = module.parents[module.parents[node]]
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        around = module.parents.get(scope)
        arguments = [*scope.args.posonlyargs, *scope.args.args]
        if isinstance(around, ast.ClassDef) and arguments and arguments[0] is node:
            decorators = {part.id for part in scope.decorator_list if isinstance(part, ast.Name)}
            if "staticmethod" not in decorators:
                return [Definition(module, around)] if "classmethod" in decorators else [Instance(module, around)]
        return self.annotated(module, node.annotation, depth)

    def _resolve_import(self, module: Module, binding: Binding, depth: int) -> list[Entity]:
        if not binding.member:
            found = self.project.find(binding.module, module)
            return [ModuleRef(found)] if found else [External(binding.module)]
        if binding.member == "*":
            return []
        source = self.project.find(binding.module, module)
        if source is not None and source is not module:
            return self.member(ModuleRef(source), binding.member, depth + 1)
        joint = "" if binding.module.endswith(".") else "."
        submodule = self.project.find(f"{binding.module}{joint}{binding.member}", module)
        if submodule is not None:
            return [ModuleRef(submodule)]
        return [] if binding.module.startswith(".") else [External(f"{binding.module}.{binding.member}")]

    def member(self, entity: Entity, name: str, depth: int = 0) -> list[Entity]:
        """What ``entity.name`` can stand for."""
        if depth > DEPTH:
            return self._give_up()
        if isinstance(entity, External):
            return [External(f"{entity.name}.{name}")]
        if isinstance(entity, ModuleRef):
            return self._resolve_module_member(entity.module, name, depth)
        if isinstance(entity, (Definition, Instance)) and isinstance(entity.node, ast.ClassDef):
            return self._resolve_class_member(entity.module, entity.node, name, depth)
        if isinstance(entity, Variable):  # a field that holds an object
            held = [other for other in self.variable(entity, depth + 1) if not isinstance(other, (Variable, External))]
            return deduplicate([found for other in held for found in self.member(other, name, depth + 1)])
        return []

    def _resolve_module_member(self, module: Module, name: str, depth: int) -> list[Entity]:
        if name in bindings(module, module.tree):
            return self.variable(Variable(module, module.tree, name), depth + 1)
        given = self._resolve_star_imports(module, name, depth)
        if not module.name.endswith("__init__.py") or (submodule := self.project.find(f".{name}", module)) is None:
            return given
        given = [entity for entity in given if not isinstance(entity, External)]
        stars = [self.project.find(star.module, module) for star in bindings(module, module.tree).get("*", ())]
        # ``from .launch import *`` gives the package its function ``launch`` after the module; another star may do so before
        return given if given and submodule in stars else [*given, ModuleRef(submodule)]

    def _resolve_class_member(self, module: Module, node: ast.ClassDef, name: str, depth: int) -> list[Entity]:
        for owner_module, base in self.lineage(module, node):
            for binding in bindings(owner_module, base).get(name, ()):
                if binding.kind in ("function", "class"):
                    return [Definition(owner_module, binding.node)]  # type: ignore[arg-type]
                if binding.kind == "value":
                    return [Variable(owner_module, base, name)]
        return [External(f"{outer}.{name}") for outer in self.external_bases(module, node, depth)]

    def lineage(self, module: Module, node: ast.ClassDef, depth: int = 0) -> Iterator[tuple[Module, ast.ClassDef]]:
        """A class and the project classes that it derives from, nearest first."""
        yield module, node
        if depth >= DEPTH:
            self._give_up()
        else:
            for base in node.bases:
                for entity in self.resolve(module, base, depth + 1):
                    if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef) and entity.node is not node:
                        yield from self.lineage(entity.module, entity.node, depth + 1)

    def subclasses(self, node: ast.ClassDef) -> list[tuple[Module, ast.ClassDef]]:
        """The classes of the project that derive from a class, directly or not."""
        found: list[tuple[Module, ast.ClassDef]] = []
        classes, words = {node}, [node.name]
        for word in words:  # grows while subclasses of subclasses turn up
            for file in self.project.deriving(word):
                module = self.project.module(file)
                for other in module.nodes.get(ast.ClassDef, ()) if module else ():
                    assert isinstance(other, ast.ClassDef)
                    assert module is not None
                    if other not in classes and any(self._is_one_of(module, base, classes) for base in other.bases):
                        classes.add(other)
                        words.append(other.name)
                        found.append((module, other))
        return found

    def _is_one_of(self, module: Module, base: ast.expr, classes: set[ast.ClassDef]) -> bool:
        return any(isinstance(entity, Definition) and entity.node in classes for entity in self.resolve(module, base))

    def external_bases(self, module: Module, node: ast.ClassDef, depth: int = 0) -> list[str]:
        """Qualified names of the classes from outside that a class derives from, directly or through project classes."""
        found: list[str] = []
        for owner_module, base in self.lineage(module, node, depth):
            for expression in base.bases:
                found += self.names(owner_module, expression)
        return list(dict.fromkeys(found))

    def _resolve_enclosing_bases(self, module: Module, node: ast.AST, depth: int) -> list[Entity]:
        around = next((at for at in module.ancestors(node) if isinstance(at, ast.ClassDef)), None)
        found: list[Entity] = []
        for base in around.bases if around else ():
            for entity in self.resolve(module, base, depth + 1):
                if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
                    found.append(Instance(entity.module, entity.node))
                elif isinstance(entity, External):
                    found.append(entity)
        return found

    def _resolve_star_imports(self, module: Module, name: str, depth: int) -> list[Entity]:
        found: list[Entity] = []
        for binding in bindings(module, module.tree).get("*", ()):
            source = self.project.find(binding.module, module)
            if source is None:
                if not binding.module.startswith("."):
                    found.append(External(f"{binding.module}.{name}"))
            elif source is not module and is_public(source, name):
                found += self._resolve_module_member(source, name, depth + 1) if depth < DEPTH else self._give_up()
        return deduplicate(found)
