"""Matches parameters that take a name for an object, such as Lightning's ``strategy="ddp"``: the object itself takes the backend."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from ddp_codemod.model import Reason
from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.rules.elsewhere import said_by
from ddp_codemod.rules.finding import Change, Context, Finding, NewMapping, NewObject, start, unreachable
from ddp_codemod.rules.match import OMITTED, leaves_of
from ddp_codemod.rules.match_chosen import by_variable, has_part, names_object
from ddp_codemod.rules.model import Fix, Parameter
from ddp_codemod.rules.objects import TextObject
from ddp_codemod.sites.configured import ConfiguredUse
from ddp_codemod.sites.find import Use
from ddp_codemod.sites.scopes import scope_of


def match_object(context: Context, use: Use, parameter: Parameter, fix: Fix) -> Finding | None:
    """Decide about a call that names its object by a text; None where it names none that makes a process group."""
    assert parameter.objects is not None
    if use.own_init:
        return None  # what it hands on is a call of its own
    argument, leaves = leaves_of(context, use, parameter)
    chosen = parameter.objects.chosen
    if chosen is not None and has_part(context, use):
        return None  # that is a site of its own
    if chosen is not None and names_object(context, use, chosen):
        return by_variable(context, use, parameter, chosen, fix)
    named = [(leaf, found) for leaf in leaves if (found := _named(context, use.module.name, parameter, leaf.value))]
    if not named and _picks_itself(context, use, parameter, leaves):
        automatic = _named(context, use.module.name, parameter, Known(parameter.objects.automatic))
        named = [(leaf, automatic) for leaf in leaves if automatic is not None]
    if not named:
        return None
    elsewhere = said_by(context, use.module, use.call, parameter.objects.elsewhere)
    if chosen is not None and elsewhere is None:
        if chosen.when and context.versions.holds(chosen.when, use.module.name, asks=False) is True:
            return by_variable(context, use, parameter, chosen, fix)
    choice = context.platform.backend
    made = start(
        context, use, parameter, argument, [replace(leaf, value=Known(choice.default)) for leaf, _ in named], [choice.default]
    )
    never = unreachable(context, use) or elsewhere
    if never is not None:
        return made.keep(never)
    if choice.default in choice.works:
        return made.keep(Reason.of("keep-omitted", parameter=_backend(context, named[0][1][0]).name))
    changes: list[Change] = []
    safe = fix.applicability == "safe"
    for leaf, (wanted, sure) in named:
        backend = _backend(context, wanted)
        blocked = _blocked(context, use, parameter, argument, leaf, wanted)
        if blocked is not None:
            return made.review(fix.id, blocked)
        safe = safe and sure and leaf.kind != OMITTED and backend.add_applicability == "safe"
        target = leaf if leaf.kind != OMITTED and isinstance(leaf.node, ast.Constant) else None
        if target is None and argument is not None:
            return made.review(fix.id, _by_hand(context, parameter, wanted))
        changes.append(
            NewObject(
                use.module, use.call, parameter.name, target, parameter.objects.module, _name(context, wanted),
                tuple(wanted.arguments.items()), backend.name, choice.wanted,
            )
        )  # fmt: skip
    return made.edit(fix.id, safe, _reason(context, parameter, named[0][1][0]), changes)


def match_configured_object(context: Context, use: ConfiguredUse, parameter: Parameter, fix: Fix) -> Finding | None:
    """The same for a text beside the ``_target_`` of a configuration file."""
    assert parameter.objects is not None
    entry, choice = use.argument(parameter), context.platform.backend
    found = _named(context, use.module.name, parameter, Known(entry.value)) if entry is not None and entry.is_text else None
    if entry is None or found is None:
        return None
    wanted, backend = found[0], _backend(context, found[0])
    made = start(context, use, parameter, entry, [Leaf(use.module, entry, "config-key", Known(choice.default))], [choice.default])
    if choice.default in choice.works:
        return made.keep(Reason.of("keep-omitted", parameter=backend.name))
    if not use.module.may_add_below(entry):
        return made.review(fix.id, _by_hand(context, parameter, wanted))
    arguments = (*wanted.arguments.items(), (backend.name, choice.wanted))
    change = NewMapping(use.module, entry, f"{parameter.objects.module}.{_name(context, wanted)}", arguments)
    return made.edit(fix.id, False, _reason(context, parameter, wanted), [change])


def _named(context: Context, file: str, parameter: Parameter, value: object) -> tuple[TextObject, bool] | None:
    """The object that a text stands for at the project's versions, and whether those are sure."""
    assert parameter.objects is not None
    if not isinstance(value, Known) or not isinstance(value.value, str):
        return None
    for entry in context.rules.objects.get(parameter.objects.table, ()):
        if entry.text == value.value.lower() and (holds := context.versions.holds(entry.when, file)) is not False:
            return entry, holds is True
    return None


