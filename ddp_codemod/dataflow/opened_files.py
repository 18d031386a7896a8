"""Which files the object of a configuration was read from, as far as the code writes their paths."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.dataflow.allocation_sites import AllocationKind, AllocationSites
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import list_text_fragments
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import CONFIGS, PROGRAMS
from ddp_codemod.kinds import OriginKind
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import External

_READ = frozenset(
    {"open", "read", "read_bytes", "read_text", "resolve", "absolute", "expanduser"}
)  # methods of a path or a stream
_PATHS = frozenset({"Path", "PurePath", "abspath", "expanduser", "open", "realpath", "str"})  # of their first argument
_CHOSEN = frozenset({OriginKind.OPTION_DEFAULT, OriginKind.ENVIRONMENT_DEFAULT, OriginKind.PARAMETER_DEFAULT})
DEPTH = 8


class OpenedPaths(Struct, frozen=True):
    """Paths of files by what they end in, and the suffixes that the reader's format has; "" ends any path."""

    endings: tuple[str, ...]
    suffixes: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Whether a file of the project can be one of them."""
        if self.suffixes and not name.endswith(self.suffixes):
            return False
        return any(
            name == end or name.endswith(end if end[:1] in ("", "/", "*") else f"/{end}") or _is_partial_match(name, end)
            for end in self.endings
        )


def _is_partial_match(name: str, end: str) -> bool:
    return end.startswith("*") and name.endswith(end[1:])


def find_opened_files(tracer: Tracer, origin: AllocationSites) -> OpenedPaths | None:
    """The files that the object can have been read from; None where something else gave it, or a checkpoint, which may hold any."""
    texts = {*CONFIGS, *PROGRAMS, *(suffix for idioms in tracer.idioms for known in idioms.formats.values() for suffix in known)}
    endings: list[str] = []
    suffixes: list[str] = []
    for one in origin.made:
        if one.maker is not AllocationKind.FILE or one.module is None or one.call is None:
            return None
        names = [entity.name for entity in tracer.resolver.resolve(one.module, one.call.func) if isinstance(entity, External)]
        tops = {name.partition(".")[0] for name in names}
        formats = [known for idioms in tracer.idioms for top, known in idioms.formats.items() if top in tops]
        suffixes += [suffix for known in formats for suffix in known]
        found = list(_list_path_endings(tracer, one.module, one.call.args[0])) if one.call.args else []
        if any("." in end and f".{end.rpartition('.')[2].lower()}" not in texts for end in found):
            return None
        endings += found or [""]
    return OpenedPaths(tuple(dict.fromkeys(endings)), tuple(dict.fromkeys(suffixes))) if endings else None


def _list_path_endings(tracer: Tracer, module: Module, node: ast.expr, depth: int = 0) -> Iterator[str]:
    """What the paths end in that an expression can give: a path itself, a stream that was opened, the text of a file."""
    if depth > DEPTH:
        yield ""
        return
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _READ
        and not isinstance(node.func.value, ast.Constant)
    ):
        if not (node.args and last_name(node.func.value) in ("codecs", "io", "gzip", "os")):
            yield from _list_path_endings(tracer, module, node.func.value, depth + 1)
            return
    if isinstance(node, ast.Call) and last_name(node.func) in (*_PATHS, "join", "joinpath") and node.args:
        yield from _list_path_endings(
            tracer, module, node.args[-1] if last_name(node.func) in ("join", "joinpath") else node.args[0], depth + 1
        )
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from _list_path_endings(tracer, module, node.right, depth + 1)
        return
    for source in tracer.evaluate(module, node):
        inner, home = source.node, source.module
        if source.trace.kind in _CHOSEN:  # a user may choose another one
            yield ""
        elif isinstance(source.value, Known) and isinstance(source.value.value, str):
            yield _normalize_path(source.value.value)
        elif isinstance(inner, (ast.With, ast.AsyncWith)) and isinstance(home, Module) and isinstance(node, ast.Name):
            for item in inner.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == node.id:
                    yield from _list_path_endings(tracer, home, item.context_expr, depth + 1)
        elif isinstance(home, Module) and isinstance(inner, (ast.Call, ast.BinOp)) and inner is not node:
            yield from _list_path_endings(tracer, home, inner, depth + 1)
        else:
            yield _find_literal_end(inner)


def _find_literal_end(node: object) -> str:
    """The text that an expression ends in, from the last folder on; a part of a name has a star in front; "" where it is not written."""
    joined = list_text_fragments(node) if isinstance(node, ast.expr) else None
    last = joined[-1] if joined else None
    if not isinstance(last, str) or not last:
        return ""
    folder, slash, rest = last.partition("/")
    return _normalize_path(rest) if slash else f"*{folder}"


def _normalize_path(path: str) -> str:
    return "/".join(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in (".", "..", "/"))
