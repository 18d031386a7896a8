"""What matching yields: a finding per site and rule, with the changes that would fix it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Literal, Union

from msgspec import Struct, field
from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Parameter, Platform
from ddp_codemod.catalog.objects import Environment, Handler
from ddp_codemod.catalog.processes import may_be_bare
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Value, ValueSet
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Applicability, Place, Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import Node, Tree
from ddp_codemod.policy.versions import Versions
from ddp_codemod.sites.command_uses import CommandedUse
from ddp_codemod.sites.config_uses import ConfiguredUse
from ddp_codemod.sites.key_path_uses import KeyedUse
from ddp_codemod.sites.surface_calls import Use


class NewText(Struct, frozen=True, eq=False):
    """The source has to give this string."""

    source: Value
    text: str


class Translation(Struct, frozen=True, eq=False):
    """The argument of a call is changed on its way in: a text that is the first of a pair arrives as the second."""

    module: Module
    argument: ast.expr
    pairs: tuple[tuple[str | None, str], ...]
    closed: bool = False  # nothing but these can arrive
    key: str = ""  # the argument is a mapping that the call unpacks, and this its entry
    warning: str = ""  # what the program says where it happens; empty where the value is the program's own
    name: str = ""  # what the argument is called before the call, where a line of the same edit gives it a name
    fills: bool = False  # the mapping may lack the entry, and holds no None there: the second of the only pair stands for it
    inside: bool = False  # the texts are parts of what arrives
    when: str = ""  # a condition, source text, without which the argument stays, for the call is then of something else
    copied: bool = False  # the mapping has nothing but what ``**`` needs: a dictionary is made of it first


class Splice(Struct, frozen=True, eq=False):
    """This source text goes in at an offset of the file, in place of what is there for a length."""

    module: Tree
    offset: int
    text: str
    before: Place | None = None  # what it is put before, where a reader should see that
    length: int = 0
    lengthens: tuple[ast.expr, str] | None = None  # a text that is put together, and what it gets at its end


class NewKeyword(Struct, frozen=True, eq=False):
    """The call gets a keyword argument; ``value`` is source text, and ``instead_of`` that of what arrives without it, if anything does."""

    module: Module
    call: ast.Call
    keyword: str
    value: str
    instead_of: str = ""


class NewObject(Struct, frozen=True, eq=False):
    """A text that stands for an object becomes the object, with the backend; without a source the call gets it as a keyword."""

    module: Module
    call: ast.Call
    parameter: str
    source: Value | None
    package: str
    name: str
    arguments: tuple[tuple[str, bool | int | str], ...]
    keyword: str
    text: str


class ObjectChoice(Struct, frozen=True, eq=False):
    """Objects with the backend stand for texts on the way into a call; ``closed`` and ``key`` as in a Translation."""

    module: Module
    argument: ast.expr
    objects: tuple[tuple[str | None, NewObject], ...]
    closed: bool = False
    key: str = ""
    left: tuple[Reason, ...] = ()  # what may arrive besides, and a user has to decide
    attribute: str = ""  # of the argument, which the call passes on: it gets a keyword
    perhaps: bool = False  # the argument may lack the attribute


class NewMapping(Struct, frozen=True, eq=False):
    """The same in a configuration file whose reader makes objects: the scalar becomes a mapping with a ``_target_``."""

    module: Document
    entry: Entry
    target: str
    arguments: tuple[tuple[str, bool | int | str], ...]
    key: str = "_target_"
    below: str = ""
    added: str = ""  # the mapping is new: under this key, on a line below the entry's


class NewHandler(Struct, frozen=True, eq=False):
    """The call's list argument gets an object that carries the text."""

    module: Module
    call: ast.Call
    parameter: str
    handler: Handler
    text: str
    into: ast.List | None = None  # the list, where it is in what the call unpacks


class NewVariable(Struct, frozen=True, eq=False):
    """An environment variable is set on a line before the statement of the node."""

    module: Module
    node: ast.AST
    environment: Environment


class NewStatement(Struct, frozen=True, eq=False):
    """A statement on a line of its own; ``VALUE`` in its text is ``value``, and ``PACKAGE`` how the file writes the package."""

    module: Module
    node: ast.AST  # whose statement it is put before or behind; with "inside", the class that it becomes the first line of
    text: str
    value: str  # source text
    where: Literal["before", "behind", "inside"] = "before"
    package: str = ""
    under: str = ""  # a condition of its own, beside that of the value: then it is run or not, instead of getting a value or none


class NewKey(Struct, frozen=True, eq=False):
    """A key is written on a line of its own below an entry, in the same mapping."""

    module: Document
    below: Entry
    key: str
    text: str
    inside: str = ""  # the key of a mapping of its own, which is not there yet


class Insertions(Struct, frozen=True, eq=False):
    """Texts that go in at offsets, or stand for a stretch; ``PACKAGE`` in them is how the file writes the package."""

    module: Module
    node: ast.AST
    replacements: tuple[tuple[int, int, str], ...]
    package: str = ""
    called: tuple[tuple[int, int, str], ...] = ()  # instead of the replacements where a function gives what the marks stand for


