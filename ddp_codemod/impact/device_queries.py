"""Questions for another device that a backend depends on: they move with the backend, ``"hccl" if torch.npu.is_available() else "gloo"``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.machine import Device
from ddp_codemod.dataflow.values import Value, ValueSet
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import PACKAGE, Context, Finding, Insertions, NewText
from ddp_codemod.sites.surface_calls import Use


def add_device_queries(context: Context, findings: Sequence[Finding], alone: bool) -> list[Finding]:
    """The findings, and one for each question beside a backend that becomes the own device's and that no other edit moves.

    ``alone``: the code is for this platform alone; what others run too is written with a condition that holds for each of them.
    """
    device = context.platform.device
    if not alone or device is None or not device.module:
        return list(findings)
    moved = {change.node for one in findings for change in one.changes if isinstance(change, Insertions)}
    made: list[Finding] = []
    for finding in findings:
        for source in (change.source for change in finding.changes if isinstance(change, NewText)):
            own = finding.action is Action.EDIT and not source.decided and isinstance(source.module, Module)
            for call, package, name in _find_queries(context, source, device) if own else ():
                if call.func not in moved:
                    moved.add(call.func)
                    made.append(_move_query(context, finding, source, call, package, name))
    return [*findings, *made]


def _find_queries(context: Context, source: Value, device: Device) -> Iterator[tuple[ast.Call, str, str]]:
    """What the condition around a backend asks of the other device's module and the platform tells of its own: the package, the name."""
    module = source.module
    for call in ast.walk(source.outer.test) if isinstance(source.outer, ast.IfExp) and isinstance(module, Module) else ():
        for full in context.tracer.resolver.names(module, call.func) if isinstance(call, ast.Call) else ():  # type: ignore[arg-type]
            package, other, name = full.partition(f".{device.replaces}.")
            if other and f"{package}.{device.module}.{name}()" in context.platform.facts:
                yield call, package, f"{device.module}.{name}"  # type: ignore[misc]
                break


def _move_query(context: Context, finding: Finding, source: Value, call: ast.Call, package: str, name: str) -> Finding:
    """The edit that asks for the platform's device; it may lead to a backend whose tensors have yet to move."""
    assert isinstance(source.module, Module)
    module, place = source.module, source.module.place(call.func)
    new = Insertions(module, call.func, ((place.start, place.end, f"{PACKAGE}.{name}"),), package)
    reason = Reason.of(
        "edit-question", text=module.short_text(call), new=f"{package}.{name}()", wanted=context.platform.backend.wanted
    )
    use = Use(module, call, finding.use.surface)
    made = Finding(use, finding.parameter, call, ValueSet(), (), Action.EDIT, Applicability.UNSAFE, finding.rule, reason, (new,))
    return made.with_plugin(context.platform.required_import, module)
