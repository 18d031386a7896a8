"""Matches texts that stand for objects in configuration files, such as ``strategy: ddp`` beside a Trainer's ``_target_``."""

from __future__ import annotations

import re

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Objects
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.leaves import Leaf
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.policy.device_counts import Count, counted
from ddp_codemod.policy.findings import Context, Finding, NewMapping, start
from ddp_codemod.policy.text_objects import backend_of, by_hand, class_name, stands_for, why_object
from ddp_codemod.sites.composed import DEFAULTS
from ddp_codemod.sites.configured import ConfiguredUse
from ddp_codemod.sites.keyed import KeyedUse


def decide_configured_object(context: Context, use: ConfiguredUse | KeyedUse, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a text beside the ``_target_`` of a configuration file, or under the keys that a framework reads.

    None where it names no object that makes a process group.
    """
    assert parameter.objects is not None
    if not isinstance(use.module, Document) or not isinstance(use.call, Entry):
        return None
    entry, choice = use.argument(parameter) if isinstance(use, ConfiguredUse) else use.call, context.platform.backend
    if isinstance(use, ConfiguredUse) and (entry is None or entry.value in parameter.objects.open):
        return _left_out(context, use, entry, parameter, fix)
    found = stands_for(context, use.module.name, parameter, Known(entry.value)) if entry is not None and entry.is_text else None
    if entry is None or found is None:
        return None
    wanted, backend = found[0], backend_of(context, found[0])
    made = start(
        context, use, parameter, entry, [Leaf(use.module, entry, OriginKind.CONFIG_KEY, Known(choice.default))], [choice.default]
    )
    if (elsewhere := _elsewhere(use.module, entry, parameter.objects)) is not None:
        return made.keep(elsewhere)
    if choice.default in choice.works:
        return made.keep(Reason.of("keep-omitted", parameter=backend.name))
    if not use.module.may_add_below(entry):
        return made.review(fix.id, by_hand(context, parameter, wanted))
    arguments = (*wanted.arguments.items(), (backend.name, choice.wanted))
    name = f"{parameter.objects.module}.{class_name(context, wanted)}"
    change = NewMapping(use.module, entry, name, arguments, parameter.objects.target, parameter.objects.arguments)
    return made.edit(fix.id, False, why_object(context, parameter, wanted), [change])


def _left_out(context: Context, use: ConfiguredUse, entry: Entry | None, parameter: Parameter, fix: Fix) -> Finding | None:
    """The framework has the choice, and takes an object that makes a group where there can be several devices."""
    objects, choice = parameter.objects, context.platform.backend
    assert objects is not None
    found = stands_for(context, use.module.name, parameter, Known(objects.automatic))
    count = _devices(context, use, objects)
    if found is None or count not in (Count.SEVERAL, Count.OPEN) or is_test(use.module.name) or _given(context, use, parameter):
        return None
    several = count is Count.SEVERAL
    if choice.default in choice.works and not several:
        return None
    wanted, backend = found[0], backend_of(context, found[0])
    leaves = [Leaf(use.module, entry, OriginKind.CONFIG_KEY, Known(choice.default))] if entry is not None else []
    made = start(context, use, parameter, entry, leaves, [choice.default])
    if (elsewhere := _elsewhere(use.module, use.call, objects)) is not None:
        return made.keep(elsewhere)
    if choice.default in choice.works:
        return made.keep(Reason.of("keep-omitted", parameter=backend.name))
    if entry is not None or not use.may_add:
        return made.review(fix.id, by_hand(context, parameter, wanted))
    arguments = (*wanted.arguments.items(), (backend.name, choice.wanted))
    name = f"{objects.module}.{class_name(context, wanted)}"
    change = NewMapping(use.module, use.call, name, arguments, objects.target, objects.arguments, parameter.name)
    reason = Reason("edit-object" if several else "edit-object-open", why_object(context, parameter, wanted).args)
    return made.edit(fix.id, False, reason, [change])


def _given(context: Context, use: ConfiguredUse, parameter: Parameter) -> bool:
    """Whether an object stands for the parameter in the file, is composed into it, or comes with a command."""
    path = (*use.arguments, parameter.name)
    composed = (entry for entry in use.module.entries if entry.path[0] == DEFAULTS)
    if any(parameter.name in (*entry.path, *re.split(r"[/@]", entry.value)) for entry in composed):
        return True
    return bool(use.module.mapping(path, use.call.document)) or any(context.tracer.composed.overrides(use.module, path))


def _devices(context: Context, use: ConfiguredUse, objects: Objects) -> Count:
    """How many devices the file and the commands that build on it ask for."""
    found = set()
    for name in objects.several:
        path = (*use.arguments, name)
        listed = use.module.mapping(path, use.call.document)
        found |= {counted(tuple(entry.value for entry in listed))} if listed else set()
        found |= {counted(entry.value) for entry in use.module.at(path, use.call.document) if not listed}
        found |= {Count.OPEN for _ in context.tracer.composed.overrides(use.module, path)}
    count = next((count for count in Count if count in found), Count.UNSAID)
    if count is Count.UNSAID and context.versions.holds(objects.takes_all, use.module.name, asks=False) is not False:
        return Count.OPEN if objects.takes_all else count
    return count


def _elsewhere(document: Document, entry: Entry, objects: Objects) -> Reason | None:
    """Why the group is for other devices, if a key beside the entry says so."""
    for key, values in objects.elsewhere.items():
        beside = document.at((*entry.path[:-1], key), entry.document)
        if any(one.value in values for one in beside):
            return Reason.of("keep-object-elsewhere", text=f"{key}: {beside[0].value}")
    return None
