"""Why a backend name that is in a program is no value that a group could still be passed: the rules of the ledger for Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.dataflow.def_use import find_reads
from ddp_codemod.dataflow.parameters import OVERRIDDEN
from ddp_codemod.dataflow.reads import Read
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Value
from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import OriginKind
from ddp_codemod.ledger.unread_keys import is_unread_attribute, is_unread_field, is_unread_setting
from ddp_codemod.ledger.unread_options import is_unread_default
from ddp_codemod.ledger.unread_parameters import is_for_unread_parameter, is_only_compared, is_only_printed, is_overwritten
from ddp_codemod.ledger.unread_tables import is_in_unread_table
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.key_path_uses import imports_package

_Rule = Callable[["_Question"], bool]
_DISPLAYS = (ast.List, ast.Tuple, ast.Set)
_MANY = 5  # words in a list that is no list of values for the parameters of one thing
_WORD = re.compile(r"[A-Za-z][\w-]*")
_NAME = "name"  # the attribute that says what a thing is called
_CHOICES = "choices"  # what a parser accepts
_SETS = ("Choice", "DEFINE_enum", "frozenset", "list", "set", "sorted", "tuple")  # calls that make a list of a list


class RuleWords(Struct, frozen=True):
    """What the rules know by its name."""

    backends: Container[str]
    sayers: Container[str]  # the last names of calls that only look at a text
    shows: Container[str]  # ... and of those that only show it
    devices: Container[str]  # types of devices that the platform does not have
    getters: Container[str]  # the last names of calls that give a default where nothing else is there
    enums: Container[str]  # classes whose subclasses' members are values
    registers: Container[str]  # the last names of decorators that are passed the name of what is below
    blind: Container[str]  # packages that may be handed all options, and read none for a group
    built_with: Container[str]  # variables, options and keywords that say how a library is built
    settings_bases: Container[str]  # classes that read none of their fields by its name
    frameworks: Sequence[str]  # packages whose groups the tool is about
    other_frameworks: Sequence[str]  # packages that train without them


class _Question(Struct, frozen=True):
    """A literal, what is around it, and what the rules need to tell."""

    tracer: Tracer
    words: RuleWords
    module: Module
    node: ast.Constant
    around: Sequence[ast.AST]


def is_explained(tracer: Tracer, words: RuleWords, module: Module, node: ast.Constant) -> bool:
    """Whether a rule says why the literal is no value of a group."""
    asked = _Question(tracer, words, module, node, list(module.ancestors(node)))
    return any(rule(asked) for rule in _RULES)


def _is_in_tests(asked: _Question) -> bool:
    return is_test(asked.module.name)


def _is_prose(asked: _Question) -> bool:
    """A docstring, or a part of a text that is put together."""
    return isinstance(asked.around[0], (ast.Expr, ast.JoinedStr, ast.FormattedValue))


def _is_compared(asked: _Question) -> bool:
    """``backend == "nccl"``, ``backend in ("nccl", "gloo")``, ``case "nccl"``, and what is reported in an error."""
    called = False  # what is handed to a call is a value, whatever the call's result is compared with
    for around in asked.around:
        if isinstance(around, ast.Raise) or (isinstance(around, (ast.Compare, ast.MatchValue)) and not called):
            return True
        if isinstance(around, (ast.stmt, ast.Lambda)):
            return False
        called = called or (isinstance(around, ast.Call) and last_name(around.func) not in asked.words.getters)
    return False


def _is_key(asked: _Question) -> bool:
    """A key of a table, what is looked up in one, or a type (``Literal["nccl"]``)."""
    below: ast.AST = asked.node
    call = asked.around[0]
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in asked.words.getters:
        return call.args[:1] == [asked.node]  # config.get("nccl", {})
    for around in asked.around:
        if isinstance(around, ast.Dict):
            return below in around.keys
        if isinstance(around, ast.Subscript):
            return below is around.slice
        if not isinstance(around, _DISPLAYS):
            return False
        below = around
    return False


def _is_listed(asked: _Question) -> bool:
    """One of several names in a list of what there is, or of what an option accepts; or one of many words."""
    around = asked.around[0]
    if not isinstance(around, _DISPLAYS):
        return False
    if _is_of_words(around):
        return True
    holder = asked.around[1]
    if isinstance(holder, ast.Call) and last_name(holder.func) not in _SETS:
        return False  # the list itself is passed on
    if isinstance(holder, ast.Dict):  # field(metadata={"choices": [...]})
        keys = [
            key.value
            for key, value in zip(holder.keys, holder.values, strict=True)
            if value is around and isinstance(key, ast.Constant)
        ]
        return keys == [_CHOICES]
    if not isinstance(holder, (ast.Assign, ast.AnnAssign, ast.Compare, ast.keyword, ast.Call, ast.Return)):
        return False
    if isinstance(holder, ast.keyword) and holder.arg != _CHOICES:
        return False
    texts = {part.value.lower() for part in around.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return sum(text in asked.words.backends for text in texts) > 1


def _is_of_words(display: ast.List | ast.Tuple | ast.Set) -> bool:
    """Whether a list is of things of one kind, of which a name happens to be one: packages, prefixes of variables. No command."""
    texts = [part.value for part in display.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    words = all(_WORD.fullmatch(text) for text in texts)
    return words and len(texts) == len(display.elts) and len(texts) >= (2 if isinstance(display, ast.Set) else _MANY)


def _is_own_name(asked: _Question) -> bool:
    """What a class, or what is below a decorator, is called: ``class NcclTransport: name = "nccl"``, ``@register("nccl")``."""
    around, holder = asked.around[0], asked.around[1]
    if isinstance(around, ast.Assign) and isinstance(holder, ast.ClassDef):
        named = [target.id for target in around.targets if isinstance(target, ast.Name)]
        return named == [_NAME] and str(asked.node.value).lower() in holder.name.lower()
    if not isinstance(around, ast.Call) or asked.node not in around.args or around not in getattr(holder, "decorator_list", ()):
        return False
    return last_name(around.func) in asked.words.registers


def _is_library_build(asked: _Question) -> bool:
    """What a library is built with or linked to: ``os.environ["HOROVOD_GPU_ALLREDUCE"] = "NCCL"``, ``libraries=["nccl"]``."""
    around, holder = asked.around[0], asked.around[1]
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(target := around.targets[0], ast.Subscript):
        return isinstance(target.slice, ast.Constant) and str(target.slice.value) in asked.words.built_with
    return isinstance(around, _DISPLAYS) and isinstance(holder, ast.keyword) and str(holder.arg) in asked.words.built_with


def _is_member(asked: _Question) -> bool:
    """One of several names in an enumeration of what there is, which no program takes but to compare with it."""
    statement, around = asked.around[0], asked.around[1]
    if not isinstance(statement, ast.Assign) or not isinstance(around, ast.ClassDef):
        return False
    resolver, target = asked.tracer.resolver, statement.targets[0]
    members = [part.value for part in around.body if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)]
    others = [member for member in members if str(member.value).lower() in asked.words.backends]
    names = {name for base in around.bases for name in resolver.names(asked.module, base)}
    if len(others) < 2 or not any(name in asked.words.enums for name in names) or not isinstance(target, ast.Name):
        return False
    taken = (
        (module, node)
        for name in resolver.project.mentioning(target.id)
        for module in resolver.project.programs(name)
        for node in module.nodes.get(ast.Attribute, ())
        if isinstance(node, ast.Attribute) and node.attr == target.id and last_name(node.value) == around.name
    )
    return all(isinstance(module.parents[node], ast.Compare) for module, node in taken)


def _is_of_other_framework(asked: _Question) -> bool:
    """What is in a file that trains with a framework whose groups are not torch's, and that no file with torch speaks of."""
    project, words = asked.tracer.resolver.project, asked.words
    if not imports_package(asked.module, words.other_frameworks):
        return False
    speaking = {asked.module.name, *project.mentioning(PurePosixPath(asked.module.name).stem)}
    return not any(imports_package(other, words.frameworks) for name in speaking for other in project.programs(name))


