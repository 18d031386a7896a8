"""Where a run may change something: under the paths passed, within what the project allows, and where no comment says otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.model import Advisory, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import Tree, place_of
from ddp_codemod.policy.finding_decisions import places_of
from ddp_codemod.policy.findings import Finding, Insertions, NewText

IGNORE = re.compile(r"#\s*ddp-codemod:\s*ignore(?:\[([\w, -]*)\])?")


class Limits(Bounds, frozen=True):
    """The bounds of a run, and the comments that narrow them."""

    def bar(self, name: str, rule: str, place: str) -> Reason | None:
        """Why a rule may not edit a file, if so; ``place`` is what the reader is told."""
        if not self.covers(name):
            return Reason.of("review-outside", origin=place)
        if self.is_in_other_work_tree(name):
            return Reason.of("review-apart", origin=place)
        if self.excludes(name):
            return Reason.of("review-excluded", origin=place)
        return Reason.of("review-spared", origin=place, rule=rule) if self.scope.ignores_in(name, {rule}) else None

    def filter_finding(self, finding: Finding) -> Finding | None:
        """The finding; None where its line says that it is to be left alone, or the project says so for its file."""
        marked: list[tuple[Tree, int]] = [(finding.use.module, at) for at in _list_touched_offsets(finding)]
        for change in finding.changes:
            if isinstance(change, NewText):
                marked += [(change.source.module, at) for at in (change.source.place.start, change.source.place.end)]
            elif isinstance(change, Insertions):
                marked += [(change.module, start) for start, _, _ in change.replacements]
        if any(has_ignore_comment(tree, offset, finding.rule) for tree, offset in marked):
            return None
        idents = {finding.use.surface.id, finding.rule or ""}
        if self.scope.ignores_in(finding.use.module.name, idents):
            return None
        at = tuple(source for source in finding.at if not self.scope.ignores_in(source.module.name, idents))
        return None if finding.at and not at else replace(finding, at=at)

    def is_note_ignored(self, note: Advisory, read: Callable[[str], bytes]) -> bool:
        """Whether the project leaves a note's rule out of its file, or a comment says so at the end of its line."""
        if not note.name or self.scope.ignores_in(note.name, {note.rule}):
            return bool(note.name)
        line = read(note.name).splitlines()[note.line - 1 : note.line] if note.line else ()
        return any(_names_rule(said, note.rule) for one in line for said in IGNORE.finditer(one.decode("utf-8", "replace")))


def _names_rule(said: re.Match[str], rule: str | None) -> bool:
    """Whether a comment is about a rule: it names that, or none."""
    return said.group(1) is None or rule in re.split(r"[,\s]+", said.group(1))


def _list_touched_offsets(finding: Finding) -> Iterator[int]:
    """Offsets in the lines that an edit of the finding can touch: where its value and its call begin and end, and where an argument is added."""
    module, call = finding.use.module, finding.use.call
    for place in places_of(finding):
        yield from (place.start, place.end)
    if isinstance(call, ast.Call):
        for last in (*call.args[-1:], *call.keywords[-1:]):
            yield place_of(module, last).end


def has_ignore_comment(tree: Tree, offset: int, rule: str | None) -> bool:
    """Whether a comment at the end of the line says so."""
    start, end = tree.source.line_span(offset)
    for said in IGNORE.finditer(tree.source.text, start, end):
        if _names_rule(said, rule):
            return not isinstance(tree, Module) or not _is_in_string(tree, said.start())
    return False


def has_ignore_comment_in_span(tree: Tree, start: int, end: int, rule: str) -> bool:
    """Whether a comment says so at the end of any line of a span."""
    at = start
    while at < end:
        if has_ignore_comment(tree, at, rule):
            return True
        at = tree.source.line_span(at)[1]
    return False


def _is_in_string(module: Module, offset: int) -> bool:
    texts = (node for kind in (ast.Constant, ast.JoinedStr) for node in module.nodes.get(kind, ()))
    return any(place.start < offset < place.end for place in (module.place(node) for node in texts))
