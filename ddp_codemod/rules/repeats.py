"""What one function is told once: several of its calls may be for review for the very same reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.decisions import places_of
from ddp_codemod.rules.finding import Finding
from ddp_codemod.sites.scopes import scope_of


def said_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, of which a function's first speaks for the others where all say the same."""
    said: dict[tuple[object, ...], str] = {}
    for finding in findings:
        module, call = finding.use.module, finding.use.call
        here = all(leaf.node is finding.argument for leaf in finding.at)
        if finding.action is Action.REVIEW and finding.reason.means is Meaning.FOREIGN and here:
            if isinstance(module, Module) and isinstance(call, ast.AST):
                key = (module, scope_of(module, call), finding.use.surface.id, finding.parameter, finding.reason)
                if key in said:
                    finding = replace(finding.keep(Reason.of("keep-said", origin=said[key])), at=())
                else:
                    said[key] = f"{module.name}:{module.source.position(places_of(finding)[0].start)[0]}"
        yield finding
