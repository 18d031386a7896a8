"""The schema of rules/fixes: a rule that changes something, and what its recipe is passed."""

from typing import Literal

import msgspec

from ddp_codemod.catalog.entry import Name, RuleEntry, When
from ddp_codemod.catalog.machine import Conditions
from ddp_codemod.catalog.model import Example
from ddp_codemod.catalog.objects import Environment, Query


class Store(RuleEntry, frozen=True, kw_only=True):
    """A store class that ignores the query."""

    names: tuple[Name, ...]
    keyword: Name
    value: str
    known_to: When = msgspec.field(default_factory=dict)  # versions that all have the keyword


class Unneeded(RuleEntry, frozen=True, kw_only=True):
    """Versions that need no part of a fix."""

    of: tuple[Literal["query", "environment", "store"], ...]
    when: When
    on: Conditions = ()  # empty: on all machines
    frameworks: tuple[Name, ...] = ()  # of the surface; empty: all of them
    why: str
    why_zh: str = ""


class Fix(RuleEntry, frozen=True, kw_only=True):
    """rules/fixes/ID.toml: a rule, which is a recipe with its parameters."""

    id: Name
    recipe: Literal[
        "replace-backend", "init-method-query", "set-environment", "guard-entries", "pin-requirements", "import-at-entries"
    ]
    title: str
    title_zh: str = ""
    text: str  # what it does, when it helps, where a write-up is wrong
    text_zh: str = ""
    source: tuple[Name, ...]
    applicability: Literal["safe", "unsafe"] = "safe"
    platform: str | None = None  # assumed when the rule is asked for and no platform is known
    environment: Environment | None = None
    environment_surfaces: tuple[Name, ...] = ()  # init-method-query: surfaces that only the variable reaches
    when_backend: tuple[Name, ...] = ()  # set-environment: only where the group resolves to one of these; empty: every group
    by_name: bool = False  # only under these very names, not under others of the same library
    bare: bool = False  # guard-entries: torch may lack its distributed package
    query: Query | None = None
    store: Store | None = None
    unneeded: tuple[Unneeded, ...] = ()
    pins: dict[Name, Name] = msgspec.field(default_factory=dict)  # pin-requirements: the release that each package is pinned to
    statements: tuple[Name, ...] = ()  # import-at-entries: the imports, the last of which is the one that does it ...
    maps: tuple[Name, ...] = ()  # ... the backends that it maps by itself, as it does the device, but not for these surfaces ...
    unmapped: tuple[Name, ...] = ()
    leaves: tuple[Name, ...] = ()  # ... and the advice about devices that it does not make needless
    pin_conda: tuple[str, ...] = ()  # of the pinned packages, those that only conda has: pip is not asked for them
    pin_builds: tuple[Name, ...] = ()  # local parts (+cu121) that these releases exist with
    examples: tuple[Example, ...] = ()
