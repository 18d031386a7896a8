"""A vendor's own way: imports at the training entries that make the code of another device run on the vendor's."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.edits.shared_edits import guard_statements
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Applicability, Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Finding, NewText
from ddp_codemod.policy.limits import Limits
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.reachability import does_something

DEVICE = "device-"  # what the ids of advice about devices start with
RECIPE = "import-at-entries"


class Migration(Struct, frozen=True):
    """The rule that is in force, and the entries that lack its imports."""

    fix: Fix
    lacking: tuple[Module, ...]

    def settle(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings, without the edits that nobody needs where the imports are made."""
        ours = {module.name for module in self.lacking}  # the imports of the rule supply what an edit there would import

        def once(finding: Finding) -> Finding:
            return replace(finding, required_import=None) if finding.use.module.name in ours else finding

        return [once(self._settle_finding(finding)) for finding in findings]

    def cures(self, finding: Finding) -> bool:
        """Whether what an advice about devices found is no longer so where the imports are made."""
        about = finding.use.surface.id
        return about.startswith(DEVICE) and about not in self.fix.leaves

    def _settle_finding(self, finding: Finding) -> Finding:
        values = [change.source.value for change in finding.changes if isinstance(change, NewText)]
        names = [str(value.value).lower() for value in values if isinstance(value, Known)]
        if finding.use.surface.id in self.fix.unmapped:
            return finding
        if finding.action is not Action.EDIT or len(names) != len(finding.changes) or not names:
            return finding
        if not set(names) <= set(self.fix.maps):
            return finding
        value = ", ".join(dict.fromkeys(names))
        kept = finding.keep(Reason.of("keep-migrated", Meaning.MIGRATED, rule=self.fix.id, value=value))
        return kept.without_changes()

    def edits(self, limits: Limits, others: Sequence[Edit], alone: bool) -> tuple[Edit, ...]:
        """The imports at the top of each entry that lacks them; an entry by itself.

        ``alone``: the code is for this platform alone; False: others run it too, which lack the vendor's package.
        """
        group = 1 + max((edit.group for edit in others), default=0)
        made: list[Edit] = []
        for module in self.lacking:
            if limits.bar(module.name, self.fix.id, f"{module.name}:1") is None:
                at = _locate_import_line(module)
                text = "".join(f"{line}{module.source.newline}" for line in self._list_lines(alone))
                reason = Reason.of("edit-migrate", rule=self.fix.id)
                made.append(Edit(module.name, at, at, text, self.fix.id, Applicability.UNSAFE, reason, group + len(made)))
        return tuple(made)

    def _list_lines(self, alone: bool) -> Sequence[str]:
        return self.fix.statements if alone else guard_statements(self.fix.statements)


def find_migration(
    project: Project, wanted: Iterable[Fix], known: Iterable[Fix], platform: str, started: Callable[[], Iterable[str]]
) -> Migration | None:
    """The migration that was asked for; or the platform's own, where every entry makes its imports already."""
    asked = [fix for fix in wanted if fix.recipe == RECIPE]
    ours = [fix for fix in known if fix.recipe == RECIPE and fix.platform == platform]
    fixes = asked or [fix for fix in ours if any(map(project.mentioning, _list_words(fix)))]
    entries = _find_entries(project, started) if fixes else []
    for fix in fixes:
        having = _find_migrated_entries(project, fix, entries)
        lacking = [name for name in entries if name not in having]
        if asked or (entries and not lacking):
            return Migration(fix, tuple(filter(None, map(project.module, lacking))))
    return None


def find_other_migration(
    project: Project, known: Iterable[Fix], platform: str, started: Callable[[], Iterable[str]]
) -> tuple[Fix | None, int]:
    """The platform's migration that nobody asked for, and how many entries it would edit."""
    fix = next((fix for fix in known if fix.recipe == RECIPE and fix.platform == platform), None)
    if fix is None:
        return None, 0
    entries = _find_entries(project, started)
    return fix, len(entries) - len(_find_migrated_entries(project, fix, entries))


def _find_entries(project: Project, started: Callable[[], Iterable[str]]) -> list[str]:
    """The programs among the files that nobody imports: what only defines something is loaded by its name, or read as settings."""
    bodies = {
        name: body for name in sorted(started()) if name.endswith(".py") and (body := _parse_body(project, name)) is not None
    }
    return [name for name, body in bodies.items() if name in project.commands or does_something(name, body)] or [*bodies]


def _parse_body(project: Project, name: str) -> list[ast.stmt] | None:
    """The statements of a file, looked at once; None where it cannot be read. Most of the entries hold no place to edit."""
    if project.is_parsed(name):
        module = project.module(name)
        return module.tree.body if module is not None else None
    tree = project.parse_once(name)
    return tree.body if tree is not None else None


def _find_migrated_entries(project: Project, fix: Fix, entries: Iterable[str]) -> set[str]:
    """The entries whose top level makes the last of the imports: that is the one which does it."""
    wanted = _list_wanted_imports(fix)
    able = set(entries).intersection(*(project.mentioning(word) for word in _list_words(fix)))
    return {name for name in able if not wanted.isdisjoint(_list_imported_modules(_parse_body(project, name) or ()))}


def _list_wanted_imports(fix: Fix) -> set[str]:
    return set(_list_imported_modules(ast.parse(fix.statements[-1]).body))


def _list_words(fix: Fix) -> set[str]:
    return {name.rpartition(".")[2] for name in _list_wanted_imports(fix)}


def _list_imported_modules(statements: Iterable[ast.stmt]) -> Iterable[str]:
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.Try):
            yield from _list_imported_modules(statement.body)


def _locate_import_line(module: Module) -> int:
    """The start of the first line that may hold another import: behind the docstring and what comes from ``__future__``."""
    for number, statement in enumerate(module.tree.body):
        docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not docstring and not future:
            first = min((part.lineno for part in getattr(statement, "decorator_list", ())), default=statement.lineno)
            return module.source.line_starts[first - 1]
    return len(module.source.text)
