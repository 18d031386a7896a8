"""Names that whoever starts a program gives, in words of a command or in variables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.bulk_stores import is_set_by_any_name
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.declared_options import list_flags
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.options import find_choices
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Step
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.policy.findings import Change, Context, Finding, NewText, Translation
from ddp_codemod.sites.entities import ModuleRef
from ddp_codemod.sites.scopes import owner_scope, scope_of

_NAMED_SETTERS = frozenset({"setattr", "object", "patch", "__setattr__"})  # ``mock.patch.object``, ``monkeypatch.setattr``
_TYPED = frozenset(
    {
        OriginKind.OPTION_DEFAULT,
        OriginKind.ENVIRONMENT_DEFAULT,
        OriginKind.COMMAND_LINE,
        OriginKind.LAUNCH,
        OriginKind.LAUNCH_VARIABLE,
    }
)


def is_user_supplied(context: Context, finding: Finding) -> bool:
    """Whether what arrives can be what somebody typed."""
    typed = any(
        source.kind in _TYPED or source.trace.kind in _TYPED or is_given_without_default(source) for source in finding.possible
    )
    return typed or is_overwritten(context, finding)


def is_overwritten(context: Context, finding: Finding) -> bool:
    """Whether the argument is one of the names of a file, or of an object, that code may give other values, and which of them is not said.

    ``exec(open("configurator.py").read())`` reads overrides from the command line, as does ``globals().update(...)``, and
    ``globals()[key] = value`` sets whatever it is asked to, and so does ``setattr(cfg, key, value)`` of an object.
    """
    module, node = finding.use.module, finding.argument
    if not isinstance(module, Module):
        return False
    if isinstance(node, ast.Attribute):
        owners = context.tracer.resolver.resolve(module, node.value)
        if any(isinstance(one, ModuleRef) and _has_names_overwritten(one.module) for one in owners):
            return True
        known = finding.possible and all(isinstance(source.value, Known) for source in finding.possible)
        return bool(known) and is_set_by_any_name(context.tracer, module, node.value)
    if not isinstance(node, ast.Name) or owner_scope(module, scope_of(module, node), node.id) is not module.tree:
        return False
    return _has_names_overwritten(module)


def is_set_by_name(context: Context, finding: Finding) -> bool:
    """Whether code sets the attribute that is passed by its name, to what is not followed: ``mock.patch.object(settings, "BACKEND", x)``."""
    followed = {id(source.node) for source in finding.possible}
    node, project = finding.argument, context.tracer.resolver.project
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    for module in (one for file in project.mentioning(name) for one in project.programs(file)) if name else ():
        calls = (call for word in _NAMED_SETTERS & index_calls(module).keys() for call in index_calls(module)[word])
        others = (call for call in calls if followed.isdisjoint(map(id, call.args)))
        texts = (part.value for call in others for part in call.args[:2] if isinstance(part, ast.Constant))
        if any(isinstance(text, str) and text.rpartition(".")[2] == name for text in texts):
            return True
    return False


def _has_names_overwritten(module: Module) -> bool:
    calls = (*index_calls(module).get("exec", ()), *index_calls(module).get("update", ()))
    return any(_can_overwrite_names(module, call) for call in calls) or any(
        isinstance(around := module.parents.get(call), ast.Subscript)
        and isinstance(around.ctx, ast.Store)
        and not isinstance(around.slice, ast.Constant)
        for call in index_calls(module).get("globals", ())
    )


def _can_overwrite_names(module: Module, call: ast.Call) -> bool:
    """Whether a call may give names of the whole file other values, and which is not said."""
    if not call.args or isinstance(call.args[0], (ast.Constant, ast.Dict)):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "exec" and len(call.args) == 1 and scope_of(module, call) is module.tree
    held = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(held, ast.Call) and last_name(held.func) == "globals"


def add_warnings(context: Context, translations: Iterable[Translation]) -> Iterator[Translation]:
    """The changes, which say so where they happen: no name of the program's own is changed there, only what somebody typed."""
    for one in translations:
        olds, news = [old for old, _ in one.pairs if old is not None], {new for _, new in one.pairs}
        does = "does" if len(olds) == 1 else "do"
        taken = news.pop() if len(news) == 1 else "another backend"
        text = f"{' and '.join(olds)} {does} not work on {context.platform.id}: the process group uses {taken}"
        yield replace(one, warning=text) if olds else one


def has_wrong_name_left(finding: Finding, wrong: Mapping[str | None, str], changes: Iterable[Change]) -> bool:
    """Whether a wrong name of the program's own arrives after some changes."""
    changed = {id(change.source.node) for change in changes if isinstance(change, NewText)}
    left = (source.value for source in finding.possible if id(source.node) not in changed)
    return any(isinstance(value, Known) and value.value in wrong for value in left)


def is_given_without_default(source: Value) -> bool:
    """Whether who starts the program gives a value, and no default of it is known."""
    return source.why is not None and source.why.means is Meaning.GIVEN_AT_START


def can_be_user_supplied(context: Context, finding: Finding) -> bool:
    """Whether a name that does not work can be typed where the default does: no list of choices leaves it out."""
    traces = [(source, {source.kind, source.trace.kind}) for source in finding.possible]
    if any(OriginKind.ENVIRONMENT_DEFAULT in kinds for _, kinds in traces):
        return True
    typed = (source for source, kinds in traces if OriginKind.OPTION_DEFAULT in kinds)
    return any(_can_admit_wrong_name(context, step) for source in typed for step in source.trace.passed)


def _can_admit_wrong_name(context: Context, step: Step) -> bool:
    """Whether the call that declares an option names no choices, or one that does not work: ``choices=["gloo", "nccl"]``."""
    project, place = context.tracer.resolver.project, step.place
    module, source = project.module(place.name) if place.name in project.names else None, project.source(place.name)
    if module is not None:
        declared = ((flag, call) for flag in list_flags(context.tracer) for call in index_calls(module).get(flag.method, ()))
        if any(module.place(call) == place and find_choices(call, flag) is None for flag, call in declared):
            return True
    names, choice = context.rules.backends, context.platform.backend
    words = re.findall(r"[\"'](\w+)[\"']", source.text[place.start : place.end]) if source is not None else []
    known = (word for word in words if word in names and not names[word].specific)
    return any(assess(word, choice, names).wanted is not None for word in known)