class DroppedArgument(Struct, frozen=True, eq=False):
    """The call loses an argument."""

    module: Module
    call: ast.Call
    argument: ast.expr


PACKAGE, VALUE = "\0", "\1"
# In code that other machines run too: the type of the machine's device, its module of torch, and whether it is the platform's.
KIND, MODULE, HERE = MARKS = ("\2", "\3", "\4")

Change = Union[
    NewText,
    Translation,
    Splice,
    NewKeyword,
    NewHandler,
    NewObject,
    ObjectChoice,
    NewMapping,
    NewVariable,
    NewStatement,
    NewKey,
    Insertions,
    DroppedArgument,
]
AnyUse = Union[Use, ConfiguredUse, KeyedUse, CommandedUse]


class Finding(Struct, frozen=True, eq=False):
    """What was decided for one parameter of one use, before edits are made of it."""

    use: AnyUse
    parameter: str
    argument: Node | None
    possible: ValueSet
    resolves_to: tuple[str, ...]
    action: Action
    applicability: Applicability
    rule: str | None
    reason: Reason
    changes: tuple[Change, ...] = ()
    required_import: str | None = None
    at: tuple[Value, ...] = ()  # where a user should look, if that is not the use itself
    untraced: bool = False  # it is not safe, or for review, for nothing else than that not every start of the value is known

    def with_plugin(self, plugin: str | None, module: Tree) -> Finding:
        """The same, importing a platform's module; a file that speaks of it imports it where it wants to."""
        return replace(self, required_import=plugin if plugin is not None and plugin not in module.source.text else None)

    def keep(self, reason: Reason) -> Finding:
        """The same, kept."""
        return replace(self, action=Action.KEEP, reason=reason)

    def without_changes(self) -> Finding:
        """The same, with nothing to fix."""
        return replace(self, applicability=Applicability.SAFE, rule=None, changes=(), required_import=None)

    def review(self, rule: str, reason: Reason) -> Finding:
        """The same, for review."""
        return replace(
            self, action=Action.REVIEW, applicability=Applicability.MANUAL, rule=rule, reason=reason, changes=(), untraced=False
        )

    def edit(self, rule: str, safe: bool, reason: Reason, changes: Iterable[Change]) -> Finding:
        """The same, with what fixes it."""
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        return replace(self, action=Action.EDIT, applicability=applicability, rule=rule, reason=reason, changes=tuple(changes))


class Context(Struct, frozen=True):
    """What matching needs to know of the run."""

    platform: Platform
    rules: Rules
    tracer: Tracer
    facts: Facts
    versions: Versions
    ported: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # lines that earlier runs for the platform wrote, by the file

    @property
    def may_be_bare(self) -> bool:
        """Whether torch may lack its distributed package: what makes a group there ends a program that trains on one device."""
        return may_be_bare(self.rules.processes, self.facts.facts, ())


def start(
    context: Context,
    use: AnyUse,
    parameter: Parameter | None,
    argument: Node | None,
    sources: Iterable[Value],
    texts: Iterable[str],
) -> Finding:
    """A finding that keeps the site, to be refined; one for code that the platform never runs is final."""
    name = parameter.name if parameter else ""
    found = tuple(dict.fromkeys(texts))
    values = ", ".join(text for text in found if text != "?")
    reason = Reason.of("keep-right", value=values, platform=context.platform.id)
    return Finding(use, name, argument, ValueSet(tuple(sources)), found, Action.KEEP, Applicability.SAFE, None, reason)


def explain_change(finding: Finding, change: Change) -> Reason:
    """Why one of a finding's changes is made: where the value starts, the new one is written, wherever the call may be."""
    said = dict(finding.reason.args)
    if isinstance(change, Translation) and "origin" in said:  # beside the change where the value starts
        args = tuple((name, value) for name, value in said.items() if name not in ("origin", "count"))
        return Reason("edit-given", args, finding.reason.means)
    if not isinstance(change, NewText) or not {"origin", "value", "wanted"} <= said.keys():
        return finding.reason
    source = change.source
    if isinstance(source.value, Known) and isinstance(source.value.value, str):
        said["value"] = source.value.value
    said["wanted"] = change.text
    args = tuple((name, value) for name, value in said.items() if name not in ("origin", "count"))
    return Reason("edit-backend", args, finding.reason.means)


def unreachable(context: Context, use: Use) -> Reason | None:
    """Why the platform never runs the call, if it does not."""
    test = context.facts.unset.unreachable(use.module, use.call)
    if test is None:
        return None
    text, line = " ".join(use.module.text(test).split()), use.module.line(test)
    return Reason.of("keep-unreachable", Meaning.UNREACHABLE, test=text, line=line, platform=context.platform.id)


def is_machine_dependent(change: Change) -> bool:
    """Whether a change writes what depends on the machine that runs the code."""
    return isinstance(change, Insertions) and any(mark in text for _, _, text in change.replacements for mark in MARKS)
