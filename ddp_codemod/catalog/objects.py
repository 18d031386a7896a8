"""The schema of parameters that take a text for an object, of what chose the backend before there were such objects, and of what voids one."""

from typing import Union

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.machine import Conditions


class Chosen(RuleEntry, frozen=True, kw_only=True):
    """An environment variable that chooses the backend of a framework."""

    variable: Name
    when: When = {}  # versions in which nothing else does
    never: When = {}  # versions in which nothing does at all
    keywords: dict[Name, tuple[Name, ...]] = {}  # texts of other keywords that named the object, in such versions only
    gone: tuple[Name, ...] = ()  # keywords that no later version takes: a call that has one is for such versions


class Shown(RuleEntry, frozen=True, kw_only=True):
    """Evidence that the code uses a group that only several processes create."""

    methods: tuple[Name, ...] = ()  # of the object made here: they talk to the other processes
    perhaps: tuple[Name, ...] = ()  # methods that do so in some programs: the edit is unsafe
    arguments: tuple[Name, ...] = ()  # that only a group has a use for
    # Attributes that are one process's own: reading one shows it where the file holds a call of one of these surfaces too, which trains.
    attributes: tuple[Name, ...] = ()
    beside: tuple[Name, ...] = ()
    trained: tuple[Name, ...] = ()  # classes of models: a trainer makes what a class of theirs makes in each of its processes
    handed_to: str = ""  # the surface that the object is passed to: what shows it of that one shows it of this one
    always: bool = False  # it needs no showing; but a test, or a notebook without a launcher, is one process
    launchers: tuple[Name, ...] = ()  # functions that start several processes from a notebook


class Picks(RuleEntry, frozen=True, kw_only=True):
    """The framework's default on machines with these facts."""

    facts: dict[str, Union[bool, int, str]]
    value: Name


class Handler(RuleEntry, frozen=True, kw_only=True):
    """An object in a list argument that holds the value, such as accelerate's InitProcessGroupKwargs."""

    names: tuple[Name, ...]  # the first is the one to import
    keyword: Name
    default: str = "None"  # source text of what leaving the keyword out means
    single: bool = False  # the parameter takes the object itself


class Beside(RuleEntry, frozen=True, kw_only=True):
    """Another argument, such as Ray's ScalingConfig, whose value shows that the group is not for the platform's devices."""

    keyword: Name  # under which the call takes it
    names: tuple[Name, ...]  # of its class
    argument: Name
    position: int | None = None
    value: bool  # of the argument, which says so
    omitted: bool  # what leaving the argument out means


class Fields(RuleEntry, frozen=True, kw_only=True):
    """A parameter that accepts classes whose fields become options; one of them is the backend."""

    surfaces: tuple[Name, ...]  # of such classes
    like: tuple[Name, ...] = ()  # parts of the names that such classes of other packages have
    field: Name
    annotation: Name  # of the field, where a class of the project gets it
    method: Name  # of the parser that is made here: it sets the default of an option
    reads: tuple[Name, ...]  # methods of the parser that honor it
    past: tuple[Name, ...] = ()  # methods that read a file and do not
    decorators: tuple[Name, ...]  # without one of them a class has no fields


class Settings(RuleEntry, frozen=True, kw_only=True):
    """A parameter that accepts a dictionary of defaults; a key in it names a class and its arguments."""

    key: Name
    target: Name  # the key beside which the arguments are
    arguments: Name
    value: Name  # the qualified name of the class
    keyword: Name


class Statement(RuleEntry, frozen=True, kw_only=True):
    """A statement that sets the backend, because the call has no parameter for it."""

    call: str = ""  # of the package, before the call: "init_distributed"
    package: str = ""
    keyword: str = ""  # of that call
    attribute: str = ""  # or: of the object that the call is passed, set before the call
    position: int = 0


class First(RuleEntry, frozen=True, kw_only=True):
    """The call that creates the default group up front, before one that ignores its backend."""

    package: Name
    call: Name
    keyword: Name
    absent: Name  # the function of the package that says whether the group is there: made only where it is not
    when: When = {}  # versions that take a group which is there
    on: Conditions = ()  # only on these machines; empty: on any
    exact_without: tuple[
        str, ...
    ] = ()  # nothing but the backend differs where the call passes none of these; empty: the timeout may
    exact_unless: tuple[str, ...] = ()  # nor where no file of the project has one of these words, whatever the call passes


class TextObject(RuleEntry, frozen=True, kw_only=True):
    """A string that a parameter accepts instead of an object of a surface's class with these arguments."""

    table: Name
    text: Name
    surface: Name
    arguments: dict[Name, bool | int | str] = {}
    when: When = {}


class Objects(RuleEntry, frozen=True, kw_only=True):
    """A parameter that accepts an object, or a string for the object."""

    table: Name  # of the texts: the objects of rule data with this name
    module: Name  # the objects are imported from here
    automatic: Name  # the text that the framework takes where there are several devices and it has the choice
    open: tuple[str, ...] = ()  # texts that leave it the choice
    several: tuple[Name, ...] = ()  # keywords that count devices: with more than one the choice is ``automatic``
    # Versions that take every device of the machine where nothing counts them.
    takes_all: When = {}
    # In a file of settings: the key that names the class, and the one under which its arguments are; "": beside it.
    target: Name = "_target_"
    arguments: str = ""
    elsewhere: dict[Name, tuple[str, ...]] = {}  # values of keywords with which the group is not for the platform's devices
    other_counts: tuple[Name, ...] = ()  # keywords that count other devices: alone, they say that the group is for those
    chosen: Chosen | None = None  # how the backend was chosen before the objects took it
    namespace: int | None = None  # the position of an object whose attribute of the name is passed where the call passes nothing


class VoidSettings(RuleEntry, frozen=True, kw_only=True):
    """Settings of a config file that make the framework ignore a parameter."""

    key: Name  # the path to it, from the top of the file
    values: tuple[Name, ...]  # in capitals
    when: When = {}  # the versions for which that is so; listed only where it is sure
    named: bool = False  # only starts that name the file honor it: the parameter counts for the others
    flags: tuple[str, ...] = ()  # options of a launcher that say the same: "--use_deepspeed"
    keywords: tuple[Name, ...] = ()  # arguments of the call that do: deepspeed_plugin=
    instead: str
    instead_zh: str


class Environment(RuleEntry, frozen=True, kw_only=True):
    """A variable that a fix sets in os.environ."""

    name: Name
    value: str
    override: bool = False  # False: os.environ.setdefault, which leaves what the user exported


class Query(RuleEntry, frozen=True, kw_only=True):
    """A query parameter of an init_method URL."""

    key: Name
    value: str
    on: tuple[str, ...]  # values that have to be replaced
    schemes: tuple[Name, ...]  # only these URLs take the query
    default_url: Name  # what an omitted init_method means
