"""What a client may ask of each tool. The types are the schemas that it is shown, and what its words are checked against."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from ddp_codemod.messages import text
from ddp_codemod.request import EnvIn, Style

Kind = Literal["sites", "edits", "advisories", "skipped"]
_BOUNDS = ("maxLength", "maxItems", "pattern", "minimum", "maximum")
T = TypeVar("T", bound=Struct)
Text = Annotated[str, Meta(max_length=1000)]
Name = Annotated[str, Meta(max_length=4096)]
Names = Annotated[tuple[Name, ...], Meta(max_length=50)]
Line = Annotated[int, Meta(ge=1)]
Offset = Annotated[int, Meta(ge=0)]


class Project(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A project, and what its port is to be like: the options of the command line of those names."""

    paths: Names = ()
    platform: Text | None = None
    rules: Annotated[tuple[Text, ...], Meta(max_length=50)] = ()
    style: Style = "pin"
    env_in: EnvIn = "python"
    torch_version: Text | None = None
    unsafe: bool = False


class Paged(Project, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of the findings is wanted."""

    show: Annotated[tuple[Kind, ...], Meta(max_length=4)] = ()
    action: Literal["edit", "keep", "review"] | None = None
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Scan(Paged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every site."""


class Check(Paged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What would change."""


class Diff(Paged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The patch and the digest of its plan."""

    from_run: Name | None = None
    patch_offset: Offset = 0


class Explain(Project, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line."""

    path: Name
    line: Line


class Apply(Project, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write the plan with this digest."""

    from_run: Name | None = None
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    allow_dirty: bool = False


class Undo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Take the last apply back."""

    path: Name | None = None


class Diagnose(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A log, as a text or a file, and the project whose lines it names."""

    text: Annotated[str, Meta(max_length=5_000_000)] | None = None
    path: Name | None = None
    hang: bool = False
    project: Name | None = None


class Doctor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """This machine."""

    platform: Text | None = None


class Verify(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Form each process group for real."""

    paths: Names = ()
    platform: Text | None = None
    ranks: Annotated[int, Meta(ge=1, le=8)] = 2
    launch: Literal["spawn", "torchrun", "both"] = "both"
    seconds: Annotated[int, Meta(ge=1, le=600)] = 60


class VerifyRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Run a command of the user's, and hold its groups against the code."""

    command: Name
    paths: Names = ()
    platform: Text | None = None
    stop: bool = True
    limit_seconds: Annotated[int, Meta(ge=1, le=3600)] = 600
    record: Name | None = None


def schema_of(kind: type[Struct], lang: str) -> dict[str, Any]:
    """The JSON schema of what a tool takes, each argument with its description."""
    _, parts = msgspec.json.schema_components([kind])
    found: dict[str, Any] = parts[kind.__name__]
    found["properties"] = {name: _describe_argument(kind, name, one, lang) for name, one in found["properties"].items()}
    return {key: value for key, value in found.items() if key not in ("title", "description") and (key != "required" or value)}


def _describe_argument(kind: type[Struct], name: str, one: dict[str, Any], lang: str) -> dict[str, Any]:
    """One argument: its type and what it is for. Bounds that nobody meets are told to who meets one: a client pays for each word."""
    one = next((part for part in one.get("anyOf", ()) if part.get("type") != "null"), one)
    if "items" in one:
        one["items"] = {key: value for key, value in one["items"].items() if key not in _BOUNDS}
    plain = {key: value for key, value in one.items() if key not in _BOUNDS and (key != "default" or value)}
    told = kind is Diff or name not in (*Project.__struct_fields__, "from_run")  # what a port is to be like is told once
    return {**plain, "description": text(f"mcp-argument-{name.replace('_', '-')}" if told else "mcp-argument-as-diff", lang)}


def read_arguments(kind: type[T], arguments: dict[str, Any] | None) -> T:
    """The arguments of a call. Raises msgspec.ValidationError, which names the one that is wrong."""
    return msgspec.convert(arguments or {}, kind)
