"""Where in the project the value of a group that a run made is written, or passed on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.files import walk_files
from ddp_codemod.health import RecordedGroup
from ddp_codemod.kinds import OriginKind
from ddp_codemod.ledger.coverage_check import find_uncovered_mentions
from ddp_codemod.ledger.mentions import find_mentions
from ddp_codemod.model import Source
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.python import Module, parse_tree
from ddp_codemod.policy.finding_decisions import decisions_of
from ddp_codemod.policy.findings import Change, Context, Finding, Insertions, Splice
from ddp_codemod.policy.limits import Limits
from ddp_codemod.sites.surface_calls import Use

LARGEST = 1_000_000  # bytes of a text that a program executes


def find_call(module: Module, group: RecordedGroup) -> ast.Call | None:
    """The call of the project that the run was in; of several on a line the one at whose columns, else the one that passes the same."""
    line = group.stack[0].line
    here = [node for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call) and is_at_line(module, node, line)]
    if group.span is not None:
        return next((call for call in here if _span_of(call) == group.span), None)
    fitting = [call for call in here if passes_arguments_unchanged(call, group)] if group.caller is None else here
    return fitting[0] if len(fitting) == 1 else None


def is_at_line(module: Module, node: ast.AST, line: int) -> bool:
    """Whether a line of the file is one of those that a node is on; the text of a notebook has others."""
    place = module.place(node)
    return module.source.position(place.start)[0] <= line <= module.source.position(place.end)[0]


def _span_of(call: ast.Call) -> tuple[int | None, ...]:
    return call.lineno, call.end_lineno, call.col_offset, call.end_col_offset


def passes_arguments_unchanged(call: ast.Call, group: RecordedGroup) -> bool:
    """Whether the arguments of a call are those that arrived: nothing in between binds some beforehand."""
    many, names = group.passed
    plain = [one for one in call.args if not isinstance(one, ast.Starred)]
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    if len(plain) < len(call.args):
        return len(plain) <= many and named <= {*names}
    spread = any(keyword.arg is None for keyword in call.keywords)
    return len(plain) == many and (named <= {*names} if spread else named == {*names})


def find_direct_argument(use: Use, parameter: Parameter, group: RecordedGroup) -> ast.expr | None:
    """What the call itself passes for the backend, as the run saw it come: by name, or at its position."""
    return use.argument(parameter) if passes_arguments_unchanged(use.call, group) else None


def find_library_argument(call: ast.Call, group: RecordedGroup) -> ast.expr | None:
    """The argument by which a library's function got the value; None where the run saw none, or not which."""
    found: list[ast.expr] = []
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    for name, at in group.taken:
        found += [keyword.value for keyword in call.keywords if keyword.arg == name]
        found += [call.args[at]] if at is not None and not starred and 0 <= at < len(call.args) else []
    texts = [one for one in found if not isinstance(one, ast.Constant) or one.value == group.backend]
    return texts[0] if len(texts) == 1 else None


def find_only_source(
    context: Context, limits: Limits, found: Sequence[Finding], call: ast.Call, module: Module, value: str, rule: str
) -> Value | None:
    """The one place from which the value can have come: in what the call itself passes, else in the project, where nothing else reads it."""
    inside = [node for node in ast.walk(call) if isinstance(node, ast.Constant) and node.value == value]
    if inside:
        return Value(module, inside[0], OriginKind.LITERAL, Known(value)) if len(inside) == 1 else None
    decided = [result for finding in found for result in decisions_of(finding)]
    left = [one for one in find_uncovered_mentions(context, decided, (), (), limits, [rule]) if one.text == value]
    if len(left) != 1:
        return None
    project = context.tracer.resolver.project
    places = find_mentions(project, [value.lower()], lambda text: text == value, limits.admits)
    one = next((one for one in places if one.place == left[0].place), None)
    if one is None or one.in_code:
        return None
    kind = OriginKind.CONFIG_KEY if isinstance(one.tree, Document) else OriginKind.LITERAL
    return Value(one.tree, one.node, kind, Known(value))


def find_text_changes(context: Context, limits: Limits, use: Use, group: RecordedGroup, wanted: str) -> list[Change]:
    """The change inside the text that is executed: in the program that writes it, else in the one file that holds it, at its line."""
    assert group.backend is not None
    quoted = re.compile(rf"(?<=[\"']){re.escape(group.backend)}(?=\\?[\"'])")
    given = use.call.args[0] if use.call.args else None
    if isinstance(given, ast.Call) and given.args and isinstance(given.func, ast.Name):  # exec(compile(TEXT, ...))
        given = given.args[0]
    sources = [*context.tracer.evaluate(use.module, given)] if given is not None else []
    if len(sources) == 1 and isinstance(sources[0].value, Known):
        module, node = sources[0].code
        texts = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return [*_find_in_texts(module, texts, quoted, wanted)]
    return [*_find_in_file(context, limits, group, quoted, wanted)]


def _find_in_texts(module: Module, texts: Sequence[ast.Constant], quoted: re.Pattern[str], wanted: str) -> Iterator[Change]:
    places = [module.place(one) for one in texts]
    found = [(one, place) for place in places for one in quoted.finditer(module.source.text, place.start, place.end)]
    if len(found) == 1:
        one, place = found[0]
        if (one.start(), one.end()) != (place.start + 1, place.end - 1):
            node = texts[places.index(place)]
            yield Insertions(module, node, ((one.start(), one.end(), wanted),))


def _find_in_file(
    context: Context, limits: Limits, group: RecordedGroup, quoted: re.Pattern[str], wanted: str
) -> Iterator[Change]:
    """The change in the file whose text the run executed, known by the call at its line: where no other file has one there."""
    project, found, value = context.tracer.resolver.project, list[Change](), (group.backend or "").encode()
    for path in walk_files(project.root, [project.root], ("",)):
        name = path.relative_to(project.root).as_posix()
        if not limits.admits(name) or path.stat().st_size > LARGEST or value not in path.read_bytes():
            continue
        module = project.module(name) if name in project.names else None
        text = module if module is not None else project.text(name)
        if text is not None:
            places = _find_passed_texts(text.source, group)
            for one in (one for start, end in places for one in quoted.finditer(text.source.text, start, end)):
                found.append(Splice(text, one.start(), wanted, length=one.end() - one.start()))
    if len(found) == 1:
        yield found[0]


def _find_passed_texts(source: Source, group: RecordedGroup) -> list[tuple[int, int]]:
    """The texts that are the backend, among the arguments of a call at the line of a program."""
    try:
        tree = parse_tree(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = (
        one for one in ast.walk(tree) if isinstance(one, ast.Call) and one.lineno <= group.text_line <= (one.end_lineno or 0)
    )
    given = [part for one in calls for part in (*one.args, *(keyword.value for keyword in one.keywords))]
    texts = [one for one in given if isinstance(one, ast.Constant) and one.value == group.backend]
    return [
        (source.offset(one.lineno, one.col_offset), source.offset(one.end_lineno or one.lineno, one.end_col_offset or 0))
        for one in texts
    ]
