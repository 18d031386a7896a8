"""Which launch files start a file of the project, itself or through what it is imported by."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Launch, Script
from ddp_codemod.sites.project import Project


class Launches:
    """The launch files of one project, by what they start."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._within: dict[str, frozenset[str]] = {}
        self._all: list[tuple[Script, Launch, list[str]]] | None = None

    def of(self, module: Module) -> list[tuple[Script, Launch]]:
        """The commands that start a file, or one that imports it."""
        return [
            (script, launch)
            for script, launch, started in self._found()
            if any(module.name in self._runs(name) for name in started)
        ]

    def _found(self) -> list[tuple[Script, Launch, list[str]]]:
        if self._all is None:
            every = ((script, launch) for script in self.project.scripts("") for launch in script.launches)
            self._all = [(script, launch, self.project.started(launch.program)) for script, launch in every]
        return self._all

    def _runs(self, name: str) -> frozenset[str]:
        """The files that run when one is started: itself, and all that it imports, directly or not."""
        if name not in self._within:
            found, todo = {name}, [name]
            while todo:
                for module in self.project.programs(todo.pop()):
                    new = {other.name for other in self._imported(module)} - found
                    found |= new
                    todo += new
            self._within[name] = frozenset(found)
        return self._within[name]

    def _imported(self, module: Module) -> Iterator[Module]:
        for node in module.nodes.get(ast.Import, ()):
            assert isinstance(node, ast.Import)
            for alias in node.names:
                yield from self._with_packages(alias.name, module)
        for node in module.nodes.get(ast.ImportFrom, ()):
            assert isinstance(node, ast.ImportFrom)
            source = "." * node.level + (node.module or "")
            yield from self._with_packages(source, module)
            for alias in node.names:
                inner = self.project.find(source + ("" if source.endswith(".") else ".") + alias.name, module)
                if inner is not None:
                    yield inner

    def _with_packages(self, dotted: str, module: Module) -> Iterator[Module]:
        """The file of a dotted name, and the packages that are imported on the way to it."""
        parts = dotted.split(".")
        for end in range(1, len(parts) + 1):
            found = self.project.find(".".join(parts[:end]) or ".", module) if any(parts[:end]) else None
            if found is not None:
                yield found