def _is_only_printed(asked: _Question) -> bool:
    """An argument of a call that only looks at a text, or prints it."""
    return is_only_printed(asked.tracer, asked.module, asked.node, asked.words.sayers)


def _is_of_other_device(asked: _Question) -> bool:
    """What a table has for a device that the platform does not have: ``{"cuda": "nccl", "npu": "hccl"}``."""
    around = asked.around[0]
    if not isinstance(around, ast.Dict) or asked.node not in around.values:
        return False
    key = around.keys[around.values.index(asked.node)]
    return isinstance(key, ast.Constant) and key.value in asked.words.devices


def _is_not_run_here(asked: _Question) -> bool:
    """Code that does not run on the platform."""
    if asked.tracer.facts.unset.unreachable(asked.module, asked.node) is not None:
        return True
    below: ast.AST = asked.node
    for around in asked.around:
        if isinstance(around, ast.IfExp) and below is not around.test:
            truth = asked.tracer.facts.unset.truth(asked.module, around.test)
            if truth is not None and below is (around.orelse if truth else around.body):
                return True
        below = around
    return False


def _is_overridden(asked: _Question) -> bool:
    """A default that no call which was followed leaves to hold."""
    return asked.node in asked.tracer.memory.get(OVERRIDDEN, ())


def _is_unread(asked: _Question) -> bool:
    """What nobody reads, other than to compare it."""
    tracer, module, node = asked.tracer, asked.module, asked.node
    return (
        is_for_unread_parameter(tracer, module, node, asked.words.sayers)
        or is_overwritten(tracer, module, node)
        or is_only_compared(module, node)
        or is_unread_setting(tracer, module, node)
        or is_unread_attribute(tracer, module, node)
        or is_in_unread_table(tracer, module, node)
        or is_unread_default(tracer, module, node, asked.words.blind)
        or is_unread_field(tracer, module, node, asked.words.settings_bases)
    )


def _is_used_otherwise(asked: _Question) -> bool:
    """What is looked up, compared and put into other names, and goes to no code that is not read."""
    found = find_reads(asked.tracer, Value(asked.module, asked.node, OriginKind.LITERAL))
    reads = [read for read in found if not is_test(read.module.name)]
    chosen = (isinstance(read.module.parents.get(read.node), (ast.Compare, ast.Subscript, ast.Attribute)) for read in reads)
    return any(chosen) and not found.lost and not any(_is_handed_over(asked, read) for read in reads)


def _is_handed_over(asked: _Question, read: Read) -> bool:
    around = read.module.parents.get(read.node)
    call = read.module.parents.get(around) if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call):
        return read.ends
    return last_name(call.func) not in asked.words.shows and last_name(call.func) not in asked.words.sayers


_RULES: tuple[_Rule, ...] = (
    _is_in_tests,
    _is_prose,
    _is_compared,
    _is_key,
    _is_listed,
    _is_member,
    _is_own_name,
    _is_library_build,
    _is_of_other_framework,
    _is_only_printed,
    _is_used_otherwise,
    _is_of_other_device,
    _is_not_run_here,
    _is_overridden,
    _is_unread,
)
