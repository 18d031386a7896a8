"""A backend for calls that unpack options which seem to have none: put among the options, as more code than is seen may add one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec.structs import replace

from ddp_codemod.impact.call_translations import make_translations
from ddp_codemod.impact.wrong_names import find_wrong_names
from ddp_codemod.model import Action, Applicability
from ddp_codemod.policy.default_argument import mark_unsafe
from ddp_codemod.policy.findings import Context, Finding, NewKeyword
from ddp_codemod.sites.surface_calls import Use


def put_into_options(context: Context, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, of which those that would pass a keyword beside unseen options change the options instead.

    A keyword beside options that have one of that name ends the program.
    """
    return [_put_into_options(context, one) for one in findings]


def _put_into_options(context: Context, finding: Finding) -> Finding:
    use = finding.use
    if finding.action is not Action.EDIT or not isinstance(use, Use) or not isinstance(use.call, ast.Call):
        return finding
    if all(map(_is_seen, use.spread)):
        return finding
    added = [change for change in finding.changes if isinstance(change, NewKeyword) and change.keyword == finding.parameter]
    if not any(one.name == finding.parameter and one.role == "backend" for one in use.surface.parameters) or not added:
        return finding
    wanted = context.platform.backend.wanted
    there = [*make_translations(context.facts, finding, [(None, wanted), *find_wrong_names(context, finding)])]
    if len(use.spread) != 1 or len(there) != 1:
        return mark_unsafe(finding) if finding.applicability is Applicability.SAFE else finding
    kept = [change for change in finding.changes if change not in added]
    return replace(finding, changes=(*kept, *(replace(one, closed=False) for one in there)))


def _is_seen(options: ast.expr) -> bool:
    """Whether what is unpacked is written out, or has a name, of which everything is seen that is done to it."""
    if isinstance(options, ast.Dict):
        return all(key is not None or _is_seen(value) for key, value in zip(options.keys, options.values, strict=True))
    return isinstance(options, ast.Name)
