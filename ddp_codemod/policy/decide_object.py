"""Matches parameters that take a name for an object, such as Lightning's ``strategy="ddp"``: the object itself takes the backend."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Union

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import TextObject
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import NOTEBOOK, is_test
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason
from ddp_codemod.policy.argument_sources import collect_sources
from ddp_codemod.policy.decide_backend_variable import decide_by_variable, has_nested_site, is_for_old_versions, names_object
from ddp_codemod.policy.decide_namespace import decide_namespace
from ddp_codemod.policy.decision_reasons import OMITTED
from ddp_codemod.policy.device_arguments import explain_by_object
from ddp_codemod.policy.device_counts import Count, count_devices
from ddp_codemod.policy.findings import Change, Context, Finding, NewObject, start, unreachable
from ddp_codemod.policy.object_choices import choose_objects, is_chosen
from ddp_codemod.policy.offered_objects import (
    Offered,
    explain_objects_left,
    explain_offered_objects,
    list_offered_objects,
)
from ddp_codemod.policy.text_objects import (
    backend_of,
    build_object_arguments,
    explain_manual_object,
    explain_object,
    make_object,
    resolve_text_object,
)
from ddp_codemod.sites.entities import Definition, External
from ddp_codemod.sites.scopes import scope_of
from ddp_codemod.sites.surface_calls import Use

NamedObject = tuple[Value, tuple[TextObject, bool]]
Texts = dict[Union[str, None], NewObject]  # what stands for each of the texts that arrive


def decide_object(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a call that names its object by a text; None where it names none that makes a process group."""
    assert parameter.objects is not None
    if use.overrides_init:
        return None  # what it passes on is a call of its own
    if parameter.objects.namespace is not None and use.argument(parameter) is None:
        return decide_namespace(_of_object_texts(context, parameter), use, parameter, fix)
    argument, sources = collect_sources(_of_object_texts(context, parameter), use, parameter)
    chosen = parameter.objects.chosen
    if chosen is not None and has_nested_site(context, use):
        return None  # that is a site of its own
    if chosen is not None and names_object(context, use, chosen):
        return decide_by_variable(context, use, parameter, chosen, fix)
    named = [
        (source, found) for source in sources if (found := resolve_text_object(context, use.module.name, parameter, source.value))
    ]
    several = True
    if not named and is_chosen(context.facts, use, parameter, argument):
        result = start(context, use, parameter, argument, sources, [context.platform.backend.wanted])
        left = explain_objects_left(context, use, parameter, argument)
        return result.review(fix.id, left) if left is not None else result
    if not named:
        named, several = _choose_by_device_count(context, use, parameter, sources)
    offered = list_offered_objects(context, use, parameter, argument, sources, is_named=bool(named))
    elsewhere = explain_by_object(context, use.module, use.call, parameter.objects)
    if chosen is not None and elsewhere is None and (named or offered):
        if is_for_old_versions(context, use, chosen):
            return decide_by_variable(context, use, parameter, chosen, fix)
    if not named:
        unknown = _decide_unknown_object(context, use, parameter, argument, sources, fix)
        return _decide_offered_objects(context, use, parameter, argument, sources, offered, unknown, fix) or unknown
    choice = context.platform.backend
    works = choice.default in choice.works
    if works and any(source.trace.doubt is not None for source, _ in named):
        return None  # whatever it is that arrives
    if not several and (elsewhere is not None or works):
        return None
    result = start(
        context, use, parameter, argument, [replace(source, value=Known(choice.default)) for source, _ in named], [choice.default]
    )
    never = unreachable(context, use) or elsewhere
    if never is not None:
        return result.keep(never)
    if works:
        return result.keep(Reason.of("keep-omitted", parameter=backend_of(context, named[0][1][0]).name))
    made: list[tuple[Value, NewObject]] = []
    safe = fix.applicability == "safe"
    for source, (wanted, sure) in named:
        backend = backend_of(context, wanted)
        safe = safe and sure and source.kind != OMITTED and backend.add_applicability == "safe"
        target = source if source.kind != OMITTED and isinstance(source.node, ast.Constant) else None
        made.append((source, make_object(context, use, parameter, wanted, target)))
    changes: list[Change] = [one for source, one in made if _is_replaceable(use, argument, source, one)]
    if len(changes) < len(made):  # then one change of the argument is for all of its texts
        alone = len(named) == len(sources) and not any(source.is_given for source in sources)
        texts: Texts = {source.value.value: replace(one, source=None) for source, one in made if isinstance(source.value, Known)}
        whole = all(source.kind != OMITTED and isinstance(source.value, Known) for source, _ in made)
        every, rest = _add_offered_objects(context, use, parameter, texts, offered, safe)
        choices = choose_objects(context.facts, use, parameter, argument, every, alone and result.possible.closed)
        changes = [replace(one, left=rest) for one in choices]
        if not whole or not changes:
            return result.review(fix.id, explain_manual_object(context, parameter, named[0][1][0]))
    reason = explain_object(context, parameter, named[0][1][0])
    if _find_unfollowed_sources(context, sources):  # the edits cure only a part of what can reach this call
        return result.edit(fix.id, False, Reason("edit-object-partly", reason.args), changes)
    if not several and context.may_be_bare:
        return result.review(fix.id, Reason("review-object-open", reason.args))
    return result.edit(fix.id, safe and several, reason if several else Reason("edit-object-open", reason.args), changes)


