"""The source text of objects that take the place of a text, in Python and in YAML."""

from __future__ import annotations

from collections.abc import Iterable

from ddp_codemod.policy.findings import NewMapping

Arguments = Iterable[tuple[str, "bool | int | str"]]


def format_call(name: str, arguments: Arguments, quote: str = '"') -> str:
    """A call with keyword arguments, its texts between these quotes."""
    parts = (f"{key}={quote}{value}{quote}" if isinstance(value, str) else f"{key}={value!r}" for key, value in arguments)
    return f"{name}({', '.join(parts)})"


def _format_flow_mapping(target: str, arguments: Arguments, key: str = "_target_", below: str = "") -> str:
    """A YAML mapping on one line that names what to call, its arguments beside that or under a key of their own."""
    parts = [f"{name}: {str(value).lower() if isinstance(value, bool) else value}" for name, value in arguments]
    if below:
        parts = [f"{below}: {{{', '.join(parts)}}}"]
    return "{" + ", ".join([f"{key}: {target}", *parts]) + "}"


def format_mapping(change: NewMapping) -> tuple[int, int, str]:
    """Where a mapping goes and its text: for the scalar of the entry, or under a key of its own on the line below."""
    text = _format_flow_mapping(change.target, change.arguments, change.key, change.below)
    if not change.added:
        return change.entry.start, change.entry.end, text
    offset, line = change.module.add_below(change.entry, change.added, text)
    return offset, offset, line
