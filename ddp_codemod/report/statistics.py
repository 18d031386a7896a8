"""How many findings each rule and each folder has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from ddp_codemod.model import Survey
from ddp_codemod.report.fingerprints import fingerprint_findings
from ddp_codemod.report.view import View


def format_statistics(view: View, survey: Survey) -> list[str]:
    """The counts by rule and by folder, most first; [] without a finding."""
    found = fingerprint_findings(survey)
    if not found:
        return []
    folders = (str(PurePosixPath(one.name).parent) if one.name else "." for one in found)
    block = [view.ink(view.say("statistics-rules", n=len(found)), "bold"), *_format_counts(one.rule for one in found)]
    return [*block, "", view.ink(view.say("statistics-folders"), "bold"), *_format_counts(folders)]


def _format_counts(names: Iterable[str]) -> list[str]:
    counts = sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0]))
    width = len(str(counts[0][1]))
    return [f"  {count:>{width}}  {name}" for name, count in counts]