def _picks_itself(context: Context, use: Use, parameter: Parameter, leaves: Sequence[Leaf]) -> bool:
    """Whether the call leaves the choice to the framework and says that there are several devices, which decides it."""
    assert parameter.objects is not None
    open_values = {None, *parameter.objects.open}
    if use.spread or not all(
        leaf.kind == OMITTED or (isinstance(leaf.value, Known) and leaf.value.value in open_values) for leaf in leaves
    ):
        return False
    for keyword in use.call.keywords:
        if keyword.arg in parameter.objects.several:
            value = context.facts.fold(use.module, keyword.value)
            many = value.value if isinstance(value, Known) else None
            if (isinstance(many, int) and many > 1) or (isinstance(many, tuple) and len(many) > 1):
                return True
    return False


def _blocked(
    context: Context, use: Use, parameter: Parameter, argument: ast.expr | None, leaf: Leaf, wanted: TextObject
) -> Reason | None:
    """Why an object cannot stand where the text stands."""
    if leaf.kind == OMITTED or (argument is not None and argument in (leaf.node, leaf.outer)):
        return None
    if isinstance(argument, ast.Name) and leaf.module is use.module and _only_for(use, argument, leaf):
        return None
    return _by_hand(context, parameter, wanted)


def _only_for(use: Use, argument: ast.Name, leaf: Leaf) -> bool:
    """Whether a variable of the call's own function is assigned the text for this call and nothing else."""
    module, node = leaf.code
    statement = module.statement(node)
    whole = isinstance(statement, ast.Assign) and statement.value in (node, leaf.outer)
    used = [name for name in module.nodes.get(ast.Name, ()) if isinstance(name, ast.Name) and name.id == argument.id]
    read = [name for name in used if isinstance(name.ctx, ast.Load)]
    return whole and read == [argument] and scope_of(module, node) is scope_of(use.module, use.call)


def _backend(context: Context, wanted: TextObject) -> Parameter:
    """The parameter of the object's class that takes the backend."""
    return next(parameter for parameter in context.rules.surfaces[wanted.surface].parameters if parameter.role == "backend")


def _name(context: Context, wanted: TextObject) -> str:
    return context.rules.surfaces[wanted.surface].names[0].rpartition(".")[2]


def _by_hand(context: Context, parameter: Parameter, wanted: TextObject) -> Reason:
    return Reason.of("review-object", text=wanted.text, **_said(context, parameter, wanted))


def _reason(context: Context, parameter: Parameter, wanted: TextObject) -> Reason:
    return Reason.of("edit-object", text=wanted.text, value=context.platform.backend.default, **_said(context, parameter, wanted))


def _said(context: Context, parameter: Parameter, wanted: TextObject) -> dict[str, str]:
    platform = context.platform
    assert parameter.objects is not None
    return {
        "parameter": parameter.name, "name": f"{parameter.objects.module}.{_name(context, wanted)}",
        "keyword": _backend(context, wanted).name, "wanted": platform.backend.wanted,
        "platform": platform.id, "why": platform.why, "why_zh": platform.why_zh,
    }  # fmt: skip
