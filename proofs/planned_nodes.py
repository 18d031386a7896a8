"""Only the planned nodes change; what compiled still compiles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from ddp_codemod.edits.splice import compute_replacements
from ddp_codemod.model import Source
from proofs.packages import packages
from proofs.proof import Trial
from proofs.surveyed import Changed, generated, made, parsed

Span = tuple[int, int]
PROMISE = "only the planned nodes change; what compiled still compiles"


def prove(trial: Trial) -> str:
    """Compare the trees before and after: what differs stands where an edit was planned."""
    compared = 0
    for _, found in generated(trial, trial.sized(120, 10_000)):
        compared += sum(_check(trial, one) for one in found)
    for name, found in packages(trial):
        compared += sum(_check(trial, one, name) for one in found)
    return (
        f"{compared} changed programs of {made(trial)} and {trial.counts['packages']} published packages: "
        f"{len(trial.failures)} nodes beside an edit, or programs that compile no more"
    )


def _check(trial: Trial, one: Changed, where: str = "") -> int:
    name = one.change.name
    if not name.endswith(".py"):
        return 0
    before = parsed(one.change.before)
    if before is None:
        return 0
    after = parsed(one.change.after)
    if after is None:
        trial.fail(f"{where}{name}: compiles no more", f"compile-{name}", one.change.before)
        return 1
    plan = _plan(one)
    for node in differing(before, after, plan):
        first, last = plan.old.place(node)
        if not any(start <= last and first <= end for start, end in plan.places):
            line = one.source.position(first)[0]
            trial.fail(
                f"{where}{name}:{line}: {type(node).__name__} changed, and no edit is there", f"nodes-{name}", one.change.before
            )
            break
    return 1


@dataclass(frozen=True)
class Text:
    """A program and the stretches in it that edits take out or put in."""

    source: Source
    spans: tuple[Span, ...]

    def place(self, node: ast.AST) -> Span:
        """Where a node stands; the whole text for one that has no place."""
        if not hasattr(node, "lineno"):
            return 0, len(self.source.text)
        decorators = getattr(node, "decorator_list", [])
        line, column = min([(node.lineno, node.col_offset), *((one.lineno, one.col_offset - 1) for one in decorators)])
        return self.source.offset(line, column), self.source.offset(node.end_lineno, node.end_col_offset)

    def beside(self, nodes: list[ast.AST]) -> list[ast.AST]:
        """The nodes that no edit holds as a whole."""
        return [
            node
            for node in nodes
            if not any(start <= self.place(node)[0] and self.place(node)[1] <= end for start, end in self.spans)
        ]


@dataclass(frozen=True)
class Plan:
    """Both texts of a file."""

    old: Text
    new: Text
    places: tuple[Span, ...]  # of all edits in the old one, also of those that only put something in


def _plan(one: Changed) -> Plan:
    moved, text = 0, one.source.text
    taken, put_in, places = [], [], []
    for start, end, put in compute_replacements(one.source, one.planned):
        text = text[: start + moved] + put + text[end + moved :]
        places.append((start, end))
        if start < end:
            taken.append((start, end))
        if put:
            put_in.append((start + moved, start + moved + len(put)))
        moved += len(put) - (end - start)
    return Plan(Text(one.source, tuple(taken)), Text(replace(one.source, text=text), tuple(put_in)), tuple(places))


def differing(one: ast.AST, other: ast.AST, plan: Plan) -> Iterator[ast.AST]:
    """The smallest nodes of the first tree in which the second differs, beside those that edits put in or take out."""
    todo = [(one, other)]
    while todo:
        old, new = todo.pop()
        if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp):  # what is added to a sum stands outside all of it
            was, now = plan.old.beside(_operands(old)), plan.new.beside(_operands(new))
            if len(was) == len(now) and len(was) > 1:
                todo += zip(was, now, strict=True)
                continue
        if type(old) is not type(new):
            yield old
            continue
        for field in old._fields:
            was, now = getattr(old, field, None), getattr(new, field, None)
            if isinstance(was, ast.AST) and isinstance(now, ast.AST):
                todo.append((was, now))
            elif isinstance(was, list) and isinstance(now, list) and any(isinstance(item, ast.AST) for item in was + now):
                was, now = (
                    [item for item in items if item is not None] for items in (was, now)
                )  # None: the "key" of ** in a dict
                if not isinstance(old, ast.JoinedStr):  # parts of f-strings have places from Python 3.12 on
                    was, now = plan.old.beside(was), plan.new.beside(now)
                if len(was) != len(now):
                    yield old
                else:
                    todo += zip(was, now, strict=True)
            elif was != now:
                yield old


def _operands(node: ast.expr) -> list[ast.AST]:
    """What is added up, from left to right; another operator's expression is one of them."""
    found: list[ast.AST] = []
    at = node
    while isinstance(at, ast.BinOp) and isinstance(at.op, ast.Add):
        found.append(at.right)
        at = at.left
    return [at, *reversed(found)]
