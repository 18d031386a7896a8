"""Names of devices that a program lists: ``devices.append("cuda")`` where CUDA is available, of a list whose type says that it holds such names."""

from __future__ import annotations

import ast
import re

from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.scopes import scope_of

_ADDING = ("append", "add")
_LITERAL = "Literal"


def is_listed_device(context: Context, module: Module, text: ast.expr) -> bool:
    """Whether a text goes into such a list, in the branch for the old device, and no code looks for the text itself in a list."""
    device, call = context.platform.device, module.parents.get(text)
    if (
        device is None
        or not isinstance(text, ast.Constant)
        or not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
    ):
        return False
    listed = call.func.value
    if call.func.attr not in _ADDING or call.args != [text] or not isinstance(listed, ast.Name):
        return False
    if not _has_device_type(module, call, listed.id, text.value) or not _is_where_available(context, module, call):
        return False
    project, sought = (
        context.tracer.resolver.project,
        re.compile(rb"[\"\']%s[\"\']\s+(?:not\s+)?in\b" % re.escape(device.replaces.encode())),
    )
    return not any(project.holds(name, sought) for name in project.names)


def _has_device_type(module: Module, call: ast.Call, name: str, text: object) -> bool:
    """Whether the variable is declared, in the same function, with a type that names the text among others."""
    home = scope_of(module, call)
    declared = (
        node for node in module.nodes.get(ast.AnnAssign, ()) if isinstance(node, ast.AnnAssign) and scope_of(module, node) is home
    )
    types = (part for node in declared if last_name(node.target) == name for part in walk(node.annotation))
    literals = (part for part in types if isinstance(part, ast.Subscript) and last_name(part.value) == _LITERAL)
    return any(isinstance(one, ast.Constant) and one.value == text for part in literals for one in walk(part.slice))


def _is_where_available(context: Context, module: Module, call: ast.Call) -> bool:
    """Whether the nearest condition around a statement asks whether the old device is there, and nothing else."""
    device = context.platform.device
    child: ast.AST = call
    for around in module.ancestors(call):
        if isinstance(around, ast.If):
            asked = context.tracer.resolver.names(module, around.test.func) if isinstance(around.test, ast.Call) else ()
            available = f".{device.replaces}.is_available" if device is not None else ""
            return any(part is child for part in around.body) and any(name.endswith(available) for name in asked)
        child = around
    return False
