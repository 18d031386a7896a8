"""Matches texts that stand for objects in configuration files, such as ``strategy: ddp`` beside a Trainer's ``_target_``."""

from __future__ import annotations

import re

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Environment, Objects
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.policy.decide_configuration import decide_at_launches
from ddp_codemod.policy.device_counts import Count, count_value
from ddp_codemod.policy.findings import Context, Finding, NewMapping, start
from ddp_codemod.policy.instantiated_objects import is_always_instantiated
from ddp_codemod.policy.text_objects import (
    backend_of,
    build_object_arguments,
    class_name,
    explain_manual_object,
    explain_object,
    resolve_text_object,
)
from ddp_codemod.sites.config_uses import ConfiguredUse
from ddp_codemod.sites.hydra_programs import DEFAULTS
from ddp_codemod.sites.key_path_uses import KeyedUse
from ddp_codemod.sites.target_keys import TARGETS

_BRACKETS = "_[]"  # around a list in an argument; a README's are read as underlines


def decide_configuration_object(
    context: Context, use: ConfiguredUse | KeyedUse, parameter: Parameter, fix: Fix
) -> Finding | None:
    """Decide about a text beside the ``_target_`` of a configuration file, or under the keys that a framework reads.

    None where it names no object that makes a process group.
    """
    assert parameter.objects is not None
    if not isinstance(use.module, Document) or not isinstance(use.call, Entry):
        return None
    entry, choice = use.argument(parameter) if isinstance(use, ConfiguredUse) else use.call, context.platform.backend
    if isinstance(use, ConfiguredUse) and (old := _decide_for_old_versions(context, use, parameter, fix)) is not None:
        return old
    if isinstance(use, ConfiguredUse) and (entry is None or entry.value in parameter.objects.open):
        return _decide_default_object(context, use, entry, parameter, fix)
    found = (
        resolve_text_object(context, use.module.name, parameter, Known(entry.value))
        if entry is not None and entry.is_text
        else None
    )
    if entry is None or found is None:
        return None
    wanted, backend = found[0], backend_of(context, found[0])
    result = start(
        context, use, parameter, entry, [Value(use.module, entry, OriginKind.CONFIG_KEY, Known(choice.default))], [choice.default]
    )
    if (elsewhere := _explain_devices_of_entry(use.module, entry, parameter.objects)) is not None:
        return result.keep(elsewhere)
    if choice.default in choice.works:
        return result.keep(Reason.of("keep-omitted", parameter=backend.name))
    if not use.module.may_add_below(entry):
        return result.review(fix.id, explain_manual_object(context, parameter, wanted))
    arguments = (*wanted.arguments.items(), (backend.name, choice.wanted))
    name = f"{parameter.objects.module}.{class_name(context, wanted)}"
    change = NewMapping(use.module, entry, name, arguments, parameter.objects.target, parameter.objects.arguments)
    safe = fix.applicability == "safe" and found[1] and backend.add_applicability == "safe"
    safe = safe and is_always_instantiated(context, use, entry, parameter.objects)
    return result.edit(fix.id, safe, explain_object(context, parameter, wanted), [change])


def _decide_default_object(
    context: Context, use: ConfiguredUse, entry: Entry | None, parameter: Parameter, fix: Fix
) -> Finding | None:
    """The framework has the choice, and takes an object that makes a group where there can be several devices."""
    objects, choice = parameter.objects, context.platform.backend
    assert objects is not None
    found = resolve_text_object(context, use.module.name, parameter, Known(objects.automatic))
    count = _count_devices(context, use, objects)
    one = count in (Count.ONE, Count.UNSAID) and not use.named_in  # what builds on the file is reported with it
    commanded = _find_device_override(context, use, objects) if one else None
    if found is None or is_test(use.module.name) or _is_object_given(context, use, parameter):
        return None
    if commanded is None and count not in (Count.SEVERAL, Count.OPEN):
        return None
    several = count is Count.SEVERAL
    if choice.default in choice.works and not several:
        return None
    wanted, backend = found[0], backend_of(context, found[0])
    sources = [Value(use.module, entry, OriginKind.CONFIG_KEY, Known(choice.default))] if entry is not None else []
    result = start(context, use, parameter, entry, sources, [choice.default])
    if (elsewhere := _explain_other_devices(context, use, objects)) is not None:
        return result.keep(elsewhere)
    if choice.default in choice.works:
        return result.keep(Reason.of("keep-omitted", parameter=backend.name))
    if commanded is not None:  # the file's other users have one device: an object here would be theirs too
        script, option = commanded
        words = build_object_arguments(context, parameter, wanted)
        where = {"where": f"{script.name}:{option.line}", "option": option.name, "text": wanted.text, "value": choice.default}
        return result.review(fix.id, Reason.of("review-object-commanded", **where, **words))
    if entry is not None or not use.may_add:
        return result.review(fix.id, explain_manual_object(context, parameter, wanted))
    arguments = (*wanted.arguments.items(), (backend.name, choice.wanted))
    name = f"{objects.module}.{class_name(context, wanted)}"
    change = NewMapping(use.module, use.call, name, arguments, objects.target, objects.arguments, parameter.name)
    if not several and context.may_be_bare:
        return result.review(fix.id, Reason("review-object-open", explain_object(context, parameter, wanted).args))
    reason = Reason("edit-object" if several else "edit-object-open", explain_object(context, parameter, wanted).args)
    return result.edit(fix.id, False, reason, [change])


