"""What a platform file says about its machines, and the conditions that other rule data puts on that.

No entry outside of rules/platforms names a platform by its id: a platform that is added as a file gets all that fits its machines.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ddp_codemod.catalog.entry import Name, RuleEntry, When


class Cards(RuleEntry, frozen=True, kw_only=True):
    """A row of the table of cards: their names, and the build of torch."""

    order: int  # in the table: what more people look for comes first
    names: tuple[str, ...]
    names_zh: tuple[str, ...]
    torch: str
    torch_zh: str


class MachineFacts(RuleEntry, frozen=True, kw_only=True):
    """The machines of a platform. A missing key is unknown: no condition on it is certain, and none is impossible."""

    systems: tuple[Name, ...] = ()  # the operating systems it can have: "linux", "windows", "macos"
    # The accelerators it can have: the device type of torch ("cuda", "xpu", "npu"), "rocm" for AMD's, which torch calls cuda too, and
    # the maker's name for others that it calls so; "none" where there may be none. One that is not here, it surely has not.
    accelerators: tuple[Name, ...] = ()
    # Words, in lower case, in the name of a requirements file or of an extra that say that it is for these machines: "musa" in
    # requirements/musa.txt. Those of more than one platform are in rules/versions.toml.
    words: tuple[Name, ...] = ()
    cards: tuple[Cards, ...] = ()


class Where(RuleEntry, frozen=True, kw_only=True):
    """The machines of an entry: all of this is certain for them. If there are several tables, one is enough."""

    systems: tuple[Name, ...] = ()  # the operating system is one of these
    accelerators: tuple[Name, ...] = ()  # the accelerator is one of these
    other_than: tuple[Name, ...] = ()  # ... is none of these
    plugin: bool | None = None  # torch knows its backend by a package of its own only (required_import)
    wanted: tuple[Name, ...] = ()  # the backend that is written there is one of these
    default_works: bool | None = None  # what torch picks there by itself works

    def __post_init__(self) -> None:
        """Refuse a condition that says nothing (ValueError)."""
        named = (*self.systems, *self.accelerators, *self.other_than, *self.wanted)
        if not named and self.plugin is None and self.default_works is None:
            raise ValueError("a condition on machines that says nothing")

    def holds(self, own: MachineFacts, plugin: bool, wanted: str, default_works: bool) -> bool:
        """Whether all of this is sure of machines."""
        return (
            (not self.systems or is_certain(own.systems, self.systems))
            and (not self.accelerators or is_certain(own.accelerators, self.accelerators))
            and (not self.other_than or not is_possible(own.accelerators, self.other_than))
            and (self.plugin is None or self.plugin is plugin)
            and (not self.wanted or wanted in self.wanted)
            and (self.default_works is None or self.default_works is default_works)
        )


Conditions = tuple[Where, ...]


def is_certain(own: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether what a machine can be is among what is asked for; what is not known is not."""
    return bool(own) and set(own) <= set(wanted)


def is_possible(own: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a machine can be one of what is asked for."""
    return not own or not set(own).isdisjoint(wanted)


class Install(RuleEntry, frozen=True, kw_only=True):
    """What to install so that torch runs on a platform's machines, where that is not the torch that pip takes by itself."""

    packages: tuple[Name, ...]
    source: Name  # the page that says how: the maker's own


class Device(RuleEntry, frozen=True, kw_only=True):
    """The device of a platform's tensors, if it is not the one that most code names."""

    type: Name  # torch.device(TYPE)
    replaces: Name  # the device that code is written for
    # Of torch.MODULE; "" where the processes have no accelerator. Methods of tensors and modules have its name too.
    module: str = ""
    has: tuple[Name, ...] = ()  # what the module has of the other device's under the same name
    others: When = msgspec.field(
        default_factory=dict
    )  # what is called otherwise, by its name in the other device's module: a name of torch
    typed: tuple[Name, ...] = ()  # of these, what takes the device's type as the first argument
    visible: When = msgspec.field(default_factory=dict)  # variables of the environment that choose devices, by the other device's
    visible_source: tuple[Name, ...] = ()  # the maker's pages about these
    # what other libraries call the device, by what they call the other one: "CUDAExecutionProvider"; and, of the options that they
    # take beside it, those that mean the same for both
    texts: When = msgspec.field(default_factory=dict)
    options: tuple[Name, ...] = ()
    source: tuple[Name, ...] = ()

    @property
    def used_as(self) -> tuple[str, ...]:
        """The devices whose uses show that a program is about this one: the other one and, where it is one that few name, its own."""
        return (self.replaces, self.type) if self.module else (self.replaces,)
