"""Portable style: the new value where the platform shows itself, and the old one everywhere else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform, Portable
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.edits.argument_translation import find_other_machines, negate_condition, translate_argument
from ddp_codemod.edits.conditional import (
    Import,
    Make,
    condition_of,
    format_either,
    join_conditions,
    keyword_edits,
    lengthened_text_edits,
    object_edits,
    statement_edits,
    text_edits,
    variable_edits,
)
from ddp_codemod.edits.helper import Helper, Same, build_helpers
from ddp_codemod.edits.object_edits import edit_object_choice
from ddp_codemod.edits.portable_device import build_device_helper, device_edits
from ddp_codemod.edits.translation_warning import warning_edits
from ddp_codemod.edits.values import make_new_value
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Applicability, Edit, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import (
    Change,
    DroppedArgument,
    Finding,
    Insertions,
    NewHandler,
    NewKeyword,
    NewObject,
    NewStatement,
    NewText,
    NewVariable,
    ObjectChoice,
    Splice,
    Translation,
)
from ddp_codemod.policy.launcher_condition import find_launcher_condition, is_condition, is_other_branch
from ddp_codemod.policy.versions import Versions
from ddp_codemod.sites.imports import Imports

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_RECIPES = frozenset({"replace-backend", "init-method-query"})


class Style(Struct, frozen=True):
    """What writing portably needs to know of the run."""

    platform: Platform
    versions: Versions
    rules: Rules
    helpers: Mapping[Same, Helper] = {}  # functions in place of conditions that several sites need
    device_helper: Helper | None = None  # the same for the type of the machine's device

    def with_helpers(self, findings: Iterable[Finding], imports: Imports, barred: Callable[[str, str], bool]) -> Style:
        """The same, once it is known what the sites of the project have in common."""
        findings = list(findings)
        wanted = (
            result
            for finding in findings
            if finding.action is Action.EDIT and self.applies(finding)
            for result in (self.explain_condition(finding),)
        )
        edited = [finding for finding in wanted if finding.action is Action.EDIT]
        shared = build_helpers(edited, self.same, imports, barred)
        return replace(self, helpers=shared, device_helper=build_device_helper(findings, imports, barred))

    def same(self, finding: Finding, change: Change) -> Same | None:
        """What a function for this place would have to hold; None where only the place itself can hold it."""
        entry = self.entry(finding, change)
        if entry is None or not isinstance(change, NewText) or not isinstance(change.source.module, Module):
            return None
        node = change.source.node
        plain = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isascii() and '"' not in node.value
        fix = self.rules.fixes.get(finding.rule or "")
        if not plain or fix is None or fix.recipe != "replace-backend":
            return None
        assert isinstance(node, ast.Constant)
        return entry.condition, change.text, str(node.value)

    def applies(self, finding: Finding) -> bool:
        """Whether the rule behind the finding writes values that depend on the platform."""
        fix = self.rules.fixes.get(finding.rule or "")
        if fix is None:  # what advice asks for beside an argument less depends on a condition of its own
            return any(isinstance(change, DroppedArgument) for change in finding.changes)
        return fix.recipe in _RECIPES

    def entry(self, finding: Finding, change: Change) -> Portable | None:
        """The shortest condition that is right for what is replaced, at the versions that the project admits."""
        replaced = _list_replaced_backends(self, finding, change)
        for entry in self.platform.portable:
            if self.versions.holds(entry.when, finding.use.module.name) is True:
                if not entry.when_imported and _is_evaluated_on_import(finding, change):
                    continue
                if not entry.replaces or (replaced and replaced <= {*entry.replaces, self.platform.backend.wanted}):
                    return join_conditions(find_launcher_condition(finding, change), entry)
        return None

    def explain_condition(self, finding: Finding) -> Finding:
        """The finding with what its condition costs; for review where the platform has none."""
        left = tuple(change for change in finding.changes if not self._is_own_condition(finding, change))
        if not left:
            return finding.keep(Reason.of("keep-portable", platform=self.platform.id))
        finding = replace(finding, changes=left)
        entry = self.entry(finding, left[0])
        assert finding.rule is not None
        if entry is None:
            return finding.review(finding.rule, Reason.of("review-portable-none", platform=self.platform.id))
        unsafe = entry.applicability == "unsafe"
        if not unsafe:
            return finding
        reason = Reason.of("edit-portable", wanted=self.platform.backend.wanted, why=entry.why, why_zh=entry.why_zh)
        return replace(finding, applicability=Applicability.UNSAFE, reason=reason)

    def _is_own_condition(self, finding: Finding, change: Change) -> bool:
        """Whether the value is the other branch of a condition that this style writes, or changed at the call under it."""
        if isinstance(change, Translation):
            made, entry = find_other_machines(change), self.entry(finding, change)
            asked = (test for part in made.under for test in _list_alternatives(part)) if made is not None else ()
            return entry is not None and any(is_condition(entry, change.module, test) for test in asked)
        if not isinstance(change, NewText):
            return False
        entry = self.entry(finding, change)
        return entry is not None and is_other_branch(entry, change.source)

    def plugin_loads_itself(self, finding: Finding) -> bool:
        """Whether torch imports the platform's plugin without being told, at every version that the project admits."""
        when = self.platform.loads_itself
        return bool(when) and self.versions.holds(when, finding.use.module.name) is True