def _decide_for_old_versions(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Finding | None:
    """The same for versions whose objects do not take the backend, where the file names one as only such versions did."""
    assert parameter.objects is not None
    chosen, choice = parameter.objects.chosen, context.platform.backend
    for key, texts in chosen.keywords.items() if chosen is not None else ():
        for entry in use.module.at((*use.arguments, key), use.call.document):
            if chosen is not None and entry.value in texts:
                result = start(context, use, parameter, None, [], [choice.default])
                if choice.default in choice.works:
                    return result.keep(Reason.of("keep-omitted", parameter=chosen.variable))
                variable = Environment(name=chosen.variable, value=choice.wanted, override=True)
                safe = fix.applicability == "safe" and parameter.add_applicability == "safe"
                return decide_at_launches(context, use, result, fix, variable, safe)
    return None


def _is_object_given(context: Context, use: ConfiguredUse, parameter: Parameter) -> bool:
    """Whether an object stands for the parameter in the file, is composed into it, or comes with a command."""
    path = (*use.arguments, parameter.name)
    composed = (entry for entry in use.module.entries if entry.path[0] == DEFAULTS)
    if any(parameter.name in (*entry.path, *re.split(r"[/@]", entry.value)) for entry in composed):
        return True
    return bool(use.module.mapping(path, use.call.document)) or any(context.tracer.composed.overrides(use.module, path))


def _count_devices(context: Context, use: ConfiguredUse, objects: Objects) -> Count:
    """How many devices the file asks for."""
    found = set()
    for name in objects.several:
        path = (*use.arguments, name)
        listed = use.module.mapping(path, use.call.document)
        found |= {count_value(tuple(entry.value for entry in listed))} if listed else set()
        found |= {count_value(entry.value) for entry in use.module.at(path, use.call.document) if not listed}
    count = next((count for count in Count if count in found), Count.UNSAID)
    if count is Count.UNSAID and context.versions.holds(objects.takes_all, use.module.name, asks=False) is not False:
        return Count.OPEN if objects.takes_all else count
    return count


def _find_device_override(context: Context, use: ConfiguredUse, objects: Objects) -> tuple[Script, Option] | None:
    """What a command that starts with the file gives in place of its number of devices, where that may be several."""
    for name in objects.several:
        for script, option in context.tracer.composed.overrides(use.module, (*use.arguments, name)):
            inner = option.value.strip(_BRACKETS)
            many = option.value if inner == option.value else tuple(inner.split(","))
            if count_value(many) in (Count.SEVERAL, Count.OPEN):
                return script, option
    return None


def _explain_other_devices(context: Context, use: ConfiguredUse, objects: Objects) -> Reason | None:
    """The same for a file, with what it has from the one that it builds on."""
    own = _explain_devices_of_entry(use.module, use.call, objects)
    if own is not None or not use.named_in or any(use.module.at((key,)) for key in objects.elsewhere):
        return own
    bases = (base for key in TARGETS for base in context.tracer.resolver.project.documents(key) if base.name == use.named_in)
    return next(
        (
            why
            for base in bases
            for entry in base.mapping(())
            if (why := _explain_devices_of_entry(base, entry, objects)) is not None
        ),
        None,
    )


def _explain_devices_of_entry(document: Document, entry: Entry, objects: Objects) -> Reason | None:
    """Why the group is for other devices, if a key beside the entry says so."""
    for key, values in objects.elsewhere.items():
        beside = document.at((*entry.path[:-1], key), entry.document)
        if any(one.value in values for one in beside):
            return Reason.of("keep-object-elsewhere", text=f"{key}: {beside[0].value}")
    return None
