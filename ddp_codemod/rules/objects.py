"""The schema of parameters that take a text for an object, and of what chose the backend before there were such objects."""

from __future__ import annotations

from ddp_codemod.rules.entry import Name, RuleEntry, When


class Chosen(RuleEntry, frozen=True, kw_only=True):
    """A variable of the environment that chooses the backend of a framework."""

    variable: Name
    when: When = {}  # versions in which nothing else does
    never: When = {}  # versions in which nothing does at all
    keywords: dict[Name, tuple[Name, ...]] = {}  # texts of other keywords that named the object, in such versions only


class TextObject(RuleEntry, frozen=True, kw_only=True):
    """A text that a parameter takes in place of an object: the object is of a surface's class, with these arguments."""

    table: Name
    text: Name
    surface: Name
    arguments: dict[Name, bool | int | str] = {}
    when: When = {}


class Objects(RuleEntry, frozen=True, kw_only=True):
    """A parameter that takes an object or a text for it."""

    table: Name  # of the texts: the objects of rule data with this name
    module: Name  # the objects are imported from here
    automatic: Name  # the text that the framework takes where there are several devices and it has the choice
    open: tuple[str, ...] = ()  # texts that leave it the choice
    several: tuple[Name, ...] = ()  # keywords that count devices: with more than one the choice is ``automatic``
    elsewhere: dict[Name, tuple[str, ...]] = {}  # values of keywords with which the group is not for the platform's devices
    chosen: Chosen | None = None  # how the backend was chosen before the objects took it