def _list_alternatives(test: ast.expr) -> list[ast.expr]:
    """What a condition joins by ``or``, without the ``not`` of those under which the old value stays."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
    return [part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) else part for part in parts]


def portable_edits(style: Style, finding: Finding, change: Change, make: Make, imported: Import) -> list[Edit] | Reason:
    """The edits of one change, with a condition in place of the bare value."""
    if isinstance(change, Insertions):
        return device_edits(style.platform, style.versions, style.device_helper, change, make, imported)
    entry = style.entry(finding, change)
    if entry is None:
        return Reason.of("review-portable-none", platform=style.platform.id)
    if isinstance(change, NewText):
        return _make_text_edits(style, finding, entry, change, make, imported)
    if isinstance(change, Translation):
        return _make_translation_edits(entry, change, make, imported)
    if isinstance(change, NewKeyword):
        switch = _find_switch(
            style, finding, change
        )  # a call that gets nothing more is the same elsewhere for whoever watches it
        switched = variable_edits(entry, switch, make, imported) if switch is not None else None
        if switched is not None and not isinstance(switched, Reason):
            return switched
        default_value = next((one.omitted_value for one in finding.use.surface.parameters if one.name == change.keyword), None)
        launched = find_launcher_condition(finding, change)
        old = f'"{default_value}"' if default_value is not None else launched.otherwise if launched is not None else "None"
        return keyword_edits(entry, change, change.instead_of or old, make, imported)
    if isinstance(change, NewHandler | NewObject):
        default = change.handler.default if isinstance(change, NewHandler) else "None"
        return object_edits(entry, change, default, make, imported)
    if isinstance(change, ObjectChoice):
        needed = condition_of(entry, change.module, change.argument, imported)
        if isinstance(needed, Reason):
            return needed
        under = negate_condition(needed[1]) if entry.keeps else needed[1]
        chosen = edit_object_choice(change, make, imported, f"({under})" if " or " in under else under)
        return chosen if isinstance(chosen, Reason) else [*needed[0], *chosen]
    if isinstance(change, DroppedArgument):
        return _make_none_argument(entry, change, make, imported)
    if isinstance(change, NewStatement):
        return statement_edits(entry, change, make, imported)
    if isinstance(change, NewVariable):
        return variable_edits(entry, change, make, imported)
    if isinstance(change, Splice) and change.lengthens is not None:
        return lengthened_text_edits(entry, change, make, imported)
    return Reason.of("review-portable-file", platform=style.platform.id)


def _find_switch(style: Style, finding: Finding, change: NewKeyword) -> NewVariable | None:
    """The environment variable that does what a new address of the group would."""
    fix = style.rules.fixes.get(finding.rule or "")
    addressed = any(one.name == change.keyword and one.role == "init_method" for one in finding.use.surface.parameters)
    if fix is None or fix.recipe != "init-method-query" or fix.environment is None or not addressed:
        return None
    return NewVariable(change.module, change.call, fix.environment)


def _list_replaced_backends(style: Style, finding: Finding, change: Change) -> set[str]:
    """The names of the backends that the change replaces; {} where it is no backend."""
    assert finding.rule is not None
    fix = style.rules.fixes.get(finding.rule)
    if fix is None:
        rewrite = style.rules.advice[finding.rule].rewrite
        return set(rewrite.of) if rewrite is not None else set()
    if fix.recipe != "replace-backend":
        return set()
    value = change.source.value if isinstance(change, NewText) else None
    texts = [str(value.value)] if isinstance(value, Known) and value.value is not None else [style.platform.backend.default]
    if isinstance(change, Translation):
        texts = [old or style.platform.backend.default for old, _ in change.pairs]
    names = {part.rpartition(":")[2].lower() for text in texts for part in text.split(",")}
    return {kin.like if (kin := style.rules.backends.get(name)) and kin.like else name for name in names}


def _is_evaluated_on_import(finding: Finding, change: Change) -> bool:
    """Whether a value is worked out as soon as its file is imported, and not where the group is made."""
    if not isinstance(change, NewText) or not isinstance(change.source.module, Module):
        return False
    if not isinstance(below := change.source.node, ast.AST):
        return False
    for around in change.source.module.ancestors(below):
        if around is finding.use.call or (isinstance(around, _FUNCTIONS) and _is_in_body(around, below)):
            return False
        below = around
    return True


def _is_in_body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, node: ast.AST) -> bool:
    """Whether a node is what a function runs, not a default of its or a decorator."""
    return node is function.body if isinstance(function, ast.Lambda) else node in function.body


def _make_text_edits(
    style: Style, finding: Finding, entry: Portable, change: NewText, make: Make, imported: Import
) -> list[Edit] | Reason:
    source = change.source
    if not isinstance(source.module, Module) or not isinstance(source.node, ast.expr):
        return Reason.of("review-portable-file", platform=style.platform.id)
    module, node = source.module, source.node
    key = style.same(finding, change)
    if key is not None and key in style.helpers and style.helpers[key].serves(module):
        if make_new_value(source, change.text, style.rules, lambda module, node: False) is None:
            return Reason.of("review-not-editable", text=source.text)
        called = _make_helper_call(entry, key, style.helpers[key], module, node, make, imported)
        if not isinstance(called, Reason):
            place = module.place(node)
            return [*called[0], make(place.start, place.end, called[1])]
    return text_edits(entry, change, style.rules, make, imported)


def _make_helper_call(
    entry: Portable, key: Same, helper: Helper, module: Module, node: ast.AST, make: Make, imported: Import
) -> tuple[list[Edit], str] | Reason:
    """The call of a function that holds the condition, with the function and what both need."""
    inside = condition_of(entry, helper.home, helper.before, imported)
    if isinstance(inside, Reason):
        return inside
    choice = format_either(entry, inside[1], f'"{key[1]}"', f'"{key[2]}"')
    written_once = replace(
        make(helper.offset, helper.offset, helper.text(choice)),
        name=helper.home.name,
        reason=Reason.of("edit-helper", Meaning.HELPER, name=helper.name),
    )
    if module is helper.home:
        return [*inside[0], written_once], f"{helper.name}()"
    needed = imported(module, helper.dotted[module.name], helper.name, node)
    if isinstance(needed, Reason):
        return needed
    return [*inside[0], written_once, *needed[0]], f"{needed[1]}()"


def _make_translation_edits(entry: Portable, change: Translation, make: Make, imported: Import) -> list[Edit] | Reason:
    """The argument, changed on its way in where the platform shows itself."""
    needed = condition_of(entry, change.module, change.argument, imported)
    if isinstance(needed, Reason):
        return needed
    unless = needed[1] if entry.keeps else f"not ({needed[1]})"
    warning = warning_edits(change, make, imported, f"not ({needed[1]})" if entry.keeps else needed[1])
    return [*needed[0], *warning, make(*translate_argument(change, lambda module, node: False, unless))]


def _make_none_argument(entry: Portable, change: DroppedArgument, make: Make, imported: Import) -> list[Edit] | Reason:
    """None in place of an argument that the platform does not take; the parameters in question have it as their default."""
    module, node = change.module, change.argument
    needed = condition_of(entry, module, node, imported)
    if isinstance(needed, Reason):
        return needed
    place, text = module.place(node), module.text(node)
    if isinstance(node, (ast.IfExp, ast.Lambda)):
        text = f"({text})"
    return [*needed[0], make(place.start, place.end, format_either(entry, needed[1], "None", text))]
