"""The changes of an argument on its way into a call: what is edited there instead of where the value starts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.joined_texts import slots
from ddp_codemod.dataflow.translations import is_translated
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.parse.python import Module, parse_expression
from ddp_codemod.policy.findings import Change, Finding, NewText, Translation
from ddp_codemod.sites.entities import Instance
from ddp_codemod.sites.surface_calls import Use


def make_translations(facts: Facts, finding: Finding, texts: Iterable[tuple[str | None, str]]) -> Iterator[Translation]:
    """The changes at the call in place of those where the values start; none where the project does not write the argument."""
    use, pairs = finding.use, tuple(dict(texts).items())
    if not isinstance(use, Use) or not (use.is_exact or use.guard) or not is_name_argument(finding) or not pairs:
        return
    argument, when = finding.argument, "" if use.is_exact else use.guard
    closed = _is_closed(finding) and not when
    if isinstance(argument, ast.expr) and (parts := slots(argument)):
        if when:
            return
        for part in parts:
            if not is_translated(facts, use.module, part) and _has_right_offsets(use.module, part):
                yield Translation(use.module, part, pairs, closed and len(parts) == 1)
        return
    if any(_is_part(source) for source in finding.possible):
        return  # what arrives is the whole text, of which the place that it is put together at is not this one
    if isinstance(argument, ast.expr):
        if (when or not isinstance(argument, ast.Constant)) and not is_translated(facts, use.module, argument, when=when):
            yield Translation(use.module, argument, pairs, closed, when=when)
        return
    if len(use.spread) > 1 or any(isinstance(use.module.parents.get(node), ast.Starred) for node in use.spread):
        pairs = tuple(pair for pair in pairs if pair[0] is not None)  # which of them is the backend is not known
    for node in use.spread if pairs else ():
        if not is_translated(facts, use.module, node, finding.parameter, when):
            yield Translation(
                use.module,
                node,
                pairs,
                closed and len(use.spread) == 1,
                key=finding.parameter,
                when=when,
                copied=_is_object(facts, use.module, node),
            )


def _is_object(facts: Facts, module: Module, node: ast.expr) -> bool:
    """Whether a mapping is an object of a class of the project, which may have no method but ``keys`` and ``__getitem__``."""
    if isinstance(module.parents.get(node), ast.Starred):
        return False  # its elements are unpacked
    made = (one for one in facts.resolver.resolve(module, node) if isinstance(one, Instance))
    return any(
        all(facts.resolver.resolve(home, base) for home, one in lineage for base in one.bases)
        and not facts.resolver.external_bases(lineage[0][0], lineage[0][1])
        for lineage in ([*facts.resolver.lineage(one.module, one.node)] for one in made)
    )


def _has_right_offsets(module: Module, node: ast.expr) -> bool:
    """Whether the offsets of an expression are right: older Pythons miscount inside f-strings of several lines."""
    try:
        return ast.dump(parse_expression(module.text(node)).body) == ast.dump(node)
    except SyntaxError:
        return False


def _is_part(source: Value) -> bool:
    return any(step.reason.means is Meaning.PART for step in source.trace.passed)


def _is_closed(finding: Finding) -> bool:
    """Whether all that can arrive is known, and becomes one text."""
    texts = {change.text for change in finding.changes if isinstance(change, NewText)}
    changed = {id(change.source.node) for change in finding.changes if isinstance(change, NewText)}
    return finding.possible.closed and len(texts) == 1 and all(_can_become(source, changed, texts) for source in finding.possible)


def _can_become(source: Value, changed: set[int], texts: set[str]) -> bool:
    if source.is_given:
        return False
    return id(source.node) in changed or (isinstance(source.value, Known) and source.value.value in texts)


def drop_translated_changes(changes: Iterable[Change], translations: Iterable[Translation]) -> list[Change]:
    """The changes that are in no argument which is changed as a whole."""
    places = [one.module.place(one.argument) for one in translations]

    def stands_in(change: Change) -> bool:
        at = change.source.place if isinstance(change, NewText) else None
        return at is not None and any(
            place.name == at.name and place.start <= at.start and at.end <= place.end for place in places
        )

    return [change for change in changes if not stands_in(change)]


def merge_omissions(changes: list[Change], translations: list[Translation]) -> tuple[list[Change], list[Translation]]:
    """The changes and translations, of which those of an entry stand for one that the same mapping lacks, too."""
    fills = {one.argument: one for one in changes if isinstance(one, Translation) and one.fills}
    merged = [
        replace(one, pairs=tuple({**dict(fills[one.argument].pairs), **dict(one.pairs)}.items()))
        if one.argument in fills
        else one
        for one in translations
    ]
    done = {one.argument for one in merged}
    return [one for one in changes if not (isinstance(one, Translation) and one.fills and one.argument in done)], merged


def is_name_argument(finding: Finding) -> bool:
    """Whether the argument is the name itself, not an object that holds it."""
    parameters = finding.use.surface.parameters if isinstance(finding.use, Use) else ()
    wanted = (one for one in parameters if one.name == finding.parameter)
    # a name that does harm in a process that no launcher started takes a condition, which a call cannot have beside another
    return any(one.add in ("keyword", "never") and one.launched is None and not one.inside for one in wanted)


def list_texts(changes: Iterable[Change]) -> list[tuple[str | None, str]]:
    """The old and new values of changes; None is written out in the project too.

    A name in capitals is there in small letters besides: ``NAME.lower()`` or ``Backend(NAME)`` may be what arrives.
    """
    found = ((change.source.value, change.text) for change in changes if isinstance(change, NewText))
    known = [(value.value, text) for value, text in found if isinstance(value, Known)]
    texts = [(value, text) for value, text in known if value is None or isinstance(value, str)]
    lowered = [(value.lower(), text) for value, text in texts if value is not None and value != value.lower()]
    return [*dict.fromkeys((*texts, *lowered))]
