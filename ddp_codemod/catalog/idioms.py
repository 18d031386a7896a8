"""The schema of rules/idioms.toml and rules/aliases.toml: how code hands a value on, and other names of facts."""

from typing import Union

import msgspec

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.model import FactValue


class Alias(RuleEntry, frozen=True, kw_only=True):
    """Other names for a fact, because libraries wrap torch's functions."""

    fact: Name
    names: tuple[Name, ...]
    source: tuple[Name, ...]


class AliasFile(RuleEntry, frozen=True, kw_only=True):
    """rules/aliases.toml"""

    alias: tuple[Alias, ...]


class Forwarder(RuleEntry, frozen=True, kw_only=True):
    """A call that later calls one of its arguments, with others of its arguments."""

    names: tuple[Name, ...]
    function: Name
    function_position: int
    args: str | None = None  # the parameter that holds the arguments as a tuple; None: they follow the function
    args_position: int = 0
    kwargs: str | None = None
    skip: int = 0  # arguments that the call itself puts in front (the rank)
    source: tuple[Name, ...]


class Submitter(RuleEntry, frozen=True, kw_only=True):
    """A call that calls one of its arguments once, with all arguments that follow it."""

    names: tuple[Name, ...] = ()
    methods: tuple[Name, ...] = ()  # by their last name, where the class of the object is not known
    function_position: int
    keywords: bool = True  # whether it passes keywords on
    source: tuple[Name, ...]


class DefaultCall(RuleEntry, frozen=True, kw_only=True):
    """A call that stands for a default: ``field(default="x")``."""

    names: tuple[Name, ...]
    keyword: Name
    position: int | None = None
    choices: tuple[Name, ...] = ()  # the argument that lists what is admitted; further names are keys of that argument
    source: tuple[Name, ...]


class Flag(RuleEntry, frozen=True, kw_only=True):
    """A method that declares a command-line option."""

    method: Name
    default: Name
    choices: Name
    default_position: int | None = None
    choices_position: int | None = None
    const: str = ""  # the keyword of what an option has where it is passed without a value
    dest: str | None = None
    converters: tuple[Name, ...] = ()  # keywords whose functions see the text before the program does
    defaults_method: str | None = None
    parse_methods: tuple[Name, ...] = ()  # those that take the words of a command line as a list
    part_methods: tuple[Name, ...] = ()  # those that give a part of the parser, whose options are the parser's
    dashed: bool = False  # a call is one only where a text with a dash in front names the option: the method's name says little
    source: tuple[Name, ...]


class Actor(RuleEntry, frozen=True, kw_only=True):
    """Objects in other processes: ``actor.setup.remote("nccl")`` calls ``setup`` of the class that one decorator marks."""

    method: Name
    decorators: tuple[Name, ...]
    source: tuple[Name, ...]


class ConfigEntry(RuleEntry, frozen=True, kw_only=True):
    """A decorator of the entry point, which passes a configuration composed from a folder."""

    names: tuple[Name, ...]
    folder: Name  # the keyword that names the folder, beside the file of the program
    file: Name  # the keyword that names the first of its files
    source: tuple[Name, ...]


class Binding(RuleEntry, frozen=True, kw_only=True):
    """Decorators whose functions get parameters from binding files (kinds whose reader has ``BINDS``)."""

    decorators: tuple[Name, ...]  # a text as their first argument is the name that the bindings use
    binds: tuple[Name, ...] = ()  # calls that bind one parameter: (its name, its value)
    reads: tuple[Name, ...] = ()  # calls that read a text of bindings
    required: tuple[Name, ...] = ()  # defaults that stand for none: a binding has to give the value
    source: tuple[Name, ...]


class Carries(RuleEntry, frozen=True, kw_only=True):
    """Evidence that the default group of a program carries tensors of the machine's device, not only of the CPU.

    Notes can be evidence too (``Advice.carries``).
    """

    # classes that hand their module's tensors to the group, and the argument by which they are told a device; the same class
    # without it does so where the file moves something to the device by one of its methods, or chooses the device
    wrappers: dict[Name, Name] = msgspec.field(default_factory=dict)
    collectives: dict[Name, int] = msgspec.field(default_factory=dict)  # calls, and the position of the tensor that they send
    tensor: Name = ""  # the name of that argument
    group: Name = ""  # the argument of such a call that names another group than the default one
    stays: tuple[Name, ...] = ()  # methods of a tensor that give one on the same device
    both_since: When = msgspec.field(default_factory=dict)  # versions whose groups have a backend for each device
    source: tuple[Name, ...]


