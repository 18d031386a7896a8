"""The report for GitLab: Code Quality, an array of findings (https://docs.gitlab.com/ci/testing/code_quality/)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ddp_codemod.messages import render
from ddp_codemod.model import Applicability, Edit, Skipped
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.fingerprints import FingerprintedFinding, fingerprint_findings
from ddp_codemod.report.sarif import Scope


def dumps(scope: Scope, failed: Iterable[Edit] = (), unmade: Iterable[Skipped] = ()) -> bytes:
    """The document as bytes, ASCII only. Files that could not be handled are findings too."""
    entries = [_encode_entry(scope, one) for one in fingerprint_findings(scope.survey)]
    for skipped in (*scope.survey.skipped, *unmade):
        if skipped.candidate:
            text = render(skipped.reason, scope.lang)
            entries.append(
                _encode_finding(scope.path(skipped.name), 1, "not-handled", text, f"not-handled {skipped.name}", "major")
            )
    return (json.dumps(entries, indent=1) + "\n").encode("ascii")


def _encode_entry(scope: Scope, one: FingerprintedFinding) -> dict[str, object]:
    severity = "major" if scope.counts(one.sure) else "info" if one.sure is not Applicability.MANUAL else "minor"
    text = render(one.reason, scope.lang)
    return _encode_finding(scope.path(one.name), max(one.line, 1), one.rule, text, one.mark, severity)


def _encode_finding(path: str, line: int, rule: str, text: str, mark: str, severity: str) -> dict[str, object]:
    return {
        "description": escape_controls(text),
        "check_name": rule,
        "fingerprint": mark,
        "severity": severity,
        "location": {"path": path.encode("utf-8", "replace").decode(), "lines": {"begin": line}},
    }
