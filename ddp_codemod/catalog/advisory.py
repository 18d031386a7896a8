"""The schema of rules/advisories/*.toml: what no longer holds once a group has another backend, or the machine another device."""

from typing import Literal

import msgspec

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.machine import Conditions
from ddp_codemod.catalog.model import Platform


class Pattern(RuleEntry, frozen=True, kw_only=True):
    """The code to find. ``argument`` selects calls that pass it, or that do not."""

    names: tuple[Name, ...] = ()  # qualified names that are called, a class also by one that derives from it ...
    methods: tuple[Name, ...] = ()  # ... or methods of whatever object ...
    keywords: tuple[Name, ...] = ()  # ... or anything that takes such an argument; with names, calls of these
    below: Name | None = None  # ... or, with use = "named", every qualified name that starts with this one ...
    attributes: tuple[Name, ...] = ()  # ... or attributes of whatever object that are read
    # "called"; "named": mentioned anywhere; "required": an assertion about it, or a test that raises or leaves; "instance": asked
    # for with isinstance; "compared": what it gives is compared with one of ``texts``; "set": it gets a value
    # "imported": a statement imports one of the modules, and nothing catches that it is missing; "text": a whole string;
    # "asked": what one of the names in ``holders`` holds is compared with a text that starts with ``device``; "configured": in a
    # file of settings one of ``keywords`` is one of ``texts``, beside a key of ``holders`` if there are such, and none of ``without``,
    # where the project imports one of ``names``; "assigned": a variable, field, entry or default that is called like one of ``holders`` gets a text
    # that starts with ``device``; "option": a launch file gives one of the options ``keywords``, and none of ``without``, to a
    # program of the project whose text holds one of ``names``; with ``device``, a value that starts so, to one that trains, with
    # ``texts``, one of these;
    # "handed": a call takes one of ``texts``, alone or with a number behind it ("cuda:0"), and does more than to show or look at it;
    # "stated": a requirements file asks for one of the packages ``names``, as PyPI compares them; "*" stands for any part;
    # "built": a line of a requirements file, conda environment, pyproject.toml or Dockerfile fits one of ``texts`` ("*" stands for
    # anything, [0-9] for a digit; in lower case), and none of the project's fits one of ``without``;
    # "gate": a question without whose yes the code ends, or does without its group; "divisor": what one of ``names`` gives is
    # divided by; with ``holders``, only a remainder that goes to something that is called so;
    # "apart": a test that asks for one of ``makers`` and is off, in whose branch alone a model is passed to one of ``names``, so that
    # the ranks of a group that is made all the same train without each other; "alone": such a test, in whose branch alone one of
    # ``names`` makes the group, in code that speaks of one of ``texts``, which a launcher supplies;
    # "uncounted": such a test, behind which a name of ``within`` is set to a number of processes that one of ``names`` starts, and
    # which is one elsewhere; ``without``: functions of the device that do nothing without one
    # "numbered": a call passes what is called like one of ``ranks`` as an argument that is called like one of ``keywords``, or to a
    # parameter of the project's own that is, and calls a function of the project or one below ``below`` that ``without`` leaves;
    # "joined": a call of one of ``names`` and one of one of ``makers`` are both asked by an ``and``
    # "annotated": one of the types ``names``, a Literal, lists ``device`` among nothing but ``texts``;
    # "entry": a mapping holds a list under a key of ``holders``, in a file that mentions one of ``names``;
    # "rest": names below ``below`` that no other advice for the platform is about, where they are more than a type or a test
    use: Literal[
        "called", "named", "required", "instance", "compared", "set", "imported", "text", "asked", "configured", "assigned", "option",
        "gate", "stated", "built", "handed", "divisor", "apart", "alone", "uncounted", "entry", "annotated", "rest",
        "joined", "numbered",
    ] = "called"  # fmt: skip
    argument: str | None = None
    position: int | None = None
    # "uneven": a list whose items differ in size; "device": a device by its name, or (``ranks``) by its number;
    # "made-by": the result of one of ``makers``; "text": one of ``texts``; "picked": an element of a list that is no environment;
    # "chosen": a list of numbers, the number that means all, or what one of ``makers`` counts; "counted": anything but 0; "true", "false";
    # "one": 1 where there is no device, by a conditional that asks one of ``makers`` and gives more elsewhere;
    # "function": one of ``makers`` itself, which is called later;
    # "lists": a list that holds the name of the device; "typed": a tensor that is made with one of ``texts`` as its type;
    # "option": the default of an option of the program that is called like one of ``texts``, a number from 0 on, in a file that
    # holds none of ``without``; of "asked", where what is compared comes from: "from-text": a text of the program, or a device that
    # it makes of one; "told": torch tells where a tensor lies
    argument_is: Literal[
        "given", "omitted", "uneven", "device", "made-by", "text", "picked", "chosen", "counted", "true", "false", "one", "lists", "function",
        "typed", "option", "from-text", "told",
    ] = "given"  # fmt: skip
    derived: bool = False  # also where a class of the project that derives from one of the names takes the argument, by its name
    texts: tuple[Name, ...] = ()
    beside: tuple[Name, ...] = ()  # only in files that call one of these with a first argument that is "picked"
    makers: tuple[Name, ...] = ()
    traced: bool = False  # "made-by": also where that is elsewhere, or the value is not known and passed all the same
    device: str = ""  # "device": what the name of the device starts with; with a dot, also the name of something from outside
    ranks: tuple[Name, ...] = ()  # "device": names that hold a number
    holders: tuple[Name, ...] = ()  # names of what holds the result: only there ...
    takers: tuple[
        Name, ...
    ] = ()  # ... or calls that it is an argument of, or that are made once for each, also by way of a variable
    # only where the number that is passed goes to a name of which a test is seen: "no": to none, or none is; "several": code runs for
    # more than 1 alone; "none": some runs for 0 alone
    tested: Literal["", "no", "several", "none"] = ""
    # "omitted": surfaces of classes; a call that is of none of them counts where its first argument is such a class, or lists one
    classes: tuple[Name, ...] = ()
    commands: tuple[Name, ...] = ()  # programs that launch files start
    # "option": others, or texts, beside which it says nothing; "rest": names that it does not mean, with all that is below them;
    # "configured": keys; of commands, options that they have; of methods, functions in which they only pass on what they are asked for; "handed": calls that go on without the device
    without: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a pattern that finds nothing (ValueError)."""
        named = (*self.names, *self.methods, *self.keywords, *self.commands, *self.attributes, *self.texts, *self.holders)
        if not named and self.below is None:
            raise ValueError("a pattern has names, methods, keywords or commands")


class Rewrite(RuleEntry, frozen=True, kw_only=True):
    """A named recipe and what it needs."""

    # "drop-argument"; "add-argument": the one that the pattern finds omitted is ``value``; "guard-statement": under ``condition``; "conditional-value": the argument, else ``otherwise``;
    # "at-least": never less than ``otherwise``; "launched-count": where the number is 0, what the variable ``value`` says, or
    # ``otherwise``, also of a function that is passed on; "either-module": the function of this module under the condition, else of the package itself; "to-device": ``x.cuda(a)`` becomes ``x.to(a if condition else otherwise)``;
    # "argument-unless": the call under the condition, else its first argument, or, where that is no name, a call of ``otherwise``; "receiver-unless": else what its method is of;
    # "or-in-group": a test holds under the condition too, where its branch only wraps a model, without the arguments ``drops`` unless
    # ``value`` holds; "idle-stream": the call, else ``otherwise``, where nothing else is done with what it makes; "idle-event": the same, with what is done with it; "conditional-call": the call, else ``otherwise``, in
    # which PACKAGE is how the file writes the package; "not-required": a demand that is taken out, or made
    # only under the condition, or that ``value`` meets too where the whole program is behind it; "or-launched": a test holds, too,
    # where the variable ``value`` says more than ``otherwise``; "set-entry": an entry of a configuration file is ``otherwise``, and the
    # one called ``value`` beside it a number. Of the platform's own device (Platform.device):
    # "own-module": the same function of its module; "own-method": the method or attribute of its name, ``value`` with DEVICE in it;
    # "own-name": its type where a text starts with the other's; "own-text": what ``visible`` says;
    # "own-argument": its type, as the first argument of a call that has none by position;
    # "own-choice": its type, behind the other's in a list of those that are taken. Of any: "other-type": of ``types``;
    # "other-function": ``otherwise`` of the package is called, with the same arguments
    recipe: Literal[
        "drop-argument", "add-argument", "guard-statement", "conditional-value", "at-least", "launched-count", "either-module", "to-device",
        "argument-unless", "receiver-unless", "or-in-group", "idle-stream", "idle-event", "conditional-call", "not-required", "or-launched", "set-entry", "own-module", "own-method", "own-name", "own-text", "own-choice",
        "own-argument", "other-type", "other-function",
    ]  # fmt: skip
    # "other-type": the last word of a type, or of what casts to it, and what takes its place
    types: dict[Name, Name] = msgspec.field(default_factory=dict)
    package: str = ""
    condition: str = ""  # a question to the package: source text that follows its name
    otherwise: str = ""  # source text
    method: str = ""  # "to-device": the method that takes its place
    value: str = ""  # "to-device": what is passed where the old call passed nothing; "launched-count": the variable
    applicability: Literal["safe", "unsafe"] = "unsafe"
    # "guard-statement": methods by which a statement only waits for a stream, whose call is in it; "idle-stream": the same, for a
    # new stream, and what enters one, while ``of`` gives the current one
    waits: tuple[Name, ...] = ()
    enters: tuple[Name, ...] = ()
    measures: tuple[
        Name, ...
    ] = ()  # "idle-event": methods that measure the time between two events, which is ``value`` without them
    drops: tuple[Name, ...] = ()  # "or-in-group": arguments of the call that wraps the model
    of: tuple[
        Name, ...
    ] = ()  # "drop-argument": the backends that the argument is for, where a portable condition may ask for them


class AdviceExample(RuleEntry, frozen=True, kw_only=True):
    """A small program. Its notes are at the lines that end in ``# said``; without such a line there is no note."""

    title: str
    platform: str
    before: str
    after: str | None = None  # what ``apply --unsafe`` makes of it; None: nothing that this entry is about
    script: str = ""  # a launch file beside it, marked in the same way
    script_after: str = ""  # what ``apply --unsafe`` makes of that; "": nothing that this entry is about
    settings: str = ""  # a YAML file beside it, marked too
    settings_after: str = ""  # what ``apply --unsafe`` makes of that; "": nothing that this entry is about
    requirements: str = ""  # a requirements file beside it, marked too ...
    requirements_file: str = "requirements.txt"  # ... or another file that says what to install
    style: Literal["pin", "portable"] = "pin"
    versions: When = msgspec.field(default_factory=dict)  # what the project states about packages


