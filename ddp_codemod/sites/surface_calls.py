"""Finds where a project uses a surface: calls whose callee resolves to one of its names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.idioms import Forwarder
from ddp_codemod.catalog.model import Parameter, Surface
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.qualified_names import QualifiedNames
from ddp_codemod.sites.resolver import Resolver
from ddp_codemod.sites.target_keys import TARGETS

TYPE = "type"  # the key under which OpenMMLab's registries find the class
TARGET = next(key for key, inside in TARGETS.items() if not inside)  # and that of Hydra's, a text, with its arguments beside it


class Use(Struct, frozen=True, eq=False):
    """One call of a surface, or of a project class that derives from one.

    Such a class may have an ``__init__`` of its own: then ``overrides_init`` is true, and ``base`` is its ``super().__init__(...)``.
    """

    module: Module
    call: ast.Call
    surface: Surface
    overrides_init: bool = False
    skip: int = 0  # arguments in front of the surface's own: ``partial(f, ...)`` has one; below 0: those that it lacks
    unknown_receiver: bool = False  # found by its name alone
    base: Use | None = None
    alone: bool = True  # what is called can be nothing but the surface
    alike: bool = False  # ... or else nothing but surfaces to which what is passed means the same
    handed: bool = False  # the call is of code that is not read, and is handed the surface itself, to call it
    # what the call does not pass: the surface's own default, or something that another call passes, or which of both is not known
    omits: Literal["default", "elsewhere", "unknown"] = "default"
    guard: str = ""  # the condition under which the call is one of the surface, where it may be of something else
    table: ast.expr | None = None  # no text of the file is the call: this holds its keywords, ``Thread(target=f, kwargs=table)``

    @property
    def is_exact(self) -> bool:
        """Whether what is passed here surely goes to the surface, or to others to which it means the same."""
        return not self.handed and not self.unknown_receiver and (self.alone or self.alike)

    def argument(self, parameter: Parameter) -> ast.expr | None:
        """What the call passes for a parameter, by keyword or position; None where it is omitted."""
        for keyword in self.call.keywords:
            if keyword.arg == parameter.name:
                return keyword.value
        if parameter.position is None or not 0 <= parameter.position + self.skip < len(self.call.args):
            return None
        before = self.call.args[: parameter.position + self.skip + 1]
        return None if any(isinstance(part, ast.Starred) for part in before) else before[-1]

    @property
    def spread(self) -> list[ast.expr]:
        """The mappings and sequences that the call unpacks, through which a parameter may come unseen."""
        starred = [part.value for part in self.call.args if isinstance(part, ast.Starred)]
        return starred + [keyword.value for keyword in self.call.keywords if keyword.arg is None]


class Finder:
    """Looks for the uses of a set of surfaces."""

    def __init__(
        self, surfaces: Iterable[Surface], resolver: Resolver, words: frozenset[str], forwarders: Iterable[Forwarder] = ()
    ) -> None:
        self.surfaces, self.resolver = list(surfaces), resolver
        self.words = words  # the last names that can mean a surface in this project
        self._by_name = {
            name.rsplit(".", 1)[-1]: surface for surface in self.surfaces if surface.by_name for name in surface.names
        }
        self._partials: dict[str, set[str]] = {}
        for forwarder in forwarders:
            for name in forwarder.names if forwarder.args is None else ():
                self._partials.setdefault(name.rsplit(".", 1)[-1], set()).update(forwarder.names)
        self._surfaces = QualifiedNames((name, surface) for surface in self.surfaces for name in surface.names)

    def surface(self, name: str) -> Surface | None:
        """The surface of a qualified name."""
        return self._surfaces.get(name)

    def surface_of_class(self, name: str) -> Surface | None:
        """The surface that is made where a text names a class of the project with its module, and that class has no ``__init__`` of its own."""
        package, _, last = name.rpartition(".")
        path = f"/{package.replace('.', '/')}.py"
        for file in self.resolver.project.names if package else ():
            module = self.resolver.project.module(file) if f"/{file}".endswith(path) else None
            for node in module.nodes.get(ast.ClassDef, ()) if module is not None else ():
                assert isinstance(node, ast.ClassDef)
                assert module is not None
                if node.name == last and module.parents.get(node) is module.tree:
                    bases = (self.surface(base) for base in self.resolver.external_bases(module, node))
                    makers = self.resolver.member(Definition(module, node), "__init__")
                    own = any(isinstance(maker, Definition) for maker in makers)  # where the surface is called, if it is
                    return None if own else next((base for base in bases if base is not None), None)
        return None

    def uses(self, module: Module, more_words: Mapping[str, object] = {}) -> Iterator[Use]:
        """The calls of surfaces in a file, in source order."""
        also = aliases_of(module, self.words)
        for node in module.nodes.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            last = last_name(node.func)
            if last in self.words or last in also or last in more_words or last == "__init__":
                use = self.use(module, node)
                known = use is not None or last not in self._by_name or not isinstance(node.func, ast.Attribute)
                if not known and not self.resolver.resolve(module, node.func):
                    use = Use(module, node, self._by_name[last], unknown_receiver=True)
                if use is not None:
                    yield use
            elif not last and isinstance(node.func, (ast.Call, ast.Subscript)):  # looked up by a name that is a text
                if (use := self.use(module, node)) is not None:
                    yield use
            elif last == "dict" and (typed := self._use_in_dictionary(module, node)) is not None:
                yield typed
            elif last in self._partials:
                yield from self._find_partial_uses(module, node, also)

    def use(self, module: Module, node: ast.Call) -> Use | None:
        """The use that a call is, as far as its callee is known."""
        entities = self.resolver.resolve(module, node.func)
        return next((use for entity in entities if (use := self._use_of_entity(module, node, entity))), None)

    def _use_in_dictionary(self, module: Module, node: ast.Call) -> Use | None:
        """The use in ``dict(type=Class, ...)`` or ``dict(_target_="package.Class", ...)``, which the object is made from."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if isinstance(text := given.get(TARGET), ast.Constant):
            named = self.surface(str(text.value))
            return Use(module, node, named) if named is not None else None
        if TYPE not in given or last_name(given[TYPE]) not in self.words:
            return None
        found = (self.surface(name) for name in self.resolver.names(module, given[TYPE]))
        return next((Use(module, node, surface) for surface in found if surface is not None), None)

    def _find_partial_uses(self, module: Module, node: ast.Call, also: set[str]) -> Iterator[Use]:
        """The use in ``partial(surface, ...)``."""
        if not node.args or last_name(node.args[0]) not in self.words | also:
            return
        if not any(name in self._partials[last_name(node.func)] for name in self.resolver.names(module, node.func)):
            return
        for entity in self.resolver.resolve(module, node.args[0]):
            use = self._use_of_entity(module, node, entity)
            if use is not None:
                yield replace(use, skip=1, omits="elsewhere")
                return

    def _use_of_entity(self, module: Module, node: ast.Call, entity: object) -> Use | None:
        if isinstance(entity, External):
            surface = self.surface(entity.name.removesuffix(".__init__").removesuffix(".__call__"))
            return Use(module, node, surface) if surface else None
        if isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef):
            for base in self.resolver.external_bases(entity.module, entity.node):
                surface = self.surface(base)
                if surface is not None:
                    return self._resolve_base_initializer(Use(module, node, surface), entity)
        return None

    def _resolve_base_initializer(self, use: Use, entity: Definition, depth: int = 0) -> Use:
        """The use of a project class, with where its own ``__init__`` calls that of the surface."""
        makers = self.resolver.member(entity, "__init__")
        own = next((maker for maker in makers if isinstance(maker, Definition)), None)
        if own is None:
            return use
        for node in walk(own.node):
            if isinstance(node, ast.Call) and last_name(node.func) == "__init__":
                for called in self.resolver.resolve(own.module, node.func):
                    if isinstance(called, External) and self.surface(called.name.removesuffix(".__init__")) is use.surface:
                        return replace(use, overrides_init=True, base=Use(own.module, node, use.surface))
                    around = called.module.parents.get(called.node) if isinstance(called, Definition) else None
                    if isinstance(called, Definition) and isinstance(around, ast.ClassDef) and depth < 5:
                        return self._resolve_base_initializer(use, Definition(called.module, around), depth + 1)
        return replace(use, overrides_init=True)

    def derived(self, module: Module) -> list[str]:
        """Names of the classes of a file that derive from a surface."""
        found: list[str] = []
        for node in module.nodes.get(ast.ClassDef, ()):
            assert isinstance(node, ast.ClassDef)
            if node.bases and any(self.surface(base) for base in self.resolver.external_bases(module, node)):
                found.append(node.name)
        return found