class Idioms(RuleEntry, frozen=True, kw_only=True):
    """rules/idioms.toml: how code passes values on."""

    backend_enums: tuple[Name, ...]
    facts: dict[str, FactValue] = msgspec.field(default_factory=dict)  # what is true on every platform
    present: dict[str, str] = msgspec.field(default_factory=dict)  # names that are there where a fact says so
    available: tuple[Name, ...] = ()  # what the functions are called that ask for a backend; BACKEND stands for its name
    replacing: tuple[Name, ...] = ()  # last names of calls that put something else in the place of what they name
    sayers: tuple[Name, ...] = ()  # last names of calls that print a text, or only look at it
    shows: tuple[Name, ...] = ()  # last names of calls that show a text to a reader, or their whole names
    shows_to_code: tuple[Name, ...] = ()  # keywords of such calls by which code of the program gets a value
    trackers: tuple[Name, ...] = ()  # packages that write down what they are passed
    getters: tuple[Name, ...] = ()  # last names of calls that give a default where nothing else is there
    frameworks: tuple[Name, ...] = ()  # packages whose process groups rule data is about ...
    other_frameworks: tuple[Name, ...] = ()  # ... and others, which have their own
    backend_makers: tuple[
        Name, ...
    ] = ()  # calls that add a backend under a name of its own, which a text that is put together may be
    registers: tuple[Name, ...] = ()  # last names of decorators that are passed the name of what is below
    blind: tuple[Name, ...] = ()  # packages that may be handed all options, and read none for a group
    built_with: tuple[Name, ...] = ()  # variables and keywords that say how a library is built
    failing: tuple[Name, ...] = ()  # last names of contexts whose last statement is to fail
    trying: tuple[Name, ...] = ()  # words in the names of functions that try what the name goes on to say
    guards: dict[str, str] = msgspec.field(default_factory=dict)  # tests under these, by the backend that they are about
    device_functions: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # calls that give a device; "" for that of the argument
    type_words: tuple[Name, ...] = ()  # in the names of what holds a tensor's type, which calls take where they take a device
    loaders: tuple[Name, ...] = ()  # last names of calls that load what a key of settings names
    no_texts: tuple[Name, ...] = ()  # classes of what a call takes where it takes the text of a device
    tensors: tuple[Name, ...] = ()  # classes whose objects lie on a device, which their attributes tell
    device_setters: tuple[Name, ...] = ()  # calls that choose the device of the process
    enums: tuple[Name, ...] = ()  # classes whose subclasses' members have a ``value``
    settings_bases: tuple[Name, ...] = ()  # classes that hold settings and read none of them by its name
    same: tuple[Name, ...] = ()  # calls that give back what stands for their first argument
    group_needed: tuple[Name, ...] = ()  # calls that fail where there is no default group
    group_asked: tuple[Name, ...] = ()  # calls that say whether there is one
    # packages and what the names of their classes end in that are only made of arguments which have made it
    group_held: dict[str, str] = msgspec.field(default_factory=dict)
    test_parameters: tuple[Name, ...] = ()  # decorators that give a test's parameters their values
    default_functions: tuple[Name, ...]
    default_methods: dict[str, tuple[Name, ...]] = msgspec.field(
        default_factory=dict
    )  # the same of methods: what makes their objects
    default_tables: tuple[Name, ...]
    current_functions: tuple[Name, ...]
    current_by_device: tuple[Name, ...] = ()  # those of them that give a text with a backend for each device
    current_methods: tuple[Name, ...] = ()  # methods of a group that do
    default_groups: tuple[Name, ...] = ()  # names of the default group
    attribute_mappings: tuple[
        Name, ...
    ] = ()  # classes whose objects have the entries of the mapping that they are passed as attributes
    attribute_tables: tuple[Name, ...] = ()  # calls that give a table of an object's attributes, beside ``vars``
    callers: tuple[Name, ...] = ()  # builtins that call a function which they are handed, with what is not followed
    lookers: tuple[Name, ...] = ()  # packages whose code looks at a function that it is handed, or replaces it
    # decorators, or packages of them, that leave a function its arguments; and last names of those whose object is not known
    transparent: tuple[Name, ...] = ()
    transparent_names: tuple[Name, ...] = ()
    fillers: tuple[Name, ...] = ()  # decorators that pass a function an argument of their own
    commanders: tuple[Name, ...] = ()  # calls that make options of the parameters of what they are handed
    command_methods: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict
    )  # decorators that do: methods of what such a call makes
    option_objects: tuple[Name, ...] = ()  # objects that hold the values of the options
    option_parsers: tuple[Name, ...] = ()  # methods and functions, by their last name, that give an object which does
    option_packages: tuple[Name, ...] = ()  # packages, beside the standard library, that have such functions
    file_readers: tuple[Name, ...] = ()  # the same of what a configuration file holds
    section_readers: tuple[Name, ...] = ()  # those of them whose ``get`` takes a section, a key and a ``fallback``
    file_packages: tuple[Name, ...] = ()  # packages, beside those with a format, that have such; those of others are not known
    file_composers: tuple[Name, ...] = ()  # of several configuration files, each of which gives a part of the keys
    typed_readers: tuple[Name, ...] = ()  # those of them whose objects may have the fields of a class of the project
    formats: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict
    )  # suffixes of the files that a package's readers take
    config_readers: tuple[Name, ...] = ()  # calls that read a Python file as configuration: its top names are keys
    carries: Union[Carries, None] = None
    source: tuple[Name, ...]
    forwarder: tuple[Forwarder, ...]
    submitter: tuple[Submitter, ...] = ()
    config_entry: tuple[ConfigEntry, ...] = ()
    binding: tuple[Binding, ...] = ()
    default: tuple[DefaultCall, ...]
    flag: tuple[Flag, ...]
    actor: tuple[Actor, ...] = ()
