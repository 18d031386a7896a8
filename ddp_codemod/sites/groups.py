"""Where a project makes the default process group: code that would make one by itself is then no site."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.discover.listing import is_under
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.find import Finder
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.users import Users


class Groups:
    """Which files and packages make the default group."""

    def __init__(self, project: Project, finder: Finder, users: Users) -> None:
        self.project, self.finder, self.users = project, finder, users
        self._known: dict[str, bool] = {}

    def made_for(self, module: Module) -> bool:
        """Whether a file, the package that it lies in, or one that it imports from makes the default group."""
        return self._makes(module) or any(self._makes(other) for other in self._imported(module))

    def _makes(self, module: Module) -> bool:
        top = self.project.package(module.name)
        if top not in self._known:
            names = [module.name] if top == module.name else [name for name in self.users.names if is_under(name, top)]
            trees = [tree for name in names for tree in self.project.programs(name)]
            self._known[top] = any(use.surface.default_group for tree in trees for use in self.finder.uses(tree))
        return self._known[top]

    def _imported(self, module: Module) -> Iterator[Module]:
        """The files of the project that a file imports from."""
        for node in module.nodes.get(ast.ImportFrom, ()):
            assert isinstance(node, ast.ImportFrom)
            source = self.project.find("." * node.level + (node.module or ""), module)
            if source is not None:
                yield source
