"""The schema of rules/advisories/*.toml: what no longer holds once a group has another backend, or the machine another device."""

from typing import Literal

import msgspec

from ddp_codemod.rules.entry import Name, RuleEntry, When


class Pattern(RuleEntry, frozen=True, kw_only=True):
    """What is looked for. ``argument`` narrows calls down to those that pass it, or do not."""

    names: tuple[Name, ...] = ()  # qualified names that are called ...
    methods: tuple[Name, ...] = ()  # ... or methods of whatever object ...
    keywords: tuple[Name, ...] = ()  # ... or anything that takes such an argument
    # "called"; "named": mentioned anywhere; "required": an assertion about it, or a test that raises or leaves; "instance": asked
    # for with isinstance; "compared": what it gives is compared with one of ``texts``; "set": it gets a value
    use: Literal["called", "named", "required", "instance", "compared", "set"] = "called"
    argument: str | None = None
    position: int | None = None
    # "uneven": a list whose items differ in size; "device": a device by its name, or (``ranks``) by its number;
    # "made-by": the result of one of ``makers``; "text": one of ``texts``; "picked": an element of a list that is no environment
    argument_is: Literal["given", "omitted", "uneven", "device", "made-by", "text", "picked"] = "given"
    texts: tuple[Name, ...] = ()
    beside: tuple[Name, ...] = ()  # only in files that call one of these with a first argument that is "picked"
    makers: tuple[Name, ...] = ()
    traced: bool = False  # "made-by": also where that stands elsewhere, or the value is not known and given all the same
    device: str = ""  # "device": what the name of the device starts with
    ranks: tuple[Name, ...] = ()  # "device": names that hold a number
    within: tuple[Name, ...] = ()  # only where the result goes to a name or parameter that is called so
    commands: tuple[Name, ...] = ()  # programs that launch files start ...
    without: tuple[Name, ...] = ()  # ... where none of these stands among their arguments

    def __post_init__(self) -> None:
        """Refuse a pattern that finds nothing (ValueError)."""
        if not (self.names or self.methods or self.keywords or self.commands):
            raise ValueError("a pattern has names, methods, keywords or commands")


class Rewrite(RuleEntry, frozen=True, kw_only=True):
    """A named recipe and what it needs."""

    # "drop-argument"; "guard-statement": under ``condition``; "conditional-value": the argument, else ``otherwise``;
    # "at-least": never less than ``otherwise``; "to-device": ``x.cuda(a)`` becomes ``x.to(a if condition else otherwise)``;
    # "argument-unless": the call under the condition, else its first argument
    recipe: Literal["drop-argument", "guard-statement", "conditional-value", "at-least", "to-device", "argument-unless"]
    package: str = ""
    condition: str = ""  # a question to the package: source text that follows its name
    otherwise: str = ""  # source text
    method: str = ""  # "to-device": the method that takes its place
    value: str = ""  # "to-device": what is passed where the old call passed nothing
    applicability: Literal["safe", "unsafe"] = "unsafe"
    of: tuple[Name, ...] = ()  # drop-argument: the backends that the argument is for, where a portable condition may ask for them


class AdviceExample(RuleEntry, frozen=True, kw_only=True):
    """A small program. The lines that end in ``# said`` are those that are spoken of; without such lines it is silent."""

    title: str
    platform: str
    before: str
    after: str | None = None  # what ``apply --unsafe`` makes of it; None: nothing that this entry is about
    script: str = ""  # a launch file beside it, marked in the same way
    style: Literal["pin", "portable"] = "pin"
    versions: When = msgspec.field(default_factory=dict)  # what the project states about packages


class Advice(RuleEntry, frozen=True, kw_only=True):
    """One thing that no longer holds, and when."""

    id: Name
    # a group comes out as one of these, and is something else elsewhere; empty: whatever the groups are
    backend: tuple[Name, ...] = ()
    anyhow: bool = False  # also where the group is the same everywhere
    # only groups of which all that switches was one of these, and no part of a composite; "kept": the code's own condition gives it
    replaces: tuple[Name, ...] = ()
    devices: tuple[Name, ...] = ()  # only on platforms that have one of these devices
    platforms: tuple[Name, ...] = ()  # only on these; empty: on any
    picks: str = ""  # the backend that is taken where nothing is said: only on platforms where it does not work
    rule: str | None = None  # only where this rule is in force
    when: When = msgspec.field(default_factory=dict)  # the versions for which it holds
    # whether it is said where only some of the project's versions are meant, or they are not known
    if_open: bool = True
    instead_of: tuple[Name, ...] = ()  # what need not be said beside it
    # "review": for a person, in code that a training entry reaches; the project is not done while one is left
    level: Literal["note", "review"] = "note"
    scope: Literal["line", "file", "project"] = "file"  # how often it is said; without a pattern: once
    pattern: Pattern | None = None
    guards: tuple[Name, ...] = ()  # what stands under a comparison with a text that starts so is meant for other machines
    rewrite: Rewrite | None = None
    title: str
    title_zh: str
    text: str  # what happens, and what to do
    text_zh: str
    source: tuple[Name, ...]
    examples: tuple[AdviceExample, ...] = ()


class AdviceFile(RuleEntry, frozen=True, kw_only=True):
    """rules/advisories/SUBJECT.toml"""

    advice: tuple[Advice, ...]
