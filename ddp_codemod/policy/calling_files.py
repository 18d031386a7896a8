"""Which files of a project call the code that a finding is about."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Launch, Script
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.launch_commands import LaunchCommands


def find_launches_of(context: Context, launches: LaunchCommands, module: Module, node: ast.AST) -> list[tuple[Script, Launch]]:
    """The commands of launch files that start a file from which a node is called; where none is known to, those that import it."""
    found = launches.of(module)
    calling = find_calling_files(context, module, node)
    project = context.tracer.resolver.project
    known = [(script, launch) for script, launch in found if calling & set(project.started(launch.program))]
    return known or found


def find_calling_files(context: Context, module: Module, node: ast.AST) -> set[str]:
    """The file that holds a node, and those that call the function around it, directly or not."""
    found = {module.name}
    seen: set[ast.AST] = set()
    todo: list[tuple[Module, ast.AST]] = [(module, node)]
    while todo:
        place, at = todo.pop()
        for function in place.ancestors(at):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function not in seen:
                seen.add(function)
                for given in callers_of(context.tracer, place, function):
                    found.add(given.module.name)
                    todo.append((given.module, given.call))
    return found
