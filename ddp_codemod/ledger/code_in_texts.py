"""Programs that a text holds: ``exec(CODE)``, ``python -c "..."``, ``python - <<EOF`` and ``cat > child.py <<EOF`` in a script."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator

from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.ledger.commands_in_code import is_run
from ddp_codemod.model import Place, Reason, Source, Uncovered
from ddp_codemod.parse.python import parse_tree
from ddp_codemod.parse.shell import Script
from ddp_codemod.sites.word_search import TextMatcher

_PYTHON = re.compile(r"\bpython[\w.]*\b[^\n]*\s-c\b|<<-?[ \t]*\\?[\"']?[A-Za-z_]")  # starts Python on a text, or has lines of one
# ... and what a program on standard input is passed, the word that ends it, and the program
_STANDARD_INPUT = re.compile(
    r"\bpython[\w.]*[ \t][^\n]*?(?<=[ \t])-[ \t]([^\n]*?)<<-?[ \t]*\\?[\"']?(\w+)[^\n]*\n(.*?)^[ \t]*\2\b",
    re.DOTALL | re.MULTILINE,
)
_GIVEN = re.compile(
    r"""\bpython[\w.]*[ \t][^\n]*?(?<=[ \t])-c[ \t]+("(?:[^"\\]|\\.)*"|'[^']*')([^\n;|&<>]*)""", re.DOTALL
)  # the same of -c
_SHOWN = re.compile(r"[ \t]*(?:#|echo\b|printf\b)")  # what a line begins with that only shows a text


def find_code_in_texts(
    tracer: Tracer,
    names: Iterable[str],
    called: Iterable[str],
    sayers: Container[str],
    admits: Callable[[str], bool],
) -> Iterator[Uncovered]:
    """The texts that call something which takes a backend, and hand it one of the names; ``called`` are the last names of these."""
    words = sorted(names)
    if words:
        called = sorted(called)
        calls, quoted = ("|".join(map(re.escape, some)) for some in (called, words))
        pattern = re.compile(rf"\b({calls})\s*\((?:[^()]|\([^()]*\))*?\\?[\"']({quoted})\\?[\"']")
        yield from _find_in_code(tracer, words, pattern, sayers, admits)
        yield from _find_in_scripts(tracer, words, called, pattern, admits)


def _find_in_code(
    tracer: Tracer, names: list[str], pattern: re.Pattern[str], sayers: Container[str], admits: Callable[[str], bool]
) -> Iterator[Uncovered]:
    project, given = tracer.resolver.project, TextMatcher(names)
    for name in filter(admits, project.names):
        if is_test(name) or not given.held(project.data(name)):
            continue
        for module in project.programs(name):
            for node in module.nodes.get(ast.Constant, ()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := pattern.search(node.value)):
                    if (_is_program(node.value) or _PYTHON.search(node.value)) and is_run(tracer, module, node, sayers):
                        yield _make_mention(module.place(node), module.source, found)


def _is_program(text: str) -> bool:
    try:
        parse_tree(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return False
    return True


def _find_in_scripts(
    tracer: Tracer, names: list[str], called: list[str], pattern: re.Pattern[str], admits: Callable[[str], bool]
) -> Iterator[Uncovered]:
    for script in tracer.resolver.project.scripts(*names):
        text = script.source.text
        if admits(script.name) and _PYTHON.search(text):
            for found in pattern.finditer(text):
                start, end = found.span(2)
                if _SHOWN.match(text, text.rfind("\n", 0, start) + 1):
                    continue
                yield _make_mention(Place(script.name, start, end), script.source, found)
            yield from _find_arguments(script, names, called)


def _find_arguments(script: Script, names: list[str], called: list[str]) -> Iterator[Uncovered]:
    """The names among the arguments of a program on standard input that makes a group: ``python - nccl <<EOF``, or on -c."""
    text = script.source.text
    programs = [(line.start(1), line[1], line[3]) for line in _STANDARD_INPUT.finditer(text)]
    programs += [(line.start(2), line[2], line[1]) for line in _GIVEN.finditer(text)]
    for begin, given, program in programs:
        taker = next((name for name in called if re.search(rf"\b{re.escape(name)}\s*\(", program)), None)
        for word in re.finditer(r"[^\s\"']+", given) if taker is not None else ():
            if word[0].lower() in names:
                start = begin + word.start()
                place = Place(script.name, start, start + len(word[0]))
                reason = Reason.of("uncovered-text", text=word[0], name=taker or "")
                yield Uncovered(place, script.source.position(start)[0], word[0], reason)


def _make_mention(place: Place, source: Source, found: re.Match[str]) -> Uncovered:
    line = source.position(place.start)[0]
    return Uncovered(place, line, found[2], Reason.of("uncovered-text", text=found[2], name=found[1]))
