"""Trainers that start the processes themselves: the option that names how."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.edits.imports import add_import
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.single_process.api import Api, passed_argument
from ddp_codemod.single_process.model import ApiCall, Problem, SpanEdit
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of


class Strategies:
    """What becomes of a trainer's strategy."""

    def __init__(self, api: Api, facts: Facts) -> None:
        self.api, self.facts = api, facts

    def decide(self, seen: ApiCall) -> list[SpanEdit] | Problem | Reason:
        """The edits; a line for review; or why the trainer stays."""
        module = seen.module
        option = passed_argument(seen.node, seen.call.strategy)
        if option is None:
            spread = next((one.value for one in seen.node.keywords if one.arg is None), None)
            if spread is not None:
                return Reason.of("single-strategy-spread", text=" ".join(module.text(spread).split()))
            return Reason.of("single-strategy-auto")
        held, inside = self._find_value(module, option)
        forms = self._forms_group(module, inside)
        if forms is None or _means_more(seen, inside):
            return Problem(module, option, Reason.of("single-strategy", text=" ".join(module.text(option).split())))
        if not forms:
            return Reason.of("single-strategy-right", text=" ".join(module.text(option).split()))
        nodes = passed_argument(seen.node, seen.call.nodes)
        devices = passed_argument(seen.node, seen.call.devices) or next(
            (one.value for one in seen.node.keywords if one.arg in seen.call.old_devices), None
        )
        listed = _count_devices(devices)
        if listed > 1 and devices is not None:
            return Problem(module, option, Reason.of("single-devices", text=module.text(devices), number=str(listed)))
        if isinstance(devices, ast.Constant) and type(devices.value) is int and devices.value > 1:
            return Reason.of("single-always", number=str(devices.value))
        if nodes is not None and not (isinstance(nodes, ast.Constant) and nodes.value == 1):
            return Problem(module, nodes, Reason.of("single-nodes", text=module.text(nodes)))
        quote = "'" if module.source.text.count("'") > module.source.text.count('"') else '"'
        automatic = f"{quote}{self.api.table.automatic}{quote}"
        reason = Reason.of("single-strategy-edit", automatic=self.api.table.automatic)
        if listed == 1 or (isinstance(devices, ast.Constant) and devices.value == 1):
            return self._replace_value(module, held, inside, automatic, reason)
        return self._write_conditional(module, held, inside, automatic, reason)

    def _find_value(self, module: Module, option: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The expression that the option starts from, through one name, and its branch that is not the automatic one."""
        held = option
        if isinstance(option, ast.Name):
            home = owner_scope(module, scope_of(module, option), option.id)
            result = bindings(module, home).get(option.id, ()) if home is not None else ()
            if len(result) == 1 and result[0].kind == "value" and result[0].value is not None:
                held = result[0].value
        inside = held
        if isinstance(held, ast.IfExp) and self._is_automatic(held.orelse):
            inside = held.body
        return held, inside

    def _is_automatic(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and node.value in (self.api.table.automatic, None)

    def _forms_group(self, module: Module, node: ast.expr) -> bool | None:
        """Whether a value forms a group; None where that is not known."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and self.api.strategy(node.value)
        if isinstance(node, ast.Call):
            names = self.api.resolver.names(module, node.func)
            return any(self.api.strategy(name) for name in names) if names else None
        value = self.facts.fold(module, node) if isinstance(node, ast.Name) else None
        if isinstance(value, Known) and isinstance(value.value, str):
            return self.api.strategy(value.value) and None
        return None

    def _replace_value(self, module: Module, held: ast.expr, inside: ast.expr, automatic: str, reason: Reason) -> list[SpanEdit]:
        place = module.place(held if held is not inside else inside)
        return [SpanEdit(module, place.start, place.end, automatic, reason)]

    def _write_conditional(
        self, module: Module, held: ast.expr, inside: ast.expr, automatic: str, reason: Reason
    ) -> list[SpanEdit] | Problem:
        package, _, name = self.api.table.counted.rpartition(".")
        top, _, rest = package.partition(".")
        needed = add_import(module.source, module.tree, top, None, before=module.place(module.statement(inside)).start)
        if isinstance(needed, Reason):
            return Problem(module, inside, needed)
        insertion, written = needed
        written, result = f"{written}.{rest}", []
        if insertion is not None:
            result.append(
                SpanEdit(
                    module, insertion.offset, insertion.offset, insertion.text, Reason.of("edit-import", Meaning.IMPORT, name=top)
                )
            )
        test = f"{written}.{name}() > 1"
        if isinstance(held, ast.IfExp) and held is not inside:
            if any(
                name == self.api.table.counted
                for part in ast.walk(held.test)
                if isinstance(part, ast.expr)
                for name in self.api.resolver.names(module, part)
            ):
                return []
            place = module.place(held.test)
            if isinstance(held.test, ast.BoolOp) and isinstance(held.test.op, ast.Or):
                return [
                    *result,
                    SpanEdit(module, place.start, place.start, "(", reason),
                    SpanEdit(module, place.end, place.end, f") and {test}", reason),
                ]
            return [*result, SpanEdit(module, place.end, place.end, f" and {test}", reason)]
        end = module.place(inside).end
        return [*result, SpanEdit(module, end, end, f" if {test} else {automatic}", reason)]


def _means_more(seen: ApiCall, inside: ast.expr) -> bool:
    """Whether the object gets an argument with which it does not make the group of all processes."""
    passed = inside.keywords if isinstance(inside, ast.Call) else []
    refused = seen.call.refuses
    return any(one.arg in refused and seen.module.text(one.value) != refused[one.arg] for one in passed)


def _count_devices(devices: ast.expr | None) -> int:
    """How many devices a list of them names; 0 for anything else."""
    if isinstance(devices, (ast.List, ast.Tuple)) and not any(isinstance(part, ast.Starred) for part in devices.elts):
        return len(devices.elts)
    if isinstance(devices, ast.Constant) and isinstance(devices.value, str):
        numbers = [part for part in devices.value.split(",") if part.strip()]
        return len(numbers) if "," in devices.value and all(part.strip().isdigit() for part in numbers) else 0
    return 0
