"""Which of many programs run a piece of code: followed once for all of them."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable

from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.reachability import (
    DEFS,
    Mention,
    ProgramReach,
    is_registered,
    keys_of,
    mentions_of,
    top_level_statements,
)
from ddp_codemod.sites.project import Project


class SharedReach:
    """Comes to the parts that ``Reach.follow`` comes to, for programs that are added together: a set of programs is a number, a bit each.

    A program on its own is followed part by part, in an order that a reader can follow; of most it is asked only whether it gets to
    one place, and they share most of their code.
    """

    def __init__(self, project: Project, passing: frozenset[str]) -> None:
        """``passing``: decorators that keep nothing."""
        self.project, self.passing = project, passing
        self._programs: dict[str, int] = {}  # by their files
        self._runs: dict[ast.AST, int] = {}  # the programs that run a part, ...
        self._loads: dict[str, int] = {}  # ... a file's top level, ...
        self._mentions: dict[Mention, int] = {}  # ... that mention a name, ...
        self._could: dict[ast.AST, int] = {}  # ... that could run a definition, if they mentioned it
        self._known_by: dict[Mention, list[tuple[Module, ast.AST]]] = {}  # those definitions, by what has to be mentioned
        self._fresh: dict[ast.AST, int] = {}  # the programs for which a part is still to be followed
        self._todo: deque[tuple[Module, ast.AST]] = deque()

    def add(self, programs: Iterable[ProgramReach]) -> None:
        """Follow more programs."""
        for program in programs:
            if (entry := program.entry).name not in self._programs:
                own = self._programs[entry.name] = 1 << len(self._programs)
                self._load_module(entry, own, True)
                for exposed in entry.tree.body if program.whole else ():
                    if isinstance(exposed, DEFS):
                        self._run_part(entry, exposed, own)
        while self._todo:
            module, part = self._todo.popleft()
            self._follow_part(module, part, self._fresh.pop(part))

    def runs_any_part(self, program: ProgramReach, around: Iterable[ast.AST]) -> bool:
        """Whether a program that was added runs one of the parts; True of one that was not."""
        own = self._programs.get(program.entry.name)
        return own is None or any(self._runs.get(node, 0) & own for node in around)

    def _follow_part(self, module: Module, part: ast.AST, by: int) -> None:
        names, files = mentions_of(self.project, module, part)
        known = self._mentions
        for name in names:
            before = known.get(name, 0)
            if fresh := by & ~before:
                known[name] = before | fresh
                for other, definition in self._known_by.get(name, ()):
                    self._run_part(other, definition, fresh & self._could[definition])
        for other in files:
            self._load_module(other, by, False)

    def _load_module(self, module: Module, by: int, started: bool) -> None:
        before = self._loads.get(module.name, 0)
        if not (fresh := by & ~before):
            return
        self._loads[module.name] = before | fresh
        for part in top_level_statements(module, started):
            if not isinstance(part, DEFS) or is_registered(part, self.passing):
                self._run_part(module, part, fresh)
                continue
            keys = keys_of(module, part)
            if part not in self._could:
                for key in keys:
                    self._known_by.setdefault(key, []).append((module, part))
            self._could[part] = self._could.get(part, 0) | fresh
            self._run_part(module, part, fresh & (self._mentions.get(keys[0], 0) | self._mentions.get(keys[1], 0)))

    def _run_part(self, module: Module, part: ast.AST, by: int) -> None:
        before = self._runs.get(part, 0)
        if fresh := by & ~before:
            self._runs[part] = before | fresh
            if part not in self._fresh:
                self._todo.append((module, part))
            self._fresh[part] = self._fresh.get(part, 0) | fresh
