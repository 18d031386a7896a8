"""Notes that no edit cures: warnings of the platform, and imports of names that it does not have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import PurePosixPath

from ddp_codemod.catalog.model import Warning_
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.impact.backend_name_checks import find_affected_checks
from ddp_codemod.impact.changed_backends import is_backend_finding
from ddp_codemod.impact.stale_names import find_stale_names
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import MISSING_NAME, REMOVE_IMPORT, Action, Advisory, Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context, Finding, NewObject, NewText, ObjectChoice, Translation
from ddp_codemod.policy.surface_dictionaries import find_surface_dictionaries
from ddp_codemod.sites.aliases import aliases_of
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Finder

Writable = Callable[[str], bool]


def advise(
    context: Context, finder: Finder, imports: Imports, findings: Sequence[Finding], edits: Sequence[Edit], writable: Writable
) -> Iterator[Advisory]:
    """All notes about the files that may be written."""
    yield from _find_warnings(context, imports, findings, writable)
    gone = {
        (edit.name, edit.start, dict(edit.recipe.args)["name"])
        for edit in edits
        if edit.recipe and edit.recipe.name == REMOVE_IMPORT
    }
    yield from _find_missing_imports(context, finder, writable, gone)
    yield from find_affected_checks(context, findings, edits, writable)
    yield from find_stale_names(context, findings, writable)
    yield from find_surface_dictionaries(context, finder, writable)


def _find_warnings(context: Context, imports: Imports, findings: Sequence[Finding], writable: Writable) -> Iterator[Advisory]:
    """The platform's warnings whose backend is used somewhere, each once."""
    for warning in context.platform.warnings:
        about = [finding for finding in findings if warning.when_backend in _list_outcomes(finding)]
        if warning.when_wraps:
            sure = (warning.when_backend,)
            about = [finding for finding in about if finding.use.surface.default_group and finding.resolves_to == sure]
        if not about:
            continue
        if context.versions.holds(warning.when) is False:
            continue
        text = {"text": warning.message, "text_zh": warning.message_zh, "source": ", ".join(warning.source)}
        places = [where for finding in about if (where := _find_wrapper_beside(context, finding, warning.when_wraps, writable))]
        if not places and warning.when_wraps and not any(_has_wrapper_near(context, imports, one, warning) for one in about):
            continue
        for at, row in dict.fromkeys(places) or {("", 0): None}:
            yield Advisory(at, row, warning.id, Reason.of("platform-warning", **text))


def _find_wrapper_beside(
    context: Context, finding: Finding, wrappers: Mapping[str, str], writable: Writable
) -> tuple[str, int] | None:
    """Where a group is made whose own function hands a model to one of the wrappers with its keyword; None where it does not."""
    module, result = finding.use.module, finding.use.call
    if not isinstance(module, Module) or not isinstance(result, ast.AST) or not writable(module.name):
        return None
    if any(scope_of(module, call) is scope_of(module, result) for call in _find_wrapper_uses(context, module, wrappers)):
        return module.name, module.line(finding.argument or result)  # type: ignore[arg-type]
    return None


def _has_wrapper_near(context: Context, imports: Imports, finding: Finding, warning: Warning_) -> bool:
    """Whether the file that makes a group, or one that imports it, hands models on a device to one of the wrappers."""
    module, project = finding.use.module, context.tracer.resolver.project
    if not isinstance(module, Module):
        return False
    if _has_wrapper_on_device(context, module, warning):
        return True
    words = {name.rpartition(".")[2] for name in warning.when_wraps}
    naming = set(project.mentioning(PurePosixPath(module.name).stem))
    near = sorted({name for word in words for name in project.mentioning(word)} & naming)
    others = (other for name in near if module.name in imports.of_file(name) for other in project.programs(name))
    return any(_has_wrapper_on_device(context, other, warning) for other in others)


def _has_wrapper_on_device(context: Context, module: Module, warning: Warning_) -> bool:
    if next(_find_wrapper_uses(context, module, warning.when_wraps), None) is not None:
        return True
    said = any(word in module.source.text for word in warning.when_words)
    return said and next(_find_wrapper_calls(context, module, warning.when_wraps), None) is not None


def _find_wrapper_uses(context: Context, module: Module, wrappers: Mapping[str, str]) -> Iterator[ast.Call]:
    """The calls of a file that hand a wrapper a value for its keyword."""
    for call, names in _find_wrapper_calls(context, module, wrappers):
        asked = {wrappers[name] for name in names}
        if any(keyword.arg in asked and not _is_none(keyword.value) for keyword in call.keywords):
            yield call


def _find_wrapper_calls(context: Context, module: Module, wrappers: Mapping[str, str]) -> Iterator[tuple[ast.Call, set[str]]]:
    """The calls of a file that are of a wrapper, with the names that it has."""
    last = {name.rpartition(".")[2] for name in wrappers}
    for word in sorted(last | aliases_of(module, last)):
        for call in index_calls(module).get(word, ()):
            if names := wrappers.keys() & set(context.tracer.resolver.names(module, call.func)):
                yield call, names


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _list_outcomes(finding: Finding) -> set[str]:
    """The backends that a site has once the edits are made."""
    if finding.reason.means is Meaning.UNREACHABLE:
        return set()
    edited = {change.text for change in finding.changes if isinstance(change, (NewObject, NewText))}
    edited |= {new for change in finding.changes if isinstance(change, Translation) for _, new in change.pairs}
    edited |= {made.text for change in finding.changes if isinstance(change, ObjectChoice) for _, made in change.objects}
    if finding.action is not Action.KEEP or not is_backend_finding(finding):
        return edited
    return edited | {text.lower() for text in finding.resolves_to}


def _find_missing_imports(
    context: Context, finder: Finder, writable: Writable, gone: Set[tuple[str, int, str]]
) -> Iterator[Advisory]:
    """Unguarded imports of surfaces whose name is missing on the platform: an ImportError when the file is loaded.

    ``gone`` are those that an edit removes: file, place and name.
    """
    project = context.tracer.resolver.project
    missing = [surface for surface in finder.surfaces if context.platform.fits(surface.missing_on)]
    words = {name.rsplit(".", 1)[-1] for surface in missing for name in surface.names}
    for name in sorted({name for word in words for name in project.mentioning(word) if writable(name)}):
        for module in project.programs(name):
            for node in module.nodes.get(ast.ImportFrom, ()):
                assert isinstance(node, ast.ImportFrom)
                for alias in node.names:
                    surface = finder.surface(f"{node.module}.{alias.name}") if not node.level else None
                    at = module.place(node).start
                    if surface in missing and (name, at, alias.asname or alias.name) in gone:
                        continue
                    if surface in missing and not _is_guarded(context, module, node):
                        line = module.source.position(at)[0]
                        yield Advisory(
                            name,
                            line,
                            MISSING_NAME,
                            Reason.of("advise-missing-import", name=alias.name, platform=context.platform.id),
                        )


def _is_guarded(context: Context, module: Module, node: ast.AST) -> bool:
    around = list(module.ancestors(node))
    return any(isinstance(at, (ast.If, ast.Try)) for at in around) or context.facts.unreachable(module, node) is not None
