"""Environment variables that the code reads: what launch files and the project's own code set them to, and the default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ddp_codemod.dataflow.calls import find_argument, index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.shared_reads import INHERITED
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Script
from ddp_codemod.sites.scopes import assignment_pairs

_ENVIRONMENT = ("os.environ", "environ")


def trace_environment(tracer: Tracer, module: Module, node: ast.Call, trace: Trace) -> list[Value]:
    """The sources of ``os.environ.get("NAME", default)``; what nothing sets is the user's."""
    name = find_argument(node, "key", 0) or node
    found = _trace_settings(tracer, module, name, trace)
    default = find_argument(node, "default", 1)
    if default is not None:
        step = trace.step(
            module.place(node), Reason.of("hop-environment", text=module.text(name)), OriginKind.ENVIRONMENT_DEFAULT
        )
        return [*tracer.evaluate(module, default, step), *found]
    return found or [tracer.unknown(module, node, trace, "why-environment", Meaning.GIVEN_AT_START, text=module.text(node))]


def trace_variable(tracer: Tracer, module: Module, node: ast.Subscript, trace: Trace) -> list[Value]:
    """The sources of ``os.environ["NAME"]``."""
    found = _trace_settings(tracer, module, node.slice, trace)
    return found or [tracer.unknown(module, node, trace, "why-environment", Meaning.GIVEN_AT_START, text=module.text(node))]


def is_environment(node: ast.expr) -> bool:
    """Whether an expression is the table of the environment."""
    return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in _ENVIRONMENT


def _trace_settings(tracer: Tracer, module: Module, name: ast.expr, trace: Trace) -> list[Value]:
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return []
    return [*_trace_launch_settings(tracer, name.value, trace), *_trace_code_settings(tracer, module, name.value, trace)]


def _trace_launch_settings(tracer: Tracer, name: str, trace: Trace) -> list[Value]:
    """What the launch files of the project that start its programs, its images and notebooks set a variable to."""
    found: list[Value] = []
    project = tracer.resolver.project
    for script in (*project.scripts(name), *project.manifests(name)):
        for setting in script.settings:
            if setting.name == name and setting.kind in INHERITED and tracer.could_be_value(setting.value):
                if setting.kind == "image" or _is_project_launch(tracer, script):
                    step = trace.step(script.place(setting), Reason.of("hop-variable", name=setting.name, file=script.name))
                    found.append(Value(script, setting, OriginKind.LAUNCH_VARIABLE, Known(setting.value), None, step))
    return list(dict.fromkeys(found))


def _is_project_launch(tracer: Tracer, script: Script) -> bool:
    """Whether a file starts a program of the project; what a notebook sets holds for all that it runs."""
    project = tracer.resolver.project
    return script.name in project.names or any(project.started(launch.program) for launch in script.launches)


def _trace_code_settings(tracer: Tracer, module: Module, name: str, trace: Trace) -> list[Value]:
    """What code that runs together with a file sets a variable to."""
    project = tracer.resolver.project
    found: list[Value] = []
    together: set[str] | None = None
    for file in project.mentioning(name):
        for other in project.programs(file) if b"environ" in project.data(file) else ():
            for statement, value in _index_settings(other).get(name, ()):
                if tracer.facts.unreachable(other, statement) is not None:
                    continue
                if other.name != module.name and together is None:
                    together = tracer.imports.together([module.name])
                if other.name == module.name or file in (together or ()):
                    step = trace.step(other.place(statement), Reason.of("hop-assigned", name=name), OriginKind.ASSIGNMENT)
                    found += tracer.evaluate(other, value, step.inside(None))
    return found


def _index_settings(module: Module) -> dict[str, list[tuple[ast.AST, ast.expr]]]:
    """What a file sets variables of the environment to, by their names."""
    if "environment" not in module.own:
        table: dict[str, list[tuple[ast.AST, ast.expr]]] = {}
        for at, name, value in (*_find_assignments(module), *_find_setter_calls(module)):
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                table.setdefault(name.value, []).append((at, value))
        module.own["environment"] = table
    return module.own["environment"]  # type: ignore[return-value]


def _find_assignments(module: Module) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    for statement in module.nodes.get(ast.Assign, ()):
        for target, value in assignment_pairs(statement):
            if isinstance(target, ast.Subscript) and is_environment(target.value):
                yield statement, target.slice, value


def _find_setter_calls(module: Module) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """``os.environ.setdefault(name, value)``, ``os.putenv(name, value)``, ``os.environ.update({name: value})``"""
    for method in ("setdefault", "putenv", "update"):
        for call in index_calls(module).get(method, ()):
            if method != "putenv" and not (isinstance(call.func, ast.Attribute) and is_environment(call.func.value)):
                continue
            if method != "update" and len(call.args) == 2:
                yield call, call.args[0], call.args[1]
            elif method == "update":
                yield from ((call, ast.Constant(keyword.arg), keyword.value) for keyword in call.keywords if keyword.arg)
                for table in call.args:
                    pairs = zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
                    yield from ((call, key, value) for key, value in pairs if key is not None)
