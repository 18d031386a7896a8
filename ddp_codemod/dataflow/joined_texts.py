"""Texts that are put together: f-strings, concatenations and templates whose placeholders can be followed."""

from __future__ import annotations

import ast
import itertools
import re
from typing import Union

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module

Fragment = Union[str, ast.expr]
FIELD = re.compile(r"\{(\w*)\}")


def list_text_fragments(node: ast.expr) -> list[Fragment] | None:
    """The texts and placeholders that an expression joins, in order; None where it is put together in another way."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return _split_fstring(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (list_text_fragments(part) or [part] for part in (node.left, node.right))
        return [*left, *right]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _fill_template(re.split(r"%s", node.left.value), list(given))  # type: ignore[attr-defined]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if _is_text(node.func.value):
            text: str = node.func.value.value  # type: ignore[attr-defined]
            named = {str(word.arg): word.value for word in node.keywords}
            filled = {**{str(at): value for at, value in enumerate(node.args)}, **named}
            counted = itertools.count()
            asked = [name or str(next(counted)) for name in FIELD.findall(text)]
            if all(name in filled for name in asked):
                return _fill_template(FIELD.sub("%s", text).split("%s"), [filled[name] for name in asked])
    return None


def find_literal_prefix(node: object) -> str:
    """The text that an expression starts with, however it is put together; "" where its first fragment is not written out."""
    at = node
    while True:
        if isinstance(at, ast.BinOp):
            at = at.left
        elif isinstance(at, ast.JoinedStr) and at.values:
            at = at.values[0]
        elif isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and at.func.attr == "format":
            at = at.func.value
        else:
            return at.value if isinstance(at, ast.Constant) and isinstance(at.value, str) else ""


def _split_fstring(node: ast.JoinedStr) -> list[Fragment] | None:
    found: list[Fragment] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            found.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            if part.conversion != -1 or part.format_spec is not None:
                return None
            found.append(part.value)
    return found


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _fill_template(texts: list[str], given: list[ast.expr]) -> list[Fragment] | None:
    if len(texts) != len(given) + 1 or any("%" in text or "{" in text for text in texts):
        return None
    found: list[Fragment] = [texts[0]]
    for value, text in zip(given, texts[1:], strict=True):
        found += [value, text]
    return found


def trace_text(tracer: Tracer, module: Module, node: ast.JoinedStr | ast.BinOp, trace: Trace) -> list[Value]:
    """The sources of a text that is put together: the whole of it where it is known, else those of its fragments."""
    value = tracer.facts.fold(module, node, trace.frame)
    if isinstance(value, Known) and not (_is_wrong(tracer, value) and _has_names(tracer, module, node, trace)):
        return [Value(module, node, trace.kind, value, None, trace)]
    put_together = trace_fragments(tracer, module, node, trace)
    if put_together is not None:
        return put_together
    return [tracer.unknown(module, node, trace, "why-text-built", text=module.text(node))]


def _has_names(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> bool:
    """Whether a text is put together of variables that hold names of backends, which one text in its place would lose."""
    held = (
        tracer.facts.fold(module, fragment, trace.frame)
        for fragment in list_text_fragments(node) or ()
        if isinstance(fragment, ast.expr)
    )
    return any(isinstance(value, Known) and value.value in tracer.rules.backends for value in held)


def _is_wrong(tracer: Tracer, value: Known) -> bool:
    """Whether a text names a backend that the platform does not have."""
    return (
        isinstance(value.value, str)
        and tracer.could_be_value(value.value)
        and "://" not in value.value
        and assess(value.value, tracer.platform.backend, tracer.rules.backends).wanted is not None
    )


def trace_fragments(tracer: Tracer, module: Module, node: ast.expr, trace: Trace) -> list[Value] | None:
    """The sources of the backends in a text such as ``f"cpu:gloo,cuda:{backend}"``; None where it is no such text."""
    joined = [fragment for fragment in list_text_fragments(node) or [] if fragment != ""]
    if len(joined) == 1 and isinstance(joined[0], ast.expr):
        return [*tracer.evaluate(module, joined[0], _add_part_step(module, node, trace))]
    slots: list[ast.expr] = []
    parts = _split_composite(joined)
    for part in parts:
        device, name = part
        if isinstance(name, str):
            if len(device) != 1 or not isinstance(device[0], str) or not _is_unchanged(tracer, f"{device[0]}:{name}"):
                return None
        elif len(device) == 1 and (isinstance(device[0], ast.expr) or _may_be_named(tracer, device[0])):
            slots.append(name)
        else:
            return None
    found = [source for slot in slots for source in tracer.evaluate(module, slot, _add_part_step(module, node, trace))]
    # the name of one device: what is a composite itself, or no name at all, does not fit in there
    fits = all(
        isinstance(source.value.value, str) and ":" not in source.value.value
        for source in found
        if isinstance(source.value, Known)
    )
    # one device with something unknown behind it is far more often a device and its number
    named = len(parts) > 1 or any(
        isinstance(source.value, Known) and source.value.value in tracer.rules.backends for source in found
    )
    return found if slots and fits and named else None


def slots(node: ast.expr) -> list[ast.expr]:
    """The expressions that stand for the backends of a text that is put together; [] where it is no such text."""
    joined = [fragment for fragment in list_text_fragments(node) or [] if fragment != ""]
    if len(joined) == 1:
        return [fragment for fragment in joined if isinstance(fragment, ast.expr)]
    return [name for _, name in _split_composite(joined) if isinstance(name, ast.expr)]


def _add_part_step(module: Module, node: ast.expr, trace: Trace) -> Trace:
    return trace.step(module.place(node), Reason.of("hop-part", Meaning.PART, text=" ".join(module.text(node).split())))


def _split_composite(joined: list[Fragment]) -> list[tuple[list[Fragment], Fragment]]:
    """The devices and backends of a composite, each a text or one placeholder; [(), ...] where it has another shape."""
    tokens: list[Fragment] = []
    for fragment in joined:
        tokens += [token for token in re.split(r"([,:])", fragment) if token] if isinstance(fragment, str) else [fragment]
    found: list[tuple[list[Fragment], Fragment]] = []
    at = 0
    while at < len(tokens):
        part = tokens[at : at + 3]
        if len(part) < 3 or part[1] != ":" or part[0] in (",", ":") or part[2] in (",", ":"):
            return [([], "")]
        found.append(([part[0]], part[2]))
        if at + 3 < len(tokens) and tokens[at + 3] != ",":
            return [([], "")]
        at += 4
    return found or [([], "")]


def _is_unchanged(tracer: Tracer, part: str) -> bool:
    verdict = assess(part, tracer.platform.backend, tracer.rules.backends)
    return verdict.known and verdict.wanted is None


def _may_be_named(tracer: Tracer, device: str) -> bool:
    """Whether the platform's backend can be written behind this device as it is."""
    choice = tracer.platform.backend
    return device in tracer.device_types and device not in choice.devices and device not in choice.wanted_for
