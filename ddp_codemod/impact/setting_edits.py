"""Edits of configuration files that ask a framework for a device which the platform lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.model import Surface
from ddp_codemod.dataflow.values import ValueSet
from ddp_codemod.impact.advice_text import format_advice
from ddp_codemod.impact.advisories import PortedProject
from ddp_codemod.impact.usage_settings import list_settings
from ddp_codemod.model import Action, Applicability
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.policy.findings import Finding, Splice
from ddp_codemod.sites.config_uses import ConfiguredUse

_LISTED = re.compile(r"\[[^\[\]\n#]*\]")  # a list on the line of its key


def find_setting_edits(whole: PortedProject, advice: Advice) -> Iterator[Finding]:
    """One for each entry that an advice about settings is about, and whose mapping can be edited as a whole."""
    pattern, rewrite = advice.pattern, advice.rewrite
    if pattern is None or rewrite is None or rewrite.recipe != "set-entry" or not whole.alone:
        return
    for document, entry in list_settings(whole.context, pattern):
        counted = _count_processes(document, entry, rewrite.value) if rewrite.value else []
        if counted is None or document.binds:
            continue
        changes = [_set_value(document, entry, rewrite.otherwise), *counted]
        reason = format_advice(advice)
        use = ConfiguredUse(document, entry, Surface(id=advice.id, names=pattern.names, source=advice.source))
        made = Finding(use, entry.path[-1], entry, ValueSet(), (), Action.KEEP, Applicability.SAFE, None, reason)
        yield made.edit(advice.id, False, reason, changes)


def _set_value(document: Document, entry: Entry, value: str) -> Splice:
    """Another value of the same kind: a text keeps its quotes."""
    written = document.write(document.source.text, entry, value) if entry.is_text else value
    return Splice(document, entry.start, written, length=entry.end - entry.start)


def _count_processes(document: Document, entry: Entry, key: str) -> list[Splice] | None:
    """The number of processes in place of a list of devices or of all of them; None where there is no place for it."""
    above = (*entry.path[:-1], key)
    inside = [one for one in document.entries if one.document == entry.document and one.path[: len(above)] == above]
    if not inside:
        return []
    first = inside[0]
    if first.path == above:
        if first.value.strip() == "-1":
            return [Splice(document, first.start, "1", length=first.end - first.start)]
        return [_set_number(document, first)] if "," in first.value else []
    text = document.source.text
    line, end = document.source.line_span(first.start)
    found = _LISTED.search(text, line, end)
    if found is None or not found.start() < first.start < inside[-1].end <= found.end():
        return None
    return [Splice(document, found.start(), str(len(inside)), length=found.end() - found.start())]


def _set_number(document: Document, entry: Entry) -> Splice:
    number = len([one for one in entry.value.split(",") if one.strip()])
    return Splice(document, entry.start, str(number), length=entry.end - entry.start)
