"""Uses of a value by its name in files that are no programs: a variable of a launch file, another entry that refers to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ddp_codemod.dataflow.declared_options import find_declarations
from ddp_codemod.dataflow.name_reads import find_reads_of_word
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.model import Source
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.shell import Option, Script, Setting

_ASSIGNED = re.compile(  # before the literal: ``x=``, ``x ?=``, ``x=${y:-``, ``${x:=``, ``for x in``
    r"""(\w+)\s*[?:+]*=\s*["']?(?:\$\{\w+:?[-=])?\Z|\$\{(\w+):?=\Z|\bfor\s+(\w+)\s+in\b[^;\n]*\Z"""
)
_ALIAS = re.compile(r"""(?:\A|[;&|]|\b(?:export|local|readonly|declare|set))\s*(\w+)\s*[?:+]*=\s*["']?\Z""")
_SHOWN = re.compile(r"\s*@?(?:echo|printf|Write-Host)\b[^|>&;]*\Z", re.IGNORECASE)
_TESTED = re.compile(r"(?:\[\[?|\btest\b|\bcase\b)[^\n]*\Z")
_OPTION = re.compile(r"""(?:\A|\s)--?([\w.-]+)[\s=]\s*["']?\Z""")


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


def find_script_reference(tracer: Tracer, script: Script, node: object) -> Reference | None:
    """The first place of a launch file at which a variable is more than the value of an option that the project reads."""
    if not isinstance(node, Option | Setting):
        return None
    text, names = script.source.text, [node.name] if isinstance(node, Setting) else []
    if isinstance(node, Option) and node.away:  # the variable that is assigned there
        assigned = _ASSIGNED.search(text[script.source.line_span(node.start)[0] : node.start])
        names = [name for name in assigned.groups() if name] if assigned else []
    for name in names:  # grows while others are assigned the same
        for found in re.finditer(rf"\$\{{?{name}\b[^\s\"'}}]*\}}?|\$\({name}\)|%{name}%|\$env:{name}\b", text):
            start, end = script.source.line_span(found.start())
            before, behind = text[start : found.start()], text[found.end() : end]
            if _SHOWN.match(text[start:end]) or found.start() <= node.start < found.end():
                continue
            alone = re.search(r"""(?:\A|[\s=])["']?\Z""", before) and re.match(r"""["']?(?:[\s;\\]|\Z)""", behind)
            if alone and (other := _ALIAS.search(before)) is not None:
                names += [other[1]] if other[1] not in names else []
            elif not alone or _TESTED.search(before) or not _is_option_value(tracer, before):
                return Reference(script.source, found.start(), found.group())
    return None


def _is_option_value(tracer: Tracer, before: str) -> bool:
    """Whether a line gives what follows to an option, or to a key, that the project reads."""
    option = _OPTION.search(before)
    if option is None:
        return bool(re.search(r"""\w=["']?\Z""", before))
    word = option[1].replace("-", "_")
    return len(word) == 1 or "." in word or bool(find_declarations(tracer, word) or find_reads_of_word(tracer, word))


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
