"""What depends on the machine's device, written as a condition, or as a call of the one function of the project that holds it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from ddp_codemod.catalog.model import Platform, Portable
from ddp_codemod.edits.conditional import Import, Make, condition_of
from ddp_codemod.edits.helper import Helper, choose_helper
from ddp_codemod.impact.any_accelerator import FREE
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Edit, Reason, replace_stretches
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import HERE, KIND, MODULE, PACKAGE, Finding, Insertions, is_machine_dependent
from ddp_codemod.policy.versions import Versions
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.surface_calls import Use

NAMES = ("device_type", "accelerator_type")
SAYS = "Return the type of this machine's device."


def build_device_helper(findings: Iterable[Finding], imports: Imports, barred: Callable[[str, str], bool]) -> Helper | None:
    """The function for the places that need the device's type or module; None where there are not several that can share one."""
    edited = [finding for finding in findings if finding.action is Action.EDIT]
    changes = [
        (one, change)
        for one in edited
        for change in one.changes
        if isinstance(change, Insertions) and is_machine_dependent(change)
    ]
    sites = [(change.module, change.node) for _, change in changes if isinstance(change.node, ast.expr)]
    result = choose_helper(sites, imports, NAMES, SAYS) if len(sites) > 1 else None
    return None if result is None or any(barred(result.home.name, one.rule or "") for one, _ in changes) else result


def find_plugin_place(finding: Finding, helper: Helper | None, edits: Iterable[Edit]) -> tuple[Module, ast.AST]:
    """Where the platform's package is imported: with the function that asks for the device, where a change calls that, else in the file."""
    assert isinstance(finding.use, Use)
    own = finding.use.module, finding.use.call
    if helper is None or not any(one.reason.means is Meaning.HELPER and one.name == helper.home.name for one in edits):
        return own
    return helper.home, helper.before


def device_edits(
    platform: Platform, versions: Versions, helper: Helper | None, change: Insertions, make: Make, imported: Import
) -> list[Edit] | Reason:
    """The edits of a change with marks in it; ``helper`` is the project's function."""
    device, entry = platform.device, _find_condition(platform, versions, change.module)
    if device is None or entry is None:
        return Reason.of("review-portable-none", platform=platform.id)
    served = helper is not None and helper.serves(change.module)
    named = any(mark in text for _, _, text in change.replacements for mark in (PACKAGE, MODULE))
    package: tuple[list[Edit], str] | Reason = ([], "")
    if named or not served:  # a call of the function alone needs nothing else
        package = imported(change.module, entry.imports[0], None, change.node)
    if isinstance(package, Reason):
        return package
    if helper is not None and served:
        result = _make_helper_call(entry, helper, f'"{device.type}" if {{}} else "{device.replaces}"', change, make, imported)
        if not isinstance(result, Reason):
            edits, called = result
            kind, module, here = called, f"getattr({package[1]}, {called})", f'{called} == "{device.type}"'
            change = replace(change, replacements=change.called or change.replacements)
            return [*package[0], *edits, _make_edit(change, package[1], kind, module, here, make)]
        package = imported(change.module, entry.imports[0], None, change.node)
        if isinstance(package, Reason):
            return package
    needed = condition_of(entry, change.module, change.node, imported)
    if isinstance(needed, Reason):
        return needed
    here = needed[1]
    kind = f'("{device.type}" if {here} else "{device.replaces}")'
    module = f"({package[1]}.{device.module} if {here} else {package[1]}.{device.replaces})"
    return [*needed[0], _make_edit(change, package[1], kind, module, here, make)]


def _make_edit(change: Insertions, package: str, kind: str, module: str, here: str, make: Make) -> Edit:
    start, end = change.replacements[0][0], change.replacements[-1][1]
    around = next((at for at in change.module.ancestors(change.node) if isinstance(at, ast.JoinedStr)), None)
    if around is not None and '"' in change.module.text(around)[:4]:  # before Python 3.12 an f-string ends at its own quotes
        kind, module, here = (text.replace('"', "'") for text in (kind, module, here))
    if kind.startswith("(") and _is_whole_value(change):
        kind = kind[1:-1]
    filled = [
        (
            first - start,
            last - start,
            text.replace(PACKAGE, package).replace(KIND, kind).replace(MODULE, module).replace(HERE, here),
        )
        for first, last, text in change.replacements
    ]
    return make(start, end, replace_stretches(change.module.source.text[start:end], filled))


def _is_whole_value(change: Insertions) -> bool:
    """Whether the device's type is all that is written, where a whole expression may be."""
    parent = change.module.parents.get(change.node)
    free = isinstance(parent, FREE) or (isinstance(parent, ast.Call) and parent.func is not change.node)
    texts = [text for _, _, text in change.replacements]
    if texts == [KIND]:
        return free
    start, end, text = change.replacements[-1]  # the argument that a method gets, which had none
    inside = (
        isinstance(change.node, ast.Call)
        and change.module.source.text[start - 1 : start] + change.module.source.text[end : end + 1]
    )
    return inside == "()" and text == KIND and KIND not in texts[:-1]


def _find_condition(platform: Platform, versions: Versions, module: Module) -> Portable | None:
    """The shortest condition that tells the platform, at the versions that the project admits."""
    holds = (one for one in platform.portable if versions.holds(one.when, module.name) is True)
    return next((one for one in holds if not one.replaces and one.imports and not one.keeps), None)


def _make_helper_call(
    entry: Portable, helper: Helper, choice: str, change: Insertions, make: Make, imported: Import
) -> tuple[list[Edit], str] | Reason:
    """The call of the function, with the function and what both need; ``choice`` is what it gives, with room for the condition."""
    inside = condition_of(entry, helper.home, helper.before, imported)
    if isinstance(inside, Reason):
        return inside
    written_once = replace(
        make(helper.offset, helper.offset, helper.text(choice.format(inside[1]))),
        name=helper.home.name,
        reason=Reason.of("edit-device-helper", Meaning.HELPER, name=helper.name),
    )
    if change.module is helper.home:
        return [*inside[0], written_once], f"{helper.name}()"
    needed = imported(change.module, helper.dotted[change.module.name], helper.name, change.node)
    if isinstance(needed, Reason):
        return needed
    return [*inside[0], written_once, *needed[0]], f"{needed[1]}()"
