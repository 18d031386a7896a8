"""The schema of the rule data: what a TOML file under ``rules/`` may say. An unknown key is an error.

Annotations are no texts here and in the modules beside it: msgspec would have to evaluate each of them at every start.
"""

from typing import Literal, Union

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.machine import Conditions, Device, Install, MachineFacts
from ddp_codemod.catalog.objects import (
    Beside,
    Chosen,
    Fields,
    First,
    Handler,
    Objects,
    Picks,
    Settings,
    Shown,
    Statement,
    TextObject,
    VoidSettings,
)


class Fact(RuleEntry, frozen=True, kw_only=True):
    """A fact that is not one constant of TOML: set one of the two keys."""

    truthy: Literal[True] | None = None  # true in a condition and not None; otherwise unknown (torch.version.hip, a device count)
    none: bool = False  # the value is None, for which TOML has no word

    def __post_init__(self) -> None:
        """Refuse a fact that says nothing or two things (ValueError)."""
        if (self.truthy is None) == (not self.none):
            raise ValueError("a fact is either { truthy = true } or { none = true }")


FactValue = Union[bool, int, str, Fact]


class Example(RuleEntry, frozen=True, kw_only=True):
    """A small program before and after; without ``after``, it does not change. It is a test and documentation."""

    title: str
    before: str
    after: str | None = None
    platform: str | None = None  # a surface's or fix's example names the platform, a platform's own does not
    rules: tuple[str, ...] = ()  # fixes asked for beside the platform's own
    unsafe: bool = False  # apply unsafe edits too
    style: Literal["pin", "portable"] = "pin"
    file: Name = "example.py"  # its name, where it is no program
    beside: str = ""  # a program that lies beside it
    versions: When = {}  # what the project states about packages


class Portable(RuleEntry, frozen=True, kw_only=True):
    """A Python condition that is true on the platform alone, for --style portable. The first that fits applies: put the shortest first."""

    condition: Name  # {0}, {1} ... are the imports, as the file writes them
    imports: tuple[Name, ...] = ()  # "os", or "torch.distributed:is_nccl_available" for an object of a module
    keeps: bool = False  # true where the old value stays, not where the new one is needed
    otherwise: str = "None"  # of ``launched``: what is passed elsewhere, the same as nothing passed
    replaces: tuple[Name, ...] = ()  # right only in place of these backends; empty: of anything
    when: When = {}  # versions that all have what it asks
    when_imported: bool = True  # false: it asks what some builds of torch lack, which must not end whoever imports the file
    applicability: Literal["safe", "unsafe"] = "safe"
    why: str = ""  # a clause: what else it changes
    why_zh: str = ""


