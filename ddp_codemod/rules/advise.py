"""Notes that no edit cures: warnings of the platform, and imports of names that it does not have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from ddp_codemod.model import Action, Advisory, Edit, Reason
from ddp_codemod.origins.calls import calls_of
from ddp_codemod.parse.python import Module
from ddp_codemod.rules.finding import Context, Finding, NewObject, NewText
from ddp_codemod.rules.tied import tied
from ddp_codemod.sites.find import Finder

Writable = Callable[[str], bool]


def advise(
    context: Context, finder: Finder, findings: Sequence[Finding], edits: Sequence[Edit], writable: Writable
) -> Iterator[Advisory]:
    """All notes about the files that may be written."""
    yield from _warnings(context, findings, writable)
    yield from _missing_imports(context, finder, writable)
    yield from tied(context, findings, edits, writable)


def _warnings(context: Context, findings: Sequence[Finding], writable: Writable) -> Iterator[Advisory]:
    """The platform's warnings whose backend comes out somewhere; each once for the project, or at the first call that it is about."""
    for warning in context.platform.warnings:
        if not any(warning.when_backend in _outcomes(finding) for finding in findings):
            continue
        if context.versions.holds(warning.when) is False:
            continue
        name, line = "", 0
        if warning.when_calls:
            name, line = _first_call(context, warning.when_calls, writable)
            if not name:
                continue
        text = {"text": warning.message, "text_zh": warning.message_zh, "source": ", ".join(warning.source)}
        yield Advisory(name, line, warning.id, Reason.of("platform-warning", **text))


def _outcomes(finding: Finding) -> set[str]:
    """The backends that a site has once the edits are made."""
    edited = {change.text for change in finding.changes if isinstance(change, (NewObject, NewText))}
    if finding.action is not Action.KEEP or not _is_backend(finding):
        return edited
    return edited | {text.lower() for text in finding.resolves_to}


def _is_backend(finding: Finding) -> bool:
    return any(part.role == "backend" and part.name == finding.parameter for part in finding.use.surface.parameters)


def _first_call(context: Context, wanted: tuple[str, ...], writable: Writable) -> tuple[str, int]:
    """The first file and line that calls one of the names; ("", 0) where none does."""
    project = context.tracer.resolver.project
    words = {name.rsplit(".", 1)[-1] for name in wanted}
    tops = {name.split(".")[1].encode() for name in wanted}
    for name in sorted({name for word in words for name in project.calling(word) if writable(name)}):
        module = project.module(name) if any(top in project.data(name) for top in tops) else None
        for word in sorted(words) if module else ():
            assert module is not None
            for call in calls_of(module).get(word, ()):
                if set(context.tracer.resolver.names(module, call.func)) & set(wanted):
                    return name, module.source.position(module.place(call).start)[0]
    return "", 0


def _missing_imports(context: Context, finder: Finder, writable: Writable) -> Iterator[Advisory]:
    """Unguarded imports of surfaces whose name is missing on the platform: an ImportError when the file is loaded."""
    project = context.tracer.resolver.project
    missing = [surface for surface in finder.surfaces if context.platform.id in surface.missing_on]
    words = {name.rsplit(".", 1)[-1] for surface in missing for name in surface.names}
    for name in sorted({name for word in words for name in project.mentioning(word) if writable(name)}):
        for module in project.programs(name):
            for node in module.nodes.get(ast.ImportFrom, ()):
                assert isinstance(node, ast.ImportFrom)
                for alias in node.names:
                    surface = finder.surface(f"{node.module}.{alias.name}") if not node.level else None
                    if surface in missing and not _guarded(context, module, node):
                        line = module.source.position(module.place(node).start)[0]
                        yield Advisory(
                            name,
                            line,
                            "missing-name",
                            Reason.of("advise-missing-import", name=alias.name, platform=context.platform.id),
                        )


def _guarded(context: Context, module: Module, node: ast.AST) -> bool:
    around = list(module.ancestors(node))
    return any(isinstance(at, (ast.If, ast.Try)) for at in around) or context.facts.unreachable(module, node) is not None
