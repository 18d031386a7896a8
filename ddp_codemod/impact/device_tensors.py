"""Groups whose backend refuses the tensors that they carry: right by name, and wrong for the device of the platform."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeVar

from ddp_codemod.catalog.idioms import Carries
from ddp_codemod.catalog.machine import Device
from ddp_codemod.dataflow.calls import find_argument, index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import find_literal_prefix
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.impact.changed_backends import is_backend_finding
from ddp_codemod.impact.usage import find_hits
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, Finding, NewText
from ddp_codemod.policy.test_code import is_tested
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.imports import Imports

Told = TypeVar("Told", str, int)
DEPTH = 4  # variables that a tensor goes through


def settle_device_tensors(context: Context, imports: Imports, findings: Iterable[Finding], rules: Sequence[str]) -> list[Finding]:
    """The findings, of which a default group that is kept with a backend which refuses the device's tensors gets one for each device.

    ``rules`` are those that change backends. Where nothing shows that the group carries such tensors it stays, and the reason says so.
    """
    device, carries = context.platform.device, [one.carries for one in context.rules.idioms if one.carries is not None]
    if device is None or not device.module or not carries:
        return list(findings)
    findings = list(findings)
    look = _TensorSearch(
        context, imports, device, carries, {one.use.module.name for one in findings if _is_for_device(context, device, one)}
    )
    return [look.settle(finding, rules) if _is_refusing(context, device, finding) else finding for finding in findings]


def _is_for_device(context: Context, device: Device, finding: Finding) -> bool:
    """Whether a default group has a backend for the device, or gets one on the platform."""
    if not is_backend_finding(finding) or not finding.use.surface.default_group:
        return False
    named = (context.rules.backends.get(value.lower()) for value in finding.resolves_to)
    return finding.action is Action.EDIT or any(known is not None and device.type in known.devices for known in named)


def _is_refusing(context: Context, device: Device, finding: Finding) -> bool:
    """Whether a group is kept, and nothing can result but backends that take no tensor of the device."""
    if finding.action is not Action.KEEP or finding.reason.means is Meaning.UNREACHABLE or not is_backend_finding(finding):
        return False
    if not finding.use.surface.default_group or not finding.possible:
        return False
    return all(_is_refused(context, device, source) for source in finding.possible)


def _is_refused(context: Context, device: Device, source: Value) -> bool:
    value = source.value.value if isinstance(source.value, Known) else None
    known = context.rules.backends.get(value.lower()) if isinstance(value, str) else None
    if known is None or known.like or known.name not in context.platform.backend.works or is_tested(context, source):
        return False  # what is like another may take more than that does
    return device.type not in known.devices


class _TensorSearch:
    """Looks for what a program hands to its default group; remembers what it found in a file."""

    def __init__(self, context: Context, imports: Imports, device: Device, carries: Sequence[Carries], moved: Set[str]) -> None:
        """``moved``: files of which a group has the backend of the device or gets it, so that one which names another does it on purpose."""
        self.context, self.imports, self.device, self.carries, self.moved = context, imports, device, carries, moved
        self._found: dict[str, str] = {}
        patterns = (one.pattern for one in context.rules.advice.values() if one.carries and one.pattern is not None)
        self._patterns = tuple(patterns)
        self._stays = {name for one in carries for name in one.stays}

    def settle(self, finding: Finding, rules: Sequence[str]) -> Finding:
        """The finding with a backend for each device, or kept because nothing of the device is seen to reach it."""
        platform, module = self.context.platform, finding.use.module
        values = ", ".join(dict.fromkeys(finding.resolves_to))
        if not isinstance(module, Module) or not rules:
            return finding
        origin = "" if module.name in self.moved else self._find_evidence(module)
        if not origin:
            arguments = {"value": values, "device": self.device.type, "platform": platform.id}
            return finding.keep(Reason.of("keep-cpu-tensors", finding.reason.means, **arguments))
        both = [self.context.versions.holds(one.both_since, module.name) for one in self.carries]
        wanted = platform.backend.wanted if False in both else self._format_both_backends()
        reason = Reason.of(
            "edit-device-tensors", value=values, wanted=wanted, device=self.device.type, at=origin, platform=platform.id
        )
        result = finding.edit(rules[0], False not in both, reason, (NewText(source, wanted) for source in finding.possible))
        return result.with_plugin(platform.required_import, module)

    def _format_both_backends(self) -> str:
        """A backend for the tensors of the CPU and one for those of the device."""
        choice = self.context.platform.backend
        given = {**choice.wanted_for, self.device.type: choice.wanted}
        return ",".join(f"{kind}:{backend}" for kind, backend in given.items())

    def _find_evidence(self, module: Module) -> str:
        """Where a file that runs together with that of a group hands the group tensors of the device, FILE:LINE; "" where none does."""
        project, asked = self.context.tracer.resolver.project, set[str]()
        for one in self.carries:
            for name in (*one.wrappers, *one.collectives):
                asked |= set(project.mentioning(name.rpartition(".")[2]))
        for pattern in self._patterns:
            for name in pattern.names:
                asked |= set(project.mentioning(name.rpartition(".")[2]))
        if not asked or is_test(module.name):
            return ""
        around = {
            *self.imports.above([module.name]),
            *self.imports.of_file(module.name),
        }  # what a library does elsewhere is not run here
        near = [module.name, *sorted((asked & around) - {module.name})]
        return next(filter(None, (self._find_in_file(name) for name in near if name in asked and not is_test(name))), "")

    def _find_in_file(self, name: str) -> str:
        if name not in self._found:
            places = (
                f"{name}:{module.line(node)}"
                for module in self.context.tracer.resolver.project.programs(name)
                for node in self._find_handed_tensors(module)
                if self.context.facts.unreachable(module, node) is None
            )
            self._found[name] = next(places, "")
        return self._found[name]

    def _find_handed_tensors(self, module: Module) -> Iterator[ast.AST]:
        """The places of a file that show it."""
        for one in self.carries:
            for call, keyword in self._find_calls(module, one.wrappers):
                told = find_argument(call, keyword, None)
                if (told is not None and not _is_none(told)) or (told is None and self._has_device_move(module)):
                    yield call
            for call, position in self._find_calls(module, one.collectives):
                group, tensor = find_argument(call, one.group, None), find_argument(call, one.tensor, position)
                if (group is None or _is_none(group)) and tensor is not None and self._is_on_device(module, tensor):
                    yield call
        for pattern in self._patterns:
            yield from (hit.node for hit in find_hits(self.context, pattern, module))

    def _find_calls(self, module: Module, wanted: Mapping[str, Told]) -> Iterator[tuple[ast.Call, Told]]:
        last = {name.rpartition(".")[2] for name in wanted}
        for word in sorted(last | aliases_of(module, last)):
            for call in index_calls(module).get(word, ()):
                names = wanted.keys() & set(self.context.tracer.resolver.names(module, call.func))
                yield from ((call, wanted[name]) for name in sorted(names)[:1])

    def _has_device_move(self, module: Module) -> bool:
        """Whether a file moves something to the device by the method of its name, or chooses the device of the process."""
        table, resolver = index_calls(module), self.context.tracer.resolver
        if any(isinstance(call.func, ast.Attribute) for kind in self._device_kinds for call in table.get(kind, ())):
            return True
        setters = {name for idioms in self.context.rules.idioms for name in idioms.device_setters}
        words = {name.rpartition(".")[2] for name in setters}
        return any(not setters.isdisjoint(resolver.names(module, call.func)) for word in words for call in table.get(word, ()))

    @property
    def _device_kinds(self) -> tuple[str, str]:
        """The device, and the one that its place is taken of."""
        return self.device.replaces, self.device.type

    def _is_on_device(self, module: Module, tensor: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is made on the device, or moved to it, where it comes from."""
        while isinstance(tensor, ast.Call):
            function = tensor.func
            told = [keyword.value for keyword in tensor.keywords if keyword.arg == "device"]
            if isinstance(function, ast.Attribute):
                if function.attr in self._device_kinds:
                    return True
                told += tensor.args[:1] if function.attr == "to" else []
            if any(self._is_device_name(module, one) for one in told):
                return True
            if not isinstance(function, ast.Attribute) or told or function.attr not in self._stays:
                return False
            tensor = function.value
        if not isinstance(tensor, (ast.Name, ast.Attribute)) or depth >= DEPTH:
            return False
        on = Trace(kind=OriginKind.OBJECT, certain=True, near=True)
        return any(
            isinstance(source.module, Module)
            and isinstance(source.node, ast.Call)
            and self._is_on_device(source.module, source.node, depth + 1)
            for source in self.context.tracer.evaluate(module, tensor, on)
        )

    def _is_device_name(self, module: Module, told: ast.expr) -> bool:
        """Whether what says where a tensor lies is the name of the device, or a device that is made of it."""
        for source in self.context.tracer.evaluate(module, told, Trace(certain=True)):
            text = source.value.value if isinstance(source.value, Known) else None
            head = text if isinstance(text, str) else find_literal_prefix(source.node)
            if source.trace.is_over:
                continue
            if head.startswith(self._device_kinds) or (
                isinstance(source.module, Module) and self._is_device_call(source.module, source.node)
            ):
                return True
        return False

    def _is_device_call(self, module: Module, node: object) -> bool:
        """Whether a call gives a device, and is told its name."""
        if not isinstance(node, ast.Call) or not node.args:
            return False
        result = {name for idioms in self.context.rules.idioms for name, kind in idioms.device_functions.items() if not kind}
        names = self.context.tracer.resolver.names(module, node.func)
        return not result.isdisjoint(names) and self._is_device_name(module, node.args[0])


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