class Parameter(RuleEntry, frozen=True, kw_only=True):
    """A parameter of a surface whose value the tool traces."""

    name: Name
    role: Literal["backend", "init_method", "store"]
    position: int | None = None  # counted from 0, after self; None: keyword only
    inside: str = ""  # the parameter takes a dictionary, and the value is under this key of it
    # of a surface with ``commands``: "--distributed-backend", or "distributed_training.backend=" for an override
    option: str = ""
    # What leaving it out gives: torch's choice for the device; the default group's; nothing of interest; or this text.
    # "no-site": a call that does not name it (most of them say nothing about process groups) is no site at all.
    omitted: Literal["platform-default", "inherits", "nothing", "no-site"] = "nothing"
    omitted_value: str | None = None
    add: Literal["keyword", "handler", "object", "variable", "fields", "statement", "settings", "never"] = (
        "keyword"  # how a value is passed where it was omitted
    )
    handler: Handler | None = None  # with add = "handler": the list parameter carries this object
    beside: Beside | None = None
    add_applicability: Literal["safe", "unsafe"] = "safe"
    picks: tuple[Picks, ...] = ()  # where leaving it out gives something else than torch's own choice
    since: When = {}  # versions that know it; where the project has older ones, it is listed for review with ``instead``
    since_stated: bool = False  # older ones are common: where the project does not state that it has these, the edit is unsafe
    # Where naming a value does harm in a process that no launcher started: what tells that one did. Without it None is passed ...
    launched: Union[Portable, None] = None
    launched_also: bool = False  # ... and so it is where another backend was, which did no harm
    older_with: tuple[Name, ...] = ()  # keywords that only releases around and before those take: the edit is unsafe beside one
    void_with: tuple[Name, ...] = ()  # keywords of the call with which it is not honored ...
    void_flags: tuple[Name, ...] = ()  # ... and options of the program: then it is listed for review with ``instead`` too
    void_settings: tuple[VoidSettings, ...] = ()
    first: First | None = None  # what is done where it would not be honored, in place of listing it
    # Machines on which what leaving it out gives depends on versions and plug-ins: the wanted value is passed there, unsafely ...
    named_on: Conditions = ()
    open_on: Conditions = ()  # ... or, where that alone may not do, it is listed for review
    needs_plugin: bool = False  # omitted, torch picks, and knows a plugin's backend only once the plugin is imported
    objects: Objects | None = None  # with add = "object": a text stands for the object that takes the backend
    chosen: Chosen | None = None  # with add = "variable": the environment chooses it
    fields: Fields | None = None  # with add = "fields": the classes that it takes have a field for it
    settings: Settings | None = None  # with add = "settings": a dictionary names the object and its backend
    statement: Statement | None = None  # with add = "statement": another call, or an attribute, gives it
    ignored: str | None = None  # set where the surface does not honor the parameter: says what does decide
    ignored_zh: str | None = None
    of_several: bool = False  # with ``ignored``: it counts devices, and a group is made only where they surely are several
    spared_by: tuple[
        Name, ...
    ] = ()  # with ``ignored`` or ``chosen``: keywords of the call beside which nothing depends on the parameter
    ignored_on: Conditions = ()  # machines on which it is not honored; empty: on all of them
    right_on: Conditions = ()  # where it is not honored: machines for which the surface picks what works by itself ...
    instead: str = ""  # ... and what does work on the others
    instead_zh: str = ""
    # set where the values are not torch.distributed's own: one that does not work is listed for review with this sentence
    foreign: str | None = None
    foreign_zh: str | None = None

    def write(self, value: str) -> str:
        """A value as a file of settings holds it: alone, or in the dictionary that the parameter takes."""
        return f"{{{self.inside}: {value}}}" if self.inside else value


class Surface(RuleEntry, frozen=True, kw_only=True):
    """An API that chooses a backend, an init_method or a store."""

    id: Name
    names: tuple[Name, ...] = ()  # qualified names; "pkg.*.Class" matches any depth of submodules
    # In place of names, where the framework reads the value from a configuration file: the path to it, "env_cfg.dist_cfg.backend".
    # The same keys are others' where the project imports none of the packages.
    key: str = ""
    shown_by: tuple[Name, ...] = ()
    shown_with: str = ""  # only where a file that imports one of them holds this word
    anywhere: bool = False  # the key is one word that means nothing else: it counts wherever it is, also in a program
    # ``key``: nothing but the framework takes a keyword of the name. Where no program names it, it gets there unpacked (``Class(**settings)``),
    # and what is found of it in settings is changed safely, whatever ``edit_applicability`` says.
    unpacked: bool = False
    # Or, for a framework's own programs, what starts them: "fairseq-train", "fairseq_cli.train", "fairseq_cli/train.py"
    commands: tuple[Name, ...] = ()
    # Or, where other versions have the same names with another signature: the surface that this one stands for where ``when`` holds.
    variant_of: str = ""
    when: When = {}
    default_group: bool = False  # it creates the default process group: environment has to be set before it
    shown: Shown | None = None  # what shows that its group is used; kept where nothing does
    at_once: bool = False  # a function, or an object that makes the group when it is made, not when it is used
    given: dict[Name, bool] = {}  # values of keywords with which the group is made elsewhere
    finds_group: bool = False  # it takes the default group where one exists: then nothing that it is passed decides
    if_no_group: bool = False  # it makes the default group only where none exists: no site where the file makes one itself
    method: bool = False  # the names are of methods: what is before the last dot is the class of the object
    by_name: bool = False  # its last name is distinctive: called on something unknown it is listed where its value would be wrong
    missing_on: Conditions = ()  # machines whose torch has no such name: importing it fails there
    parameters: tuple[Parameter, ...] = ()
    edit_applicability: Literal["safe", "unsafe"] = "safe"
    note: str = ""
    note_zh: str = ""
    source: tuple[Name, ...]
    examples: tuple[Example, ...] = ()

    @property
    def called(self) -> tuple[str, ...]:
        """The qualified names; of one that stands for another, whose it has in which versions."""
        versions = ", ".join(f"{package} {condition}" for package, condition in self.when.items())
        return (f"{self.variant_of} ({versions})",) if self.variant_of else self.names

    def __post_init__(self) -> None:
        """Refuse a surface that nothing could be found by (ValueError)."""
        traces = (self.names, self.key, self.commands, self.variant_of)
        if sum(map(bool, traces)) != 1 or bool(self.key) != bool(self.shown_by) or bool(self.when) != bool(self.variant_of):
            raise ValueError(
                "a surface has either names, or commands, or a key and the packages that show its use, "
                "or the surface that it is a variant of and its versions"
            )
        if any(bool(parameter.option) != bool(self.commands) for parameter in self.parameters):
            raise ValueError("the parameters of a surface with commands, and only they, have an option")


