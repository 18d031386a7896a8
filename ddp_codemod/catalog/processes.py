"""The schema of rules/processes.toml: what training code does with a process group, and what one process does instead."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from ddp_codemod.catalog.entry import Name, RuleEntry
from ddp_codemod.catalog.fix import Fix

Role = Literal[
    "start", "wrap", "skip", "gather", "answer", "sampler", "context", "launch", "strategy", "harmless", "bound", "alone"
]


class Argument(RuleEntry, frozen=True, kw_only=True):
    """A parameter that the rewrite reads or passes."""

    name: Name
    position: int | None = None


class GroupCall(RuleEntry, frozen=True, kw_only=True):
    """A call that creates, needs or queries a process group.

    role: ``start`` creates the group; ``wrap`` returns an object that holds the model as ``module``; ``skip`` does nothing to the
    data of one process, so a guard can skip it; ``gather`` fills ``output`` with the ``input`` of every process; ``answer``
    returns ``value`` in one process; ``context`` surrounds the work of several processes, and does nothing for one; ``sampler``
    queries the group for arguments that the call does not pass; ``launch`` starts processes; ``strategy`` has an option that may
    request a group; ``harmless`` needs none; ``bound`` belongs to code that is useless without a group; ``alone`` creates no
    group for one process, so nothing changes.
    """

    names: tuple[Name, ...]  # "pkg.*.Class" matches any depth of submodules, "pkg.*" all below it
    role: Role
    value: str | None = None  # answer: what one process gets, as source text
    shown: bool = False  # answer: only where it is printed; anything else depends on it
    model: Argument | None = None  # wrap
    world_size: Argument | None = None  # start, sampler; launch: the number of processes
    rank: Argument | None = None  # start, sampler
    output: Argument | None = None  # gather
    input: Argument | None = None  # gather
    fills: Literal["tensors", "objects", "tensor"] = "tensors"  # gather: a list of tensors, a list of objects, or one tensor
    function: Argument | None = None  # launch: what each process runs, after its number
    args: Argument | None = None  # launch
    strategy: Argument | None = None  # strategy: the option
    devices: Argument | None = None  # strategy: how many devices are asked for
    old_devices: tuple[Name, ...] = ()  # strategy: what older versions call the devices
    nodes: Argument | None = None  # strategy: machines
    refuses: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # keywords with which the call (strategy: the object that it is passed) means more than its role says, but for this value
    moves: Name | None = None  # wrap: the keyword with which the wrapped model itself moves its inputs to a device
    why: str = ""  # bound, alone: a clause for the reader
    why_zh: str = ""
    one: str = ""  # alone: the command that starts one process only, with SCRIPT for the program
    source: tuple[Name, ...]


class Processes(RuleEntry, frozen=True, kw_only=True):
    """rules/processes.toml"""

    watched: tuple[Name, ...]  # packages whose calls all have to be known
    asked: Name  # the call that tells whether there is a group
    available: Name  # the call that tells whether torch has the package at all
    bare: tuple[
        Name, ...
    ]  # what the package has in a torch that was built without it, and its modules that can be imported there
    questions: tuple[Name, ...]  # calls of it that say yes or no: where it is not there, no is right
    counted: Name  # the call that counts devices
    starts: tuple[Name, ...]  # what is named where a program starts others
    launchers: dict[str, str] = msgspec.field(default_factory=dict)  # commands that start processes, and the option for how many
    environment: dict[str, str]  # variables that a launcher sets, and what they say of one process
    world_size_variable: Name
    machine: tuple[Name, ...]  # names that tell about the machine, not about how many processes there are
    words: tuple[Name, ...]  # in a test: it is about how many processes there are
    alone: tuple[str, ...]  # texts (lower case) by which an option says that there is one process
    trains: tuple[Name, ...]  # methods that show that code trains ...
    steps: tuple[Name, ...] = ()  # ... in what a library's trainer calls ...
    fits: dict[str, tuple[Name, ...]] = msgspec.field(default_factory=dict)  # ... or in a file that names one of the packages
    by_name: tuple[Name, ...]  # calls that load code by a name that only the run knows
    outside: tuple[Name, ...]  # in the name of a module from elsewhere: it uses the group itself
    passing: tuple[Name, ...]  # last names of decorators that keep nothing: whoever calls the function names it
    exposes: tuple[Name, ...]  # calls that, without a function, make a command of every function of their file
    speaks: tuple[Name, ...]  # words of names in code from elsewhere: it works with the group
    verbs: tuple[Name, ...]  # words of names of what is called: what several processes do together
    hints: tuple[Name, ...]  # words of names in code from elsewhere: it is told of the group
    apart: tuple[Name, ...]  # packages from elsewhere that ask for no group, or only where there is one
    sharding: tuple[Name, ...]  # modules and classes with which each rank trains a part of its own, or shares it later
    contexts: tuple[Name, ...]  # methods of the wrapped model that give a context, which does nothing for one process
    nothing: Name  # the context that does nothing
    wrapped_only: tuple[Name, ...]  # methods that only the wrapped model has
    state: tuple[Name, ...]  # methods whose keys depend on the wrapping
    strategies: tuple[Name, ...]  # strategy names, and classes, that form a group
    automatic: str  # the strategy name that forms a group only where there are several processes
    tests: tuple[Name, ...]  # patterns of files that are tests
    moved: tuple[Name, ...]  # methods that move a tensor to a device
    shows: tuple[Name, ...]  # functions and methods that print or log
    holder: Name  # a container whose keys are those of the wrapped model
    source: tuple[Name, ...]
    call: tuple[GroupCall, ...] = msgspec.field(default_factory=tuple)


def may_be_bare(tables: Iterable[Processes], facts: Mapping[str, object], fixes: Iterable[Fix]) -> bool:
    """Whether torch may lack its distributed package: the platform does not say that it is there, or a rule asks for that."""
    return any(facts.get(f"{table.available}()") is not True for table in tables) or any(fix.bare for fix in fixes)