class OnDevice(RuleEntry, frozen=True, kw_only=True):
    """Text and rewrite for platforms with their own device; DEVICE, MODULE and VARIABLE (of Device.visible) are the platform's."""

    text: str
    text_zh: str
    left: str = ""  # what is reported where the recipe does not fit; empty: the same
    left_zh: str = ""
    rewrite: Rewrite | None = None
    # For code that other machines run too: what does the same on any accelerator, a name of the package, by its name in the other
    # device's module; and the versions that have it.
    anywhere: When = msgspec.field(default_factory=dict)
    anywhere_when: When = msgspec.field(default_factory=dict)


class Advice(RuleEntry, frozen=True, kw_only=True):
    """Code that no longer works, and when."""

    id: Name
    # a group resolves to one of these, and is something else elsewhere; empty: whatever the groups are
    backend: tuple[Name, ...] = ()
    anyhow: bool = False  # also where the group is the same everywhere
    whole: bool = False  # only default groups of this name alone: "cpu:gloo,cuda:gloo" is another
    # only groups of which all that switches was one of these, and no part of a composite; "kept": the code's own condition gives it
    replaces: tuple[Name, ...] = ()
    devices: tuple[Name, ...] = ()  # only on platforms that have one of these devices
    on: Conditions = ()  # only on these machines; empty: on any
    # only where the platform's processes have no accelerator ("none"), or one that is not the one most code is written for ("own")
    where: tuple[Literal["none", "own"], ...] = ()
    own: OnDevice | None = None  # what takes the place of text and rewrite on the latter
    # the backend that is taken though nothing says so: only on platforms where it does not work, whatever the groups are
    picks: str = ""
    # only where torch comes from the platform's maker (Platform.install): PACKAGES and INSTALL in the text are what to install, and how
    vendor: bool = False
    rule: str | None = None  # only where this rule is in force
    mentions: tuple[Name, ...] = ()  # only in projects whose code has one of these names; empty: in any
    bare: bool = False  # only where torch may have been built without its distributed package
    when: When = msgspec.field(default_factory=dict)  # the versions for which it holds
    # whether it is reported where only some of the project's versions are meant, or they are not known
    if_open: bool = True
    if_admitted: bool = False  # where what the project states about the packages admits such versions beside others
    supersedes: tuple[Name, ...] = ()  # what need not be said beside it
    # "review": for review, in code that a training entry reaches; the project is not done while one is left
    level: Literal["note", "review"] = "note"
    carries: bool = False  # what it finds shows that the default group carries tensors of the machine's device
    keeps_devices: bool = False  # calls of what it names know the old device by name and not the platform's: such a name stays
    first: bool = False  # named before all else that needs review: the program runs, and the result is wrong
    ends: bool = False  # a note on what ends the program until a user does what it says: counted like what is for review
    scope: Literal["line", "file", "project"] = "file"  # how often it is reported; without a pattern: once
    pattern: Pattern | None = None
    guards: tuple[Name, ...] = ()  # what is under a comparison with a text that starts so is meant for other machines
    # the exceptions by which it fails: a ``try`` that catches none of them does not go on; empty: any that a machine raises
    raises: tuple[Name, ...] = ()
    rewrite: Rewrite | None = None
    title: str
    title_zh: str
    text: str  # what happens, and what to do
    text_zh: str
    source: tuple[Name, ...]
    examples: tuple[AdviceExample, ...] = ()

    def fits(self, platform: Platform) -> bool:
        """Whether it is about the machines of a platform."""
        if (self.on and not platform.fits(self.on)) or (self.vendor and platform.install is None):
            return False
        if self.where and not (platform.device and ("own" if platform.device.module else "none") in self.where):
            return False
        return not self.devices or not set(self.devices).isdisjoint(platform.device_types)

    def picked(self, platform: Platform) -> bool:
        """Whether it is about a backend that is taken unasked and does not work on a platform."""
        return bool(self.picks) and self.picks not in platform.backend.works


class AdviceFile(RuleEntry, frozen=True, kw_only=True):
    """rules/advisories/SUBJECT.toml"""

    advice: tuple[Advice, ...]
