"""Everything that reads a configuration file whose path the code writes: in Python, and in the launch files of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import PurePosixPath

from ddp_codemod.dataflow.allocation_sites import AllocationKind, AllocationSite, AllocationSites
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.opened_files import find_opened_files
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import GUIDES
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Script

_READ = frozenset({"read", "read_bytes", "read_text"})  # methods that give all of a file as a text
WHOLE_TEXT = ""  # the name of the carrier that stands for the text of a whole file
_OPENERS = frozenset({"open", "create"})  # what they give is a stream, and not yet what the file holds
# a line of a script that looks into a file itself, other than by starting a program with the file's name
_LOOKS_IN = r"\$\(|`|<\s*\S*{name}|\b(?:jq|yq|e?grep|rg|sed|awk|cat|source|cmp|diff|sha\d*sum|md5sum)\b|\bpython\d?\s+-c\b"


def list_parser_names(tracer: Tracer) -> frozenset[str]:
    """The last names of the calls that give what a file, or the text of one, holds; to open it is not yet that."""
    return frozenset(last for idioms in tracer.idioms for last in idioms.file_readers) - _OPENERS


def find_readers(tracer: Tracer, name: str) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that give what a file holds, where the path that they open is written out and is that of this file."""
    return (
        (module, call)
        for module, call in _find_calls(tracer, name, list_parser_names(tracer))
        if call.args and _is_opening(tracer, module, call, name)
    )


def find_text_reads(tracer: Tracer, name: str) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that give the text of such a file, ``Path("config.json").read_text()``."""
    for module, call in _find_calls(tracer, name, _READ):
        if _is_opening(tracer, module, ast.Call(call.func, [call], []), name):
            yield module, call


def _find_calls(tracer: Tracer, name: str, wanted: Set[str]) -> Iterator[tuple[Module, ast.Call]]:
    project = tracer.resolver.project
    for file in project.mentioning(PurePosixPath(name).stem):
        module = project.module(file)
        if module is not None and PurePosixPath(name).name in module.source.text:
            for last in wanted & index_calls(module).keys():
                yield from ((module, call) for call in index_calls(module)[last])


def _is_opening(tracer: Tracer, module: Module, call: ast.Call, name: str) -> bool:
    found = find_opened_files(tracer, AllocationSites((AllocationSite(AllocationKind.FILE, module, call),), call))
    return found is not None and "" not in found.endings and found.has(name)


def find_launch_readers(tracer: Tracer, name: str) -> Iterator[tuple[Script, int, str]]:
    """The lines of launch files that read a file themselves: the script, where the line starts, and the line."""
    base = PurePosixPath(name).name
    looks = re.compile(_LOOKS_IN.replace("{name}", re.escape(base)))
    for script in tracer.resolver.project.scripts(base):
        if script.name.endswith(GUIDES):
            continue
        text = script.source.text
        for found in re.finditer(re.escape(base), text):
            start, end = script.source.line_span(found.start())
            if looks.search(text[start:end]):
                yield script, start, text[start:end].strip()
