"""Values that start in a launch file, which sets the environment variable that the code reads."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.leaves import Leaf, Way
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.shell import Script

_INHERITED = frozenset({"export", "command", "image"})  # kinds of settings that a program which is started sees


def trace_variable(tracer: Tracer, name: ast.expr, way: Way) -> list[Leaf]:
    """What the launch files of the project that start its programs, its images and notebooks set a variable to."""
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return []
    found: list[Leaf] = []
    project = tracer.resolver.project
    for script in (*project.scripts(name.value), *project.manifests(name.value)):
        for setting in script.settings:
            if setting.name == name.value and setting.kind in _INHERITED and tracer.could_be_value(setting.value):
                if setting.kind == "image" or _starts_ours(tracer, script):
                    step = way.hop(script.place(setting), Reason.of("hop-variable", name=setting.name, file=script.name))
                    found.append(Leaf(script, setting, OriginKind.LAUNCH_VARIABLE, Known(setting.value), None, step))
    return list(dict.fromkeys(found))


def _starts_ours(tracer: Tracer, script: Script) -> bool:
    """Whether a file starts a program of the project; what a notebook sets holds for all that it runs."""
    project = tracer.resolver.project
    return script.name in project.names or any(project.started(launch.program) for launch in script.launches)
