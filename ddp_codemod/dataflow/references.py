"""Uses of a value by its name in files that are no programs: a variable of a launch file, another entry that refers to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.model import Source
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.shell import Option, Script, Setting


class Reference(Struct, frozen=True):
    """A place that names the value, and what has that name there."""

    source: Source
    start: int
    text: str
    key: str = ""  # of the entry that is nothing but the value; "" where a text is made of it

    @property
    def line(self) -> int:
        """The number of its line."""
        return self.source.position(self.start)[0]


def find_script_reference(script: Script, node: object) -> Reference | None:
    """The first place of a launch file at which a variable is more than the value of an option."""
    text, name = script.source.text, ""
    if isinstance(node, Setting):
        name = node.name
    elif isinstance(node, Option) and node.away:  # the variable that is assigned there
        assigned = re.search(r"""(\w+)\s*=\s*["']?\Z""", text[script.source.line_span(node.start)[0] : node.start])
        name = assigned.group(1) if assigned else ""
    if not name:
        return None
    for found in re.finditer(rf"\$\{{?{name}\b[^\s\"'}}]*\}}?|%{name}%|\$env:{name}\b", text):
        start, end = script.source.line_span(found.start())
        before, behind = text[start : found.start()], text[found.end() : end]
        alone = re.search(r"""(?:\A|[\s=])["']?\Z""", before) and re.match(r"""["']?(?:[\s;\\]|\Z)""", behind)
        if not alone or re.search(r"""(?:\[\[?|\btest\b|\bcase\b)[^\n]*\Z""", before):
            return Reference(script.source, found.start(), found.group())
    return None


def find_entry_references(tracer: Tracer, document: Document, entry: Entry) -> Iterator[Reference]:
    """The entries that name another one by its key: ``out/%(backend)s``, ``${dist.backend}``."""
    key = next((part for part in reversed(entry.path) if not part.isdigit()), "")
    if not key:
        return
    word = re.escape(key)
    anywhere = re.compile(rf"\$\{{(?:[\w.-]*\.)?{word}\}}")
    inside = re.compile(rf"{anywhere.pattern}|%\({word}\)s|\$\{{[\w.-]+:{word}\}}")  # of the same file
    for other in tracer.resolver.project.documents(key):
        wanted = inside if other is document else anywhere
        for one in other.entries:
            if one is not entry and (found := wanted.search(one.value)) is not None:
                whole = found.group() == one.value.strip()
                yield Reference(other.source, one.start, found.group(), one.path[-1] if whole else "")
