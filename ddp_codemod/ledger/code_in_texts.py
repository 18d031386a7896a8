"""Programs that a text holds: ``exec(CODE)``, ``python -c "..."``, what a script hands to ``python - <<EOF``."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.ledger.commands_in_code import is_run
from ddp_codemod.model import Place, Reason, Source, Unaccounted
from ddp_codemod.sites.word_search import TextMatcher

_PYTHON = re.compile(r"\bpython[\w.]*\b[^\n]*\s(?:-c\b|-\s*<<|<<)")  # a line of a script that starts Python on a text


def find_code_in_texts(
    tracer: Tracer,
    names: Iterable[str],
    called: Iterable[str],
    sayers: Container[str],
    admits: Callable[[str], bool],
) -> Iterator[Unaccounted]:
    """The texts that call something which takes a backend, and hand it one of the names; ``called`` are the last names of these."""
    words = sorted(names)
    if words:
        calls, quoted = ("|".join(map(re.escape, sorted(some))) for some in (called, words))
        pattern = re.compile(rf"\b({calls})\s*\([^()]*?\\?[\"']({quoted})\\?[\"']")
        yield from _find_in_code(tracer, words, pattern, sayers, admits)
        yield from _find_in_scripts(tracer, words, pattern, admits)


def _find_in_code(
    tracer: Tracer, names: list[str], pattern: re.Pattern[str], sayers: Container[str], admits: Callable[[str], bool]
) -> Iterator[Unaccounted]:
    project, given = tracer.resolver.project, TextMatcher(names)
    for name in filter(admits, project.names):
        if is_test(name) or not given.held(project.data(name)):
            continue
        for module in project.programs(name):
            for node in module.nodes.get(ast.Constant, ()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := pattern.search(node.value)):
                    if _is_program(node.value) and is_run(tracer, module, node, sayers):
                        yield _make_mention(module.place(node), module.source, found)


def _is_program(text: str) -> bool:
    try:
        ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return False
    return True


def _find_in_scripts(
    tracer: Tracer, names: list[str], pattern: re.Pattern[str], admits: Callable[[str], bool]
) -> Iterator[Unaccounted]:
    for script in tracer.resolver.project.scripts(*names):
        text = script.source.text
        if admits(script.name) and _PYTHON.search(text):
            for found in pattern.finditer(text):
                start, end = found.span(2)
                yield _make_mention(Place(script.name, start, end), script.source, found)


def _make_mention(place: Place, source: Source, found: re.Match[str]) -> Unaccounted:
    line = source.position(place.start)[0]
    return Unaccounted(place, line, found[2], Reason.of("unaccounted-text", text=found[2], name=found[1]))
