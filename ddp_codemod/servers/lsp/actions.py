"""The edits of a survey as an editor makes them: a group at a time, all of a file, all of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lsprotocol import types

from ddp_codemod.edits.render import render
from ddp_codemod.edits.splice import compute_replacements
from ddp_codemod.edits.units import Unit, build_units, select_units
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Applicability
from ddp_codemod.report.view import shorten_text
from ddp_codemod.servers.lsp.findings import Findings
from ddp_codemod.servers.quoting import clean_text

FILE = "source.fixAll.ddpCodemod"
PROJECT = "source.ddpCodemod.fixProject"
KINDS = (types.CodeActionKind.QuickFix, FILE, PROJECT)
Document = Callable[[str], types.OptionalVersionedTextDocumentIdentifier]  # of a file by its name


def find_actions(
    findings: Findings, document: Document, name: str, first: int, last: int, only_kinds: Sequence[str] | None
) -> Iterator[types.CodeAction]:
    """What can be done about some lines (counted from 0) of a file; kinds as the client asks for them."""

    def wanted(kind: str) -> bool:
        return only_kinds is None or any(kind == one or kind.startswith(one + ".") for one in only_kinds)

    possible = [unit for unit in build_units(findings.survey) if unit.applicability is not Applicability.MANUAL]
    if wanted(types.CodeActionKind.QuickFix):
        for unit in possible:
            if _is_touched(findings, unit, name, first, last) and (edit := _make_edit(findings, document, [unit])) is not None:
                safe = unit.applicability is Applicability.SAFE
                text = clean_text(shorten_text(sentence(unit.lead.reason, findings.lang), 120))
                title = findings.say("lsp-action" if safe else "lsp-action-unsafe", rule=unit.lead.rule, said=text)
                yield types.CodeAction(title, types.CodeActionKind.QuickFix, edit=edit, is_preferred=safe)
    safe_ones = [unit for unit in possible if unit.applicability is Applicability.SAFE]
    here = [unit for unit in safe_ones if name in unit.names]
    for kind, taken, key in ((FILE, here, "lsp-fix-file"), (PROJECT, safe_ones if here else [], "lsp-fix-project")):
        if wanted(kind) and taken and (edit := _make_edit(findings, document, taken)) is not None:
            yield types.CodeAction(findings.say(key, n=len(taken)), kind, edit=edit)


def _is_touched(findings: Findings, unit: Unit, name: str, first: int, last: int) -> bool:
    """Whether the lines are those of an edit of the unit, or of a site that it is made for."""
    source = findings.source(name)
    if source is None:
        return False
    places = [(edit.start, edit.end, edit.anchor) for edit in unit.edits if edit.name == name]
    origins = {(edit.name, edit.start) for edit in unit.edits}
    places += [
        (one.place.start, one.place.end, None)
        for one in findings.survey.decisions
        if one.place.name == name and any((at.place.name, at.place.start) in origins for at in one.origins)
    ]
    for start, end, anchor in places:
        rows = [source.position(at)[0] - 1 for at in (start, end, start if anchor is None else anchor)]
        if min(rows) <= last and first <= max(rows):
            return True
    return False


def _make_edit(findings: Findings, document: Document, taken: Sequence[Unit]) -> types.WorkspaceEdit | None:
    """The units as one edit of the workspace; None where one of them cannot be made, or a file is no plain text."""
    survey = select_units(findings.survey, taken)
    result = render(survey, unsafe=True)
    if result.failed or not result.changes:
        return None
    changes: list[types.TextDocumentEdit] = []
    for change in result.changes:
        source = findings.source(change.name)
        if source is None:
            return None
        mine = [edit for edit in survey.edits if edit.name == change.name]
        edits = [
            types.TextEdit(findings.range(source, start, end), new) for start, end, new in compute_replacements(source, mine)
        ]
        changes.append(types.TextDocumentEdit(document(change.name), list(edits)))
    return types.WorkspaceEdit(document_changes=list(changes))
