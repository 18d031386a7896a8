"""Arguments that ``partial`` binds for a call that makes a group: its object shows them, ``start.keywords``."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.dataflow.values import Value
from ddp_codemod.policy.findings import Finding
from ddp_codemod.policy.other_uses import OtherUse, OtherUses
from ddp_codemod.sites.surface_calls import Use


def find_reader_of_bound(uses: OtherUses, finding: Finding, source: Value, new: str, old: str | None = None) -> OtherUse | None:
    """What reads the argument of a finding from the object that binds it, and does something else with another text."""
    use, argument = finding.use, finding.argument
    if not isinstance(use, Use) or use.skip <= 0 or not isinstance(argument, ast.expr):
        return None
    return uses.of(replace(source, module=use.module, node=argument), new, old)
