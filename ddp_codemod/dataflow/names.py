"""What a name stands for: its bindings that hold where it is read, in its own file or in the one that it is imported from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from ddp_codemod.dataflow import loops, parameters, unpacking
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.guards import find_none_guard, make_exclusion_test
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.entities import Definition, ModuleRef, Variable
from ddp_codemod.sites.scopes import FUNCTIONS, Binding, owner_scope, scope_of


def trace_name(tracer: Tracer, module: Module, node: ast.Name, trace: Trace) -> list[Value]:
    """The sources of a name of the file, or of another that it is imported from."""
    home = owner_scope(module, scope_of(module, node), node.id)
    if home is None:
        return _trace_import(tracer, module, node, trace)
    definitions = tracer.facts.definitions(module, node)
    found = trace_bindings(tracer, module, home, node, definitions, trace)
    if len(found) < 2:
        return found
    is_kept_out = make_exclusion_test(module, node, definitions, partial(tracer.facts.definitions, module))
    return [source for source in found if not (isinstance(source.value, Known) and is_kept_out(source.value))] or found


def trace_bindings(
    tracer: Tracer, module: Module, home: ast.AST, node: ast.AST, definitions: Sequence[Binding], trace: Trace
) -> list[Value]:
    """The sources of the bindings that can hold at ``node``."""
    found: list[Value] = []
    asking = {id(test): test for made in definitions if (test := find_none_guard(module, made)) is not None}
    for test in asking.values():  # ``if backend is None: backend = ...``: None does not get past it
        before = [made for made in definitions if getattr(made.node, "lineno", 0) < test.lineno]
        earlier = trace_bindings(tracer, module, home, node, before, trace) if before else []
        found += (source for source in earlier if not (isinstance(source.value, Known) and source.value.value is None))
        definitions = [made for made in definitions if made not in before]
        if not definitions:
            return found
    for binding in definitions:
        if binding.kind == "parameter" and isinstance(home, FUNCTIONS):
            found += parameters.trace_parameter(tracer, module, home, binding, trace)
        elif binding.kind == "value" and binding.value is not None:
            step = trace.step(
                module.place(binding.node), Reason.of("hop-assigned", Meaning.NAMED, name=binding.name), OriginKind.ASSIGNMENT
            )
            found += tracer.evaluate(module, binding.value, step)
        elif binding.kind == "unpack" and binding.value is not None:
            found += unpacking.trace_unpacked(tracer, module, binding, trace)
        elif binding.kind == "import":
            found += _trace_import(tracer, module, node, trace, binding)
        elif binding.kind == "other" and (sources := loops.trace_loop(tracer, module, binding, trace)) is not None:
            found += sources
        else:
            found.append(tracer.unknown(module, binding.node, trace, "why-binding", name=binding.name))
    if not definitions:
        found.append(tracer.unknown(module, node, trace, "why-unbound", text=module.text(node)))
    return found


def _trace_import(tracer: Tracer, module: Module, node: ast.AST, trace: Trace, binding: Binding | None = None) -> list[Value]:
    """A name that another module of the project gives its value."""
    name = ast.Name(binding.name) if binding else node
    if binding is not None:
        entities = tracer.resolver.variable(Variable(module, scope_of(module, binding.node), binding.name))
    else:
        entities = tracer.resolver.resolve(module, name) if isinstance(name, ast.expr) else []
    text = module.text(node) if binding is None or isinstance(node, ast.expr) else binding.name
    found: list[Value] = []
    for entity in entities:
        if isinstance(entity, Variable) and entity.module is not module:
            found += trace_module_variable(tracer, entity, trace)
        elif isinstance(entity, (Definition, ModuleRef)):
            found.append(tracer.unknown(module, node, trace, "why-expression", text=text))
    return found or [tracer.unknown(module, node, trace, "why-import", text=text)]


def trace_module_variable(tracer: Tracer, variable: Variable, trace: Trace) -> list[Value]:
    """The sources of a variable of another module, as its code leaves it."""
    module, scope = variable.module, variable.scope
    made = tracer.facts.find_at_end(module, scope, variable.name)
    if not made:
        return [tracer.unknown(module, module.tree.body[0], trace, "why-unbound", text=variable.name)]
    reason = Reason.of("hop-module", Meaning.NAMED, name=variable.name, file=module.name)
    return trace_bindings(tracer, module, scope, made[0].node, made, trace.step(module.place(made[0].node), reason))