def _add_offered_objects(
    context: Context, use: Use, parameter: Parameter, texts: Texts, offered: Offered, safe: bool
) -> tuple[Texts, tuple[Reason, ...]]:
    """The texts with those that a user may give besides, and the reasons for what stays as it is, lest a safe edit be none."""
    seen = {text.lower() for text in texts if text is not None}
    others = {text: found for text, found in offered.items() if text.lower() not in seen}
    taken: Texts = {
        text: make_object(context, use, parameter, wanted) for text, (wanted, sure) in others.items() if sure or not safe
    }
    left = explain_offered_objects(context, parameter, {text: found[0] for text, found in others.items() if text not in taken})
    return {**texts, **taken}, () if left is None else (left,)


def _decide_offered_objects(
    context: Context,
    use: Use,
    parameter: Parameter,
    argument: ast.expr | None,
    sources: list[Value],
    offered: Offered,
    unknown: Finding | None,
    fix: Fix,
) -> Finding | None:
    """The edit for what nobody but a user gives, which leaves what is unknown besides; None where no text of theirs has a sure object."""
    choice, sure = context.platform.backend, [wanted for wanted, is_sure in offered.values() if is_sure]
    if not sure or choice.default in choice.works or _find_unfollowed_sources(context, sources):
        return None
    texts, left = _add_offered_objects(
        context, use, parameter, _pass_for_nothing(context, use, parameter, sources), offered, True
    )
    if unknown is not None and None not in texts and not left:
        left = (unknown.reason,)
    changes = [replace(one, left=left) for one in choose_objects(context.facts, use, parameter, argument, texts, False)]
    result = start(context, use, parameter, argument, sources, [choice.default])
    reason = explain_object(context, parameter, sure[0])
    return result.edit(fix.id, fix.applicability == "safe", reason, changes) if changes else None


def _pass_for_nothing(context: Context, use: Use, parameter: Parameter, sources: list[Value]) -> Texts:
    """What has to stand for None, where an option without a default may be it, and there are several devices."""
    assert parameter.objects is not None
    several = count_devices(context, use, parameter.objects) is Count.SEVERAL and any(map(_is_given_at_start, sources))
    automatic = resolve_text_object(context, use.module.name, parameter, Known(parameter.objects.automatic)) if several else None
    return {None: make_object(context, use, parameter, automatic[0])} if automatic is not None and automatic[1] else {}


def _has_framework_choice(use: Use, parameter: Parameter, sources: Sequence[Value]) -> bool:
    """Whether the call leaves it to the framework what object it takes."""
    assert parameter.objects is not None
    open_values = {None, *parameter.objects.open}
    return all(
        source.kind == OMITTED or (isinstance(source.value, Known) and source.value.value in open_values) for source in sources
    )


def _choose_by_device_count(
    context: Context, use: Use, parameter: Parameter, sources: Sequence[Value]
) -> tuple[list[NamedObject], bool]:
    """The object that the framework takes where it has the choice and there can be several devices, and whether there surely are."""
    objects = parameter.objects
    assert objects is not None
    count = count_devices(context, use, objects) if _has_framework_choice(use, parameter, sources) else Count.ONE
    if count is Count.UNSAID and objects.takes_all and not use.module.name.endswith(NOTEBOOK):
        if context.versions.holds(objects.takes_all, use.module.name, asks=False) is not False:
            count = Count.OPEN
    if count not in (Count.SEVERAL, Count.OPEN) or (count is Count.OPEN and is_test(use.module.name)):
        return [], False
    automatic = resolve_text_object(context, use.module.name, parameter, Known(objects.automatic))
    return [(source, automatic) for source in sources if automatic is not None], count is Count.SEVERAL


