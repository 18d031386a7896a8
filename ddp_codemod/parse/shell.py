"""Launch files: shell scripts, Dockerfiles, the recipes of Makefiles, and the batch and PowerShell files of Windows.

Options and settings are recorded where their literal is: ``--backend $b`` at ``b=...``, ``${B:-x}`` at ``x``. What only a
shell could tell is omitted, and so are commands in which something is not valid.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from ddp_codemod.discover.kinds import WINDOWS
from ddp_codemod.model import Place, Source

MAX_BYTES = 500_000  # a launch file; 5 MB of words took 17 s and 1.4 GB, and what is larger carries data behind its commands
MANIFEST = "manifest"  # the kind of the commands that a configuration file holds
GUIDE = "guide"  # and of those that a README or a page of documentation says to type
_SAFE = re.compile(r"[\w./:,+@%=-]+", re.ASCII)


class Option(Struct, frozen=True):
    """``--backend x``, ``--backend=x``, or an override ``key.sub=x`` or ``+key=x``, of a command."""

    name: str  # without leading dashes and plus signs
    start: int  # of the value's text with its quotes, where the literal is
    end: int
    value: str
    program: str  # the script or module that takes the option as far as it can be told, else ""
    line: int  # where the literal is
    quote: str = ""  # what the span is in and does not hold: a quote, or "}" in ${x:-value}
    used: int = 0  # where the command is
    away: bool = False  # the literal is elsewhere, where a variable is assigned
    override: bool = False  # ``key.sub=x``, with no dashes
    variable: str = ""  # it is in a list of options that this file uses nowhere, under this name


class Setting(Struct, frozen=True):
    """A variable that is set to a literal."""

    name: str
    start: int
    end: int
    value: str
    line: int
    kind: str  # "export", "command" (for one command), "image" (a Dockerfile's ENV) or "variable"
    quote: str = ""


class Launch(Struct, frozen=True):
    """A command that runs a script or module."""

    program: str
    start: int
    end: int
    line: int
    insert: int | None  # start of a line on which a statement may be put before it; None where there is none
    indent: str


class Program(Struct, frozen=True):
    """The word of a command that says what runs."""

    name: str
    start: int
    end: int  # behind its quotes: more words of the command may go in here
    line: int
    used: int  # where the command is, as an Option of it has it


class ScriptParts(Struct, frozen=True):
    """What a file holds."""

    options: tuple[Option, ...]
    settings: tuple[Setting, ...]
    launches: tuple[Launch, ...]
    errors: tuple[int, ...]
    sourced: tuple[str, ...] = ()  # the files that it reads as a part of its own; "" where only a run could tell which
    programs: tuple[Program, ...] = ()  # of all commands, in source order


class Script(Struct, eq=False):
    """A parsed launch file. Identity is the file, as for a Module."""

    source: Source
    kind: str  # "shell", "docker", "make", "batch", "powershell", "manifest" or "guide"
    parts: ScriptParts
    cache: dict[object, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Path relative to the root."""
        return self.source.name

    @property
    def options(self) -> tuple[Option, ...]:
        """Options of all commands, in source order; one that can have several values is there once for each."""
        return self.parts.options

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Variables set to literals, in source order."""
        return self.parts.settings

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Commands that run a script or module, in source order."""
        return self.parts.launches

    @property
    def programs(self) -> tuple[Program, ...]:
        """What the commands run, in source order."""
        return self.parts.programs

    @property
    def sourced(self) -> tuple[str, ...]:
        """The files that it reads as a part of its own, as it names them; "" where only a run could tell which."""
        return self.parts.sourced

    @property
    def errors(self) -> tuple[int, ...]:
        """Offsets at which the file is not valid; commands there are omitted."""
        return self.parts.errors

    @property
    def editable(self) -> bool:
        """Whether values in it are edited; in what Windows or a cluster runs, and in what people read, they are for review."""
        return self.kind not in (MANIFEST, GUIDE, *WINDOWS.values())

    def place(self, entry: Option | Setting | Launch | Program) -> Place:
        """Where a value, or a command, is."""
        return Place(self.source.name, entry.start, entry.end)

    def text(self, entry: Option | Setting) -> str:
        """Source text of a value, with its quotes."""
        return self.source.text[entry.start : entry.end]

    def written(self, entry: Option | Setting, value: str) -> str:
        """The source text that gives ``value`` there; quotes are kept.

        Raises ValueError where a value cannot be written without more changes.
        """
        if not self.editable:
            raise ValueError(f"not edited: {self.kind}")
        there = self.text(entry)
        own = there[0] if there[:1] in ("'", '"') and there[-1:] == there[0] else ""
        quote = own or entry.quote
        if not value.isprintable():
            raise ValueError(f"not printable: {value!r}")
        away = entry.away if isinstance(entry, Option) else entry.kind != "command"
        if away and re.search(r"\s", value) and not re.search(r"\s", entry.value):
            raise ValueError(f"becomes several words where the variable is used: {value!r}")
        if _SAFE.fullmatch(value) or (own and not value):
            return own + value + own
        escaped = re.sub(r'(["\\$`])', r"\\\1", value)
        if "'" not in value and quote == "'":
            return own + value + own
        if entry.quote == '"' and not re.search(r"\s", value):
            return escaped
        if not entry.quote and own == '"':
            return f'"{escaped}"'
        if not entry.quote and self.kind == "shell":
            return f'"{escaped}"' if "'" in value else f"'{value}'"
        raise ValueError(f"cannot be written inside {quote or self.kind}: {value!r}")
