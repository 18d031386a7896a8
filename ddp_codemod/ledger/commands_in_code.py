"""Commands that the texts of a program hold: ``os.system(f"torchrun train.py --dist-backend nccl --seed {seed}")``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterable, Iterator

from ddp_codemod.dataflow.calls import find_names, is_read
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.ledger.unread_parameters import is_only_printed
from ddp_codemod.model import Reason, Uncovered
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.word_search import TextMatcher

_STARTS = r"(?:\.py|-m\s+[\w.]+)\b[^\n]*?\s(--?[A-Za-z_][\w.-]*)[ =][\"']?"  # a program, and an option of it
_PROSE = ("description", "doc", "epilog", "help", "usage")  # keywords that take a text for people


def find_commands_in_code(
    tracer: Tracer, names: Iterable[str], sayers: Container[str], admits: Callable[[str], bool]
) -> Iterator[Uncovered]:
    """The commands that give one of the names to an option of a program."""
    given = TextMatcher(f"{before}{quote}{name}" for before in " =" for quote in ("", "'", '"') for name in sorted(names))
    project = tracer.resolver.project
    likely = [name for name in filter(admits, project.names) if given.held(project.data(name)) and not is_test(name)]
    if not likely:
        return  # before the patterns are made, which takes longer
    pattern = re.compile(rf"{_STARTS}({'|'.join(map(re.escape, sorted(names)))})\b(?![:./-])")
    data = re.compile(pattern.pattern.encode())
    for name in likely:
        if not data.search(project.data(name)):
            continue
        for module in project.programs(name):
            for node in module.nodes.get(ast.Constant, ()):
                said = pattern.search(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
                if said and isinstance(node, ast.Constant) and is_run(tracer, module, node, sayers):
                    place = module.place(node)
                    reason = Reason.of("uncovered-command", text=said[2], name=said[1])
                    yield Uncovered(place, module.source.position(place.start)[0], said[2], reason)


def is_run(tracer: Tracer, module: Module, node: ast.Constant, sayers: Container[str]) -> bool:
    """Whether the text may be run: it is no docstring, no help, and nobody only prints it; and the platform comes there."""
    below: ast.AST = node
    for around in module.ancestors(node):
        docstring = isinstance(around, ast.Expr) and isinstance(below, (ast.Constant, ast.JoinedStr))
        if docstring or isinstance(around, (ast.Raise, ast.Compare)):
            return False
        if isinstance(around, ast.keyword) and around.arg in _PROSE:
            return False
        if isinstance(around, ast.Assign) and not any(_is_read(module, target) for target in around.targets):
            return False
        if isinstance(around, ast.stmt):
            break
        below = around
    return not is_only_printed(tracer, module, node, sayers) and tracer.facts.unset.unreachable(module, node) is None


def _is_read(module: Module, target: ast.expr) -> bool:
    """Whether what is assigned is read again, as far as the file shows it."""
    return not isinstance(target, ast.Name) or any(is_read(module, name) for name in find_names(module, target.id))