def _decide_unknown_object(
    context: Context, use: Use, parameter: Parameter, argument: ast.expr | None, sources: list[Value], fix: Fix
) -> Finding | None:
    """It is not known what stands for the object: for review, where the framework's choice does not work."""
    choice = context.platform.backend
    unpacked = [
        use.module.text(part) for part in use.spread if any(source.is_lost and source.node is use.call for source in sources)
    ]
    unfollowed = _find_unfollowed_sources(context, sources) or [source for source in sources if _is_given_at_start(source)]
    assert parameter.objects is not None
    if not (unfollowed or unpacked) or choice.default in choice.works or is_test(use.module.name):
        return None
    one = use.module.name.endswith(NOTEBOOK) or count_devices(context, use, parameter.objects) is Count.ONE
    if argument is None and one:
        return None  # whatever the mapping holds, there is one process
    automatic = resolve_text_object(context, use.module.name, parameter, Known(parameter.objects.automatic))
    if automatic is None or unreachable(context, use) or explain_by_object(context, use.module, use.call, parameter.objects):
        return None
    arguments = build_object_arguments(context, parameter, automatic[0])
    result = start(context, use, parameter, argument, sources, ["?"])
    if unpacked:
        expression = ", ".join(" ".join(part.split()) for part in unpacked)
        return result.review(
            fix.id, Reason.of("review-object-unpacked", expression=expression, value=choice.default, **arguments)
        )
    return result.review(fix.id, Reason.of("review-object-unknown", expression=unfollowed[0].text, **arguments))


def _find_unfollowed_sources(context: Context, sources: Sequence[Value]) -> list[Value]:
    """The sources of which it is not known what they give, and that are no object of a class that is known."""
    return [
        source for source in sources if source.is_lost and not (isinstance(source.node, ast.Call) and _is_object(context, source))
    ]


def _is_given_at_start(source: Value) -> bool:
    """Whether only who starts the program knows what a source gives: an option without a default."""
    return source.why is not None and source.why.means is Meaning.GIVEN_AT_START


def _is_object(context: Context, source: Value) -> bool:
    """Whether a call makes an object of a class that is known, which is a site of its own or makes no group."""
    module, node = source.code
    assert isinstance(node, ast.Call)
    entities = context.tracer.resolver.resolve(module, node.func)
    named = [entity for entity in entities if isinstance(entity, External) and entity.name.rpartition(".")[2][:1].isupper()]
    return bool(named) or any(isinstance(entity, Definition) and isinstance(entity.node, ast.ClassDef) for entity in entities)


def _is_replaceable(use: Use, argument: ast.expr | None, source: Value, made: NewObject) -> bool:
    """Whether an object can take the place of the text, where that is written, or of nothing where nothing is passed."""
    if source.kind == OMITTED:
        return argument is None
    if made.source is None and argument is not None:
        return False
    if argument is not None and argument in (source.node, source.outer):
        return True
    return isinstance(argument, ast.Name) and source.module is use.module and _is_only_for_call(use, argument, source)


def _of_object_texts(context: Context, parameter: Parameter) -> Context:
    """The same, where files and commands are asked for the texts that stand for objects, not for backends."""
    assert parameter.objects is not None
    names = (entry.text for entry in context.rules.objects.get(parameter.objects.table, ()))
    return replace(context, tracer=context.tracer.of_other_names((*names, *parameter.objects.open)))


def _is_only_for_call(use: Use, argument: ast.Name, source: Value) -> bool:
    """Whether a variable of the call's own function is assigned the text for this call and nothing else, a message aside."""
    module, node = source.code
    statement = module.statement(node)
    choice: ast.AST = node
    while isinstance(around := module.parents.get(choice), ast.IfExp) and choice is not around.test:
        choice = around
    whole = isinstance(statement, ast.Assign) and choice is statement.value
    used = [name for name in module.nodes.get(ast.Name, ()) if isinstance(name, ast.Name) and name.id == argument.id]
    read = [name for name in used if isinstance(name.ctx, ast.Load) and not isinstance(module.parents[name], ast.FormattedValue)]
    return whole and read == [argument] and scope_of(module, node) is scope_of(use.module, use.call)