class SurfaceFile(RuleEntry, frozen=True, kw_only=True):
    """rules/surfaces/FRAMEWORK.toml"""

    framework: Name
    surface: tuple[Surface, ...]
    object: tuple[TextObject, ...] = ()


class BackendChoice(RuleEntry, frozen=True, kw_only=True):
    """Which c10d backends work on a platform."""

    wanted: Name  # written where a backend does not work
    works: tuple[Name, ...]  # kept where found
    default: str  # what torch picks when the backend is omitted
    devices: dict[str, str] = {}  # device types to rename in a composite "cpu:gloo,cuda:nccl"
    wanted_for: dict[str, str] = {}  # wanted per device type in a composite, where it is not ``wanted``


class Earlier(RuleEntry, frozen=True, kw_only=True):
    """Differences of earlier versions, for projects that certainly have them."""

    when: When
    why: str
    why_zh: str
    backend: BackendChoice
    required_import: str | None = None


class Warning_(RuleEntry, frozen=True, kw_only=True):
    """A note, once per project, if the condition holds."""

    id: Name
    when_backend: Name  # a site resolves to, or is edited to, this backend
    # Only for default groups, and said at one whose function calls this with this keyword (DDP, device_ids); for the project as a
    # whole where the file, or one that imports it, does so or calls it and has one of the words.
    when_wraps: dict[str, str] = {}
    when_words: tuple[Name, ...] = ()
    when: When = {}  # not where this does not hold for any version that the project admits
    message: str
    message_zh: str = ""  # here and elsewhere: without it the Chinese reader gets the English
    source: tuple[Name, ...]


class Detection(RuleEntry, frozen=True, kw_only=True):
    """Evidence that a machine is this platform; the names are checks in machine/detect.py."""

    checks: tuple[Name, ...]
    gpus: tuple[Name, ...] = ()  # only where each GPU that the driver shows is of one of these architectures, "gfx1151"
    order: int = 100
    reason: str = ""
    reason_zh: str = ""


class Platform(RuleEntry, frozen=True, kw_only=True):
    """rules/platforms/ID.toml: facts plus wanted values."""

    id: Name
    title: str
    title_zh: str = ""
    why: str  # a clause used in reasons: why the wanted backend
    why_zh: str = ""
    cost: str = ""  # what the wanted backend costs that users feel, said before edits are made
    cost_zh: str = ""
    source: tuple[Name, ...]
    rules: tuple[Name, ...]
    facts: dict[str, FactValue]
    machine: MachineFacts = MachineFacts()  # what rule data asks where it is about some machines only
    backend: BackendChoice
    install: Union[Install, None] = None  # None: the torch of pytorch.org
    device: Union[Device, None] = None  # None: the one that most code is written for
    device_types: tuple[Name, ...] = ()  # those of such a machine: a table from device types to backends is read for these
    earlier: tuple[Earlier, ...] = ()
    portable: tuple[Portable, ...] = ()
    loads_itself: When = {}  # versions of torch that import the plugin without being told
    required_import: str | None = None  # module without which the wanted backend is unknown to torch
    detection: tuple[Detection, ...] = ()
    offered: tuple[Detection, ...] = ()  # what shows that a user may want this platform, whatever the machine counts as
    warnings: tuple[Warning_, ...] = ()
    examples: tuple[Example, ...] = ()

    def fits(self, conditions: Conditions) -> bool:
        """Whether it is sure of its machines that one of some conditions holds."""
        choice, plugin = self.backend, self.required_import is not None
        return any(one.holds(self.machine, plugin, choice.wanted, choice.default in choice.works) for one in conditions)
