"""What a survey says about each file, as an editor shows it: places with a sentence, and the way to where a value starts."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from pygls.workspace import PositionCodec

from ddp_codemod.kinds import Meaning
from ddp_codemod.messages import render, text
from ddp_codemod.model import Action, Decision, Edit, Place, Reason, Skipped, Source, Survey
from ddp_codemod.report.edit_sites import leading_edits
from ddp_codemod.report.explain import explain_site
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.view import View
from ddp_codemod.run.survey import limit_to_line
from ddp_codemod.servers.quoting import clean_text

NAME = "ddp-codemod"
LONGEST = 1000  # characters of a sentence
_WARNING, _NOTE = types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Information


class Findings:
    """One survey, whose sentences have the project's words quoted, and how the client counts columns."""

    def __init__(self, survey: Survey, codec: PositionCodec, lang: str) -> None:
        self.survey, self.lang = survey, lang
        self._codec = codec

    def diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        """By file: each value that is edited or for review, where such a value starts, and what a switch breaks."""
        found: dict[str, list[types.Diagnostic]] = {}
        seen: set[tuple[str, str, int]] = set()
        for place, severity, code, reason in (
            *self._find_site_diagnostics(),
            *self._find_edit_diagnostics(),
            *self._find_note_diagnostics(),
        ):
            source = self.source(place.name)
            if source is None or (key := (place.name, code, place.start)) in seen:
                continue
            seen.add(key)
            message = clean_text(render(reason, self.lang), LONGEST)
            result = types.Diagnostic(self.range(source, place.start, place.end), message, severity, code, source=NAME)
            found.setdefault(place.name, []).append(result)
        for one in self.survey.skipped:
            if one.candidate and one.reason.means is not Meaning.APART:
                found.setdefault(one.name, []).append(self._make_unread_diagnostic(one))
        return found

    def _make_unread_diagnostic(self, one: Skipped) -> types.Diagnostic:
        """That a file has no findings because it was not read, on the line that the reason names."""
        line = dict(one.reason.args).get("line", "")
        row = max(int(line) - 1, 0) if line.isdigit() else 0
        message = clean_text(text("lsp-unread", self.lang, why=render(one.reason, self.lang)), LONGEST)
        return types.Diagnostic(
            types.Range(types.Position(row, 0), types.Position(row + 1, 0)), message, _NOTE, "unread", source=NAME
        )

    def _find_site_diagnostics(self) -> Iterator[tuple[Place, types.DiagnosticSeverity, str, Reason]]:
        for decision in self.survey.decisions:
            if decision.action is Action.EDIT:
                yield decision.place, self._severity_of(decision), decision.rule or "", decision.reason
            elif decision.action is Action.REVIEW:
                yield decision.place, _NOTE, "review", decision.reason

    def _find_edit_diagnostics(self) -> Iterator[tuple[Place, types.DiagnosticSeverity, str, Reason]]:
        """The edits elsewhere than at the value that a site is told of by."""
        told = [one.place for one in self.survey.decisions if one.action is Action.EDIT]
        for edit in leading_edits(self.survey.edits, self.survey):
            at = edit.start if edit.anchor is None else edit.anchor
            if not any(one.name == edit.name and one.start <= at < max(one.end, one.start + 1) for one in told):
                yield Place(edit.name, at, max(edit.end, at)), self._severity_of(edit), edit.rule, edit.reason

    def _find_note_diagnostics(self) -> Iterator[tuple[Place, types.DiagnosticSeverity, str, Reason]]:
        for note in self.survey.advisories:
            source = self.source(note.name) if note.line else None
            if source is not None and note.line <= len(source.line_starts):
                start, end = source.line_span(source.line_starts[note.line - 1])
                shown = source.text[start:end].rstrip()
                yield (
                    Place(note.name, start + len(shown) - len(shown.lstrip()), start + len(shown)),
                    _NOTE,
                    note.rule,
                    note.message,
                )

    def _severity_of(self, one: Decision | Edit) -> types.DiagnosticSeverity:
        return _WARNING if one.applicability.value == "safe" else _NOTE

    def source(self, name: str) -> Source | None:
        """A file whose text is what the editor holds: of a notebook the text is a part only."""
        source = self.survey.sources.get(name)
        return source if source is not None and source.file is source else None

    def range(self, source: Source, start: int, end: int) -> types.Range:
        """A stretch of a file in the client's units."""
        starts = [*source.line_starts, len(source.text)]
        (first, left), (last, right) = source.position(start), source.position(end)
        lines = [source.text[starts[row] : starts[row + 1]] for row in range(first - 1, last)]
        plain = types.Range(types.Position(0, left), types.Position(last - first, right))
        result = self._codec.range_to_client_units(lines, plain)
        return types.Range(types.Position(first - 1, result.start.character), types.Position(last - 1, result.end.character))

    def hover(self, name: str, line: int) -> str | None:
        """Why a line (counted from 1) is changed, stays or needs review; None where nothing is decided there."""
        found = limit_to_line(self.survey, name, line)
        view = View(found, self.lang, Ink(False), self.survey.root.absolute())
        block = [row for decision in found.decisions for row in (*explain_site(view, decision), "")]
        block += [render(one.message, self.lang) for one in found.advisories]
        return clean_text("\n".join(block).strip(), 6000) or None

    def say(self, key: str, /, **args: object) -> str:
        """A sentence in the reader's language."""
        return text(key, self.lang, **args)
