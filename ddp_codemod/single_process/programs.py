"""Which programs of a project get to a call, as people start them."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct, field

from ddp_codemod.parse.python import Module, walk
from ddp_codemod.single_process.collected_calls import collect_from_part
from ddp_codemod.single_process.external_calls import ExternalCalls
from ddp_codemod.single_process.model import ApiCall
from ddp_codemod.single_process.reachability import DEFS, ImportGraph, ProgramReach, has_main_guard, top_level_statements
from ddp_codemod.single_process.required_group import Where, enclosing_conditions, find_required_group
from ddp_codemod.single_process.shared_reach import SharedReach
from ddp_codemod.sites.project import Project

ALONE = 2  # programs that may be followed without success, each alone; from then on they are followed together
PROGRAMS = 60  # a start that more programs share is for review


class Programs(Struct, eq=False):
    """The programs that reach a start, and all their code."""

    reaches: list[ProgramReach] = field(default_factory=list)
    bound: ApiCall | None = None  # what a program needs a group for
    chosen: Where | None = None  # the condition under which it does that
    tests: list[str] = field(default_factory=list)  # tests that may reach it
    loaded: list[Module] = field(default_factory=list)  # of the programs, files that only define: someone else runs them

    @property
    def parts(self) -> list[tuple[Module, ast.AST]]:
        """The code of all, each part once."""
        return list({id(part): (module, part) for one in self.reaches for module, part in one.parts}.values())


class ProgramFinder:
    """Follows programs, each once for all starts."""

    def __init__(self, project: Project, outside: ExternalCalls) -> None:
        self.project, self.outside, self.api = project, outside, outside.api
        self.importers = ImportGraph(project)
        self.shared = SharedReach(project, self.api.passing)
        self._missed = 0  # programs that import the file of a start and do not get to it
        self._reaches: dict[str, ProgramReach] = {}
        self._bounds: dict[str, ApiCall] = {}  # by programs, what they need a group for

    def of(self, start: ApiCall) -> Programs:
        """The programs that get to a call; the search ends at one that requires a group."""
        found = Programs()
        around = {start.node, *start.module.ancestors(start.node)}
        for module, started, test in self._find_programs_and_tests(start.module):
            if test:
                found.tests.append(module.name)
                continue
            if len(found.reaches) > PROGRAMS:
                break
            program = self._reach_from(module)
            if self.shared.runs_any_part(program, around):
                found.bound = self._find_required_group(program, start)
            if found.bound is not None:
                found.bound, found.chosen = find_required_group(self.outside, program, start, found.bound)
                break
            if not program.holds(start.module, start.node):
                self._missed += 1
                continue
            found.reaches.append(program)
            if not started and not _does_something(module):
                found.loaded.append(module)
        return found

    def _find_programs_and_tests(self, module: Module) -> Iterator[tuple[Module, bool, bool]]:
        """The programs and tests that import a file, whether they are surely made to be started, and whether they are tests."""
        found = self._find_importing_programs(module)
        while some := list(islice(found, 1 if self._missed < ALONE else self._missed * ALONE)):
            if len(some) > 1:
                self.shared.add(self._reach_from(one) for one, _, test in some if not test)
            yield from some

    def _find_importing_programs(self, module: Module) -> Iterator[tuple[Module, bool, bool]]:
        for one in self.importers.of(module):
            started = has_main_guard(one) or one.name in self.project.commands
            if started or not self.importers.direct(one):
                yield one, started, self.is_test(one)

    def is_test(self, module: Module) -> bool:
        """Whether a file is a test by its folder, or by its name and by what it holds: a program may be called ``test_net.py``."""
        patterns = [pattern for table in self.api.tables for pattern in table.tests]
        if any("/" in pattern and fnmatch.fnmatch(module.name, pattern) for pattern in patterns):
            return True
        last = module.name.rpartition("/")[2]
        named = any(fnmatch.fnmatch(last, pattern) for pattern in patterns if "/" not in pattern)
        return named and (not has_main_guard(module) or self._has_tests(module))

    def _has_tests(self, module: Module) -> bool:
        for node in module.tree.body:
            if isinstance(node, DEFS) and node.name.lower().startswith("test"):
                return True
            if isinstance(node, ast.ClassDef):
                if any(name.endswith("TestCase") for base in node.bases for name in self.api.resolver.names(module, base)):
                    return True
                if any(isinstance(part, DEFS) and part.name.startswith("test") for part in node.body):
                    return True
        return False

    def _reach_from(self, module: Module) -> ProgramReach:
        if module.name not in self._reaches:
            whole = module.name in self.project.commands or self._exposes_all_functions(module)
            self._reaches[module.name] = ProgramReach(self.project, module, self.api.passing, whole)
        return self._reaches[module.name]

    def _exposes_all_functions(self, module: Module) -> bool:
        """Whether a call makes a command of every function of the file: ``fire.Fire()``."""
        calls = (node for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call) and not node.args)
        return any(name in self.api.exposes for call in calls for name in self.api.resolver.names(module, call.func))

    def _find_required_group(self, program: ProgramReach, start: ApiCall) -> ApiCall | None:
        """What a program that reaches the start needs a group for: what it does in any case before what it may do.

        It is followed no further than that takes.
        """
        name, held = program.entry.name, program.holds(start.module, start.node)
        around = {start.node, *start.module.ancestors(start.node)}
        rest: Iterator[tuple[Module, ast.AST]] = iter(()) if held and name in self._bounds else program.follow()
        perhaps: ApiCall | None = None
        for module, part in rest:
            held = held or part in around
            if name not in self._bounds:
                bound = [one for one in collect_from_part(self.outside, module, part).calls if one.call.role == "bound"]
                perhaps = perhaps or next(iter(bound), None)
                for one in (one for one in bound if not any(enclosing_conditions(one.module, one.node))):
                    self._bounds.setdefault(name, one)
            if held and name in self._bounds:
                break
        else:
            if perhaps is not None:
                self._bounds.setdefault(name, perhaps)
        return self._bounds.get(name) if held else None


def _does_something(module: Module) -> bool:
    """Whether a file does something where it is started, besides defining and importing."""
    for part in top_level_statements(module, True):
        if isinstance(part, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
            return True
        if isinstance(part, (ast.Expr, ast.Assign, ast.AnnAssign)) and any(isinstance(node, ast.Call) for node in walk(part)):
            return True
    return False
