"""Which files train: they call for gradients, or a library's trainer."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence, Set

from ddp_codemod.catalog.idioms import Idioms
from ddp_codemod.catalog.processes import Processes
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.project import Project

_OF_SOMETHING, _CALLED = re.compile(rb"\.[\s\\]*\Z"), re.compile(rb"[\s\\]*\(")


def find_training_files(project: Project, tables: Sequence[Processes], idioms: Sequence[Idioms]) -> set[str]:
    """The files but tests that call a method which shows that code trains: ``loss.backward()``, ``Trainer().fit(model)``.

    Those that name another framework, and none that the rule data is about, call that one's; so do all where no file names any.
    """
    if not (ours := find_framework_files(project, tables, idioms)):
        return set()
    others = project.naming(name for one in idioms for name in one.other_frameworks) - ours
    names = {name for name in project.names if not is_test(name)} - others
    found = set[str]()
    for table in tables:
        found |= _find_calling_files(project, {*table.trains}, names)
        for method, packages in table.fits.items():
            found |= _find_calling_files(project, {method}, names & project.naming(packages))
    return found


def find_framework_files(project: Project, tables: Sequence[Processes], idioms: Sequence[Idioms]) -> set[str]:
    """The files that name a framework which the rule data is about."""
    trainers = {package for table in tables for packages in table.fits.values() for package in packages}
    return project.naming(trainers.union(*(one.frameworks for one in idioms)))


def _find_calling_files(project: Project, methods: Set[str], names: Set[str]) -> set[str]:
    """Those of the files that call one of the methods of something; a comment or a text does not, nor does such a method itself."""
    able = {name for method in methods for name in project.holding(method, _OF_SOMETHING, _CALLED)}.intersection(names)
    return {name for name in able if any(_calls_method(module, methods) for module in project.programs(name))}


def _calls_method(module: Module, methods: Set[str]) -> bool:
    called = (node.func for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call))
    return any(
        isinstance(function, ast.Attribute) and function.attr in methods and not _is_inside(module, function, methods)
        for function in called
    )


def _is_inside(module: Module, node: ast.AST, methods: Set[str]) -> bool:
    """Whether a place is in a function of such a name: ``Function.backward`` passes on what it is asked for."""
    around = next((at for at in module.ancestors(node) if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    return around is not None and around.name in methods
