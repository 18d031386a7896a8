"""Where a project makes the default process group: code that would make one by itself is then no site."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.catalog.model import Surface
from ddp_codemod.discover.listing import is_under
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Finder
from ddp_codemod.sites.surface_users import SurfaceUsers


class GroupCreators:
    """Which files and packages make the default group."""

    def __init__(self, project: Project, finder: Finder, users: SurfaceUsers) -> None:
        self.project, self.finder, self.users = project, finder, users
        self._known: dict[str, set[str]] = {}

    def has_group_for(self, module: Module, but: Surface | None = None) -> bool:
        """Whether a file, the package that it lies in, or one that it imports from makes the default group, with another surface."""
        return self._creates_group(module, but) or any(
            self._creates_group(other, but) for other in self._find_imported_files(module)
        )

    def creates_on_import(self, names: Iterable[str], but: Surface) -> bool:
        """Whether one of some files makes the default group as soon as it is imported, with another surface."""
        trees = [tree for name in sorted(names) for tree in self.project.programs(name)]
        uses = (use for tree in trees for use in self.finder.uses(tree) if use.surface.default_group and use.surface is not but)
        return any(isinstance(scope_of(use.module, use.call), ast.Module) for use in uses)

    def _creates_group(self, module: Module, but: Surface | None) -> bool:
        top = self.project.package(module.name)
        if top not in self._known:
            names = [module.name] if top == module.name else [name for name in self.users.names if is_under(name, top)]
            trees = [tree for name in names for tree in self.project.programs(name)]
            uses = (use.surface for tree in trees for use in self.finder.uses(tree))
            self._known[top] = {surface.id for surface in uses if surface.default_group}
        return bool(self._known[top] - ({but.id} if but is not None else set()))

    def _find_imported_files(self, module: Module) -> Iterator[Module]:
        """The files of the project that a file imports from."""
        for node in module.nodes.get(ast.ImportFrom, ()):
            assert isinstance(node, ast.ImportFrom)
            source = self.project.find("." * node.level + (node.module or ""), module)
            if source is not None:
                yield source
