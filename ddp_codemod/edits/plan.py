"""Findings -> edits: which text changes, and which edits belong together."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.edits import unused_imports
from ddp_codemod.edits.argument_translation import translate_argument
from ddp_codemod.edits.conditional import Import, launcher_edits
from ddp_codemod.edits.insert import add_import
from ddp_codemod.edits.object_edits import edit_handler, edit_object, edit_object_choice
from ddp_codemod.edits.objects import format_mapping
from ddp_codemod.edits.portable_device import find_plugin_place
from ddp_codemod.edits.shared_edits import deduplicate_imports, guard_import, is_import, merge_edits
from ddp_codemod.edits.statements import place_statement
from ddp_codemod.edits.translation_warning import choose_name_before, warning_edits
from ddp_codemod.edits.values import make_new_value
from ddp_codemod.edits.widened_choices import widen_choice_lists
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import REMOVE_IMPORT, Action, Edit, Reason, Recipe, replace_stretches
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import Tree
from ddp_codemod.policy.findings import (
    PACKAGE,
    VALUE,
    Change,
    DroppedArgument,
    Finding,
    Insertions,
    NewHandler,
    NewKey,
    NewKeyword,
    NewMapping,
    NewObject,
    NewStatement,
    NewText,
    NewVariable,
    ObjectChoice,
    Splice,
    Translation,
    explain_change,
    is_machine_dependent,
)
from ddp_codemod.policy.launcher_condition import find_launcher_condition
from ddp_codemod.policy.limits import Limits
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.surface_calls import Use

if TYPE_CHECKING:
    from ddp_codemod.edits.portable import Style

Key = tuple[str, int, int, str]


class Plan(Struct, frozen=True):
    """The findings as they are once edits were made of them (some turn into reviews), and the edits."""

    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]


class Planner(Struct):
    """Makes edits; an origin that several sites share is edited once."""

    rules: Rules
    limits: Limits  # which files may be changed
    purely: Callable[[Module, ast.expr], bool]  # whether an expression can be dropped without losing an effect
    reexported: Callable[[Module, str], bool]  # whether another file takes the name from this one
    style: Style | None = None  # how portable code is written; None: values are pinned
    missing: frozenset[str] = frozenset()  # names that the platform's packages do not have
    imports: Imports | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _plan: dict[Key, Edit] = field(default_factory=dict)
    _dropped: dict[Module, list[tuple[ast.expr, Key]]] = field(default_factory=dict)
    _replaced: dict[Module, list[tuple[ast.expr, Key]]] = field(default_factory=dict)
    _arguments: dict[Module, list[tuple[ast.expr, Key]]] = field(default_factory=dict)

    def plan(self, findings: list[Finding]) -> Plan:
        """All edits of the findings, with the imports that become unused, sorted by place."""
        if self.style is not None and self.imports is not None:
            self.style = self.style.with_helpers(
                findings, self.imports, lambda name, rule: self.limits.bar(name, rule, name) is not None
            )
        settled = tuple(self._settle_finding(finding) for finding in findings)
        for module, dropped in self._dropped.items():
            self._remove_imports(module, dropped)
        for module, dropped in self._arguments.items():
            self._remove_imports(module, dropped, self.missing)
        for module, replaced in self._replaced.items():
            self._remove_imports(module, replaced, self._list_outside_names(module))
        self._plan = deduplicate_imports(self._plan)
        return Plan(settled, tuple(sorted(self._plan.values(), key=lambda edit: (edit.name, edit.start, edit.end))))

    def _remove_imports(self, module: Module, dropped: list[tuple[ast.expr, Key]], missing: frozenset[str] | None = None) -> None:
        """Drop the imports that only the dropped expressions used; all edits that this takes become one group."""
        for unused in unused_imports.find_unused(module, [expression for expression, _ in dropped], self.reexported, missing):
            keys = [key for expression, key in dropped if expression in unused.users and key in self._plan]
            if not keys:
                continue
            group = min(self._plan[key].group for key in keys)
            self._join_groups({self._plan[key].group for key in keys}, group)
            first = self._plan[keys[0]]
            place = module.place(unused.statement)
            recipe = Recipe(REMOVE_IMPORT, (("name", unused.name),))
            reason = Reason.of("edit-unused-import", Meaning.UNUSED, name=unused.name)
            self._keep(Edit(module.name, place.start, place.end, None, first.rule, first.applicability, reason, group, recipe))

    def _list_outside_names(self, module: Module) -> frozenset[str]:
        """The qualified names that a file imports from packages which are not the project's: no code of its own runs for them."""
        return unused_imports.list_outside_names(module, self.imports.project.file if self.imports is not None else None)

    def _settle_finding(self, finding: Finding) -> Finding:
        if finding.action is not Action.EDIT:
            return finding
        if self.style is not None and self.style.applies(finding):
            finding = self.style.explain_condition(finding)
            if finding.action is not Action.EDIT:
                return finding
        result: list[list[Edit]] = []
        for change in finding.changes:
            edits = self._make_edits(finding, change)
            if isinstance(edits, Reason):
                assert finding.rule is not None
                return finding.review(finding.rule, edits)
            result.append(edits)
        for edits in result:
            shared = {self._plan[key].group for edit in edits if not is_import(edit) and (key := _build_key(edit)) in self._plan}
            if shared:  # the same change was made for another site: what this one needs beside it belongs to it as well
                self._join_groups(shared, min(shared))
            for edit in edits:
                self._keep(replace(edit, group=min(shared, default=edit.group)))
        return finding

    def _join_groups(self, joined: set[int], group: int) -> None:
        """Make one group of several."""
        if joined == {group}:
            return
        for key, edit in self._plan.items():
            if joined & set(edit.groups):
                own, *also = dict.fromkeys(group if number in joined else number for number in edit.groups)
                self._plan[key] = replace(edit, group=own, also=tuple(also))

    def _keep(self, edit: Edit) -> None:
        key = _build_key(edit)
        known = self._plan.get(key)
        self._plan[key] = edit if known is None else merge_edits(known, edit)

    def _make_edits(self, finding: Finding, change: Change) -> list[Edit] | Reason:
        module: Tree = change.source.module if isinstance(change, NewText) else change.module
        assert finding.rule is not None
        line = module.source.position(change.source.place.start)[0] if isinstance(change, NewText) else 1
        if barred := self.limits.bar(module.name, finding.rule, f"{module.name}:{line}"):
            return barred
        group, reason = next(self._numbers), explain_change(finding, change)

        def edit(start: int, end: int, after: str | None, recipe: Recipe | None = None, anchor: int | None = None) -> Edit:
            assert finding.rule is not None
            return Edit(module.name, start, end, after, finding.rule, finding.applicability, reason, group, recipe, anchor)

        def imported(module: Module, package: str, name: str | None, use: ast.AST) -> tuple[list[Edit], str] | Reason:
            return self._add_import(module, package, name, use, group, finding)

        style = self.style if self.style is not None and (is_machine_dependent(change) or self.style.applies(finding)) else None
        if style is None:
            entry = find_launcher_condition(finding, change)
            edits = (
                self._edit_change(finding, change, edit, imported)
                if entry is None
                else launcher_edits(entry, change, self.rules, edit, imported)
            )
        else:
            from ddp_codemod.edits.portable import portable_edits

            edits = portable_edits(style, finding, change, edit, imported)
        if isinstance(edits, Reason):
            return edits
        if isinstance(change, NewText) and style is not None:
            edits += widen_choice_lists(finding, change.source, change.text, edits[-1], self.rules)
        style = self.style  # other machines run the file, whatever this change is
        if isinstance(change, Insertions) and (gone := unused_imports.find_replaced_names(change, edits[-1])):
            self._replaced.setdefault(change.module, []).extend((name, _build_key(edits[-1])) for name in gone)
        plugin = None if style is not None and style.plugin_loads_itself(finding) else finding.required_import
        if plugin is not None and isinstance(finding.use, Use):
            needed = self._import_plugin(
                plugin, find_plugin_place(finding, style.device_helper if style is not None else None, edits), imported
            )
            if isinstance(needed, Reason):
                return needed
            edits += needed
        for beside in edits:  # a list in another file that has to admit the new name, say
            if barred := self.limits.bar(beside.name, finding.rule, beside.name):
                return barred
        return edits

    def _import_plugin(self, plugin: str, at: tuple[Module, ast.AST], imported: Import) -> list[Edit] | Reason:
        """The import of the platform's package; with a guard where other machines run the code."""
        needed = imported(at[0], plugin, None, at[1])
        if isinstance(needed, Reason) or self.style is None:
            return needed if isinstance(needed, Reason) else needed[0]
        guarded = [one for edit in needed[0] if (one := guard_import(edit)) is not None]
        return guarded if len(guarded) == len(needed[0]) else Reason.of("review-portable-import", name=plugin)

    def _edit_change(self, finding: Finding, change: Change, edit: Callable[..., Edit], imported: Import) -> list[Edit] | Reason:
        if isinstance(change, Splice):
            return [edit(change.offset, change.offset + change.length, change.text)]
        if isinstance(change, NewText):
            value = make_new_value(change.source, change.text, self.rules, self.purely)
            if value is None:
                return Reason.of("review-not-editable", text=change.source.text)
            result = edit(value.start, value.end, value.text)
            if value.dropped is not None:
                self._dropped.setdefault(change.source.code[0], []).append((value.dropped, _build_key(result)))
            return [result, *widen_choice_lists(finding, change.source, change.text, result, self.rules)]
        if isinstance(change, Translation):
            if warned := warning_edits(change, edit, imported):
                change = replace(change, name=choose_name_before(change))
            return [*warned, edit(*translate_argument(change, self.purely))]
        if isinstance(change, NewKeyword):
            place = change.module.place(change.call)
            recipe = Recipe("add-keyword", (("name", change.keyword), ("value", change.value)))
            return [edit(place.start, place.end, None, recipe, change.module.place(change.call.func).end)]
        if isinstance(change, NewKey):
            offset, text = change.module.add_below(change.below, change.key, change.text, change.inside)
            return [edit(offset, offset, text)]
        if isinstance(change, NewHandler):
            return edit_handler(change, edit, imported)
        if isinstance(change, NewObject):
            return edit_object(change, edit, imported)
        if isinstance(change, ObjectChoice):
            return edit_object_choice(change, edit, imported)
        if isinstance(change, NewMapping):
            return [edit(*format_mapping(change))]
        if isinstance(change, DroppedArgument):
            place, argument = change.module.place(change.call), change.module.text(change.argument)
            result = edit(place.start, place.end, None, Recipe("drop-argument", (("value", argument),)), place.start)
            self._arguments.setdefault(change.module, []).append((change.argument, _build_key(result)))
            return [result]
        if isinstance(change, Insertions):
            return self._edit_insertions(finding, change, edit)
        if isinstance(change, NewStatement):
            return self._statement(finding, change, edit)
        return self._edit_variable(finding, change, edit)

    def _import_package(
        self, change: Insertions | NewStatement, finding: Finding, edit: Callable[..., Edit]
    ) -> tuple[list[Edit], str] | Reason:
        group = edit(0, 0, "").group if change.package else 0
        return self._add_import(change.module, change.package, None, change.node, group, finding) if change.package else ([], "")

    def _edit_insertions(self, finding: Finding, change: Insertions, edit: Callable[..., Edit]) -> list[Edit] | Reason:
        needed = self._import_package(change, finding, edit)
        if isinstance(needed, Reason):
            return needed
        start, end = change.replacements[0][0], change.replacements[-1][1]
        inside = [(first - start, last - start, text.replace(PACKAGE, needed[1])) for first, last, text in change.replacements]
        return [*needed[0], edit(start, end, replace_stretches(change.module.source.text[start:end], inside))]

    def _statement(self, finding: Finding, change: NewStatement, edit: Callable[..., Edit]) -> list[Edit] | Reason:
        needed = self._import_package(change, finding, edit)
        if isinstance(needed, Reason):
            return needed
        put = place_statement(change, needed[1], change.value)
        return put if isinstance(put, Reason) else [*needed[0], edit(put.offset, put.offset, put.text)]

    def _edit_variable(self, finding: Finding, change: NewVariable, edit: Callable[..., Edit]) -> list[Edit] | Reason:
        name, value = change.environment.name, f'"{change.environment.value}"'
        text = f'environ["{name}"] = {VALUE}' if change.environment.override else f'environ.setdefault("{name}", {VALUE})'
        return self._statement(finding, NewStatement(change.module, change.node, f"{PACKAGE}.{text}", value, package="os"), edit)

    def _add_import(
        self, module: Module, package: str, name: str | None, use: ast.AST, group: int, finding: Finding
    ) -> tuple[list[Edit], str] | Reason:
        """The import of a module or object where the file lacks it, and how it is written."""
        assert finding.rule is not None
        if barred := self.limits.bar(module.name, finding.rule, f"{module.name}:1"):
            return barred
        found = add_import(module.source, module.tree, package, name, before=module.place(use).start)
        if isinstance(found, Reason):
            return found
        insertion, written = found
        if insertion is None:
            return [], written
        reason, at = Reason.of("edit-import", Meaning.IMPORT, name=name or package), insertion.offset
        return [Edit(module.name, at, at, insertion.text, finding.rule, finding.applicability, reason, group)], written


def _build_key(edit: Edit) -> Key:
    return edit.name, edit.start, edit.end, edit.after or str(edit.recipe)
