"""What crosses the modules of a fleet run, and the processes: plain data that JSON holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

STYLES: tuple[Literal["pin", "portable"], ...] = ("pin", "portable")
PLACES: tuple[Literal["python", "shell"], ...] = ("python", "shell")  # where environment rules set their variables


class Trouble(str, Enum):
    """Why a repository has no result."""

    CRASHED = "crashed"
    TIMED_OUT = "timed-out"
    TOO_LARGE = "too-large"
    CLONE_FAILED = "clone-failed"
    UNPARSEABLE = "unparseable"


@dataclass(frozen=True)
class Entry:
    """A line of the list; where it does not say how to port the repository, as the command says."""

    repository: str  # a URL, or an absolute path
    platform: str
    ref: str | None = None
    rules: tuple[str, ...] = ()
    line: int = 0
    style: str = STYLES[0]
    env_in: str = PLACES[0]
    torch_version: str | None = None
    unsafe: bool = False


@dataclass(frozen=True)
class Limits:
    """What one repository may cost."""

    seconds: float = 900.0
    cpu: float = 600.0
    memory: int = 4 << 30  # bytes of address space of each process
    size: int = 4 << 30  # bytes on the disk, of the clone


@dataclass(frozen=True)
class Work:
    """What all repositories of a run share."""

    out: str
    token: str  # lies in ``out``: who finds it there can write results there
    version: str
    rules: str  # digest of the rule data
    folders: tuple[tuple[tuple[str, str], ...], ...]  # the user's own rule data: for each folder (name, text)
    lang: str  # of JSON and pull-request text
    page_lang: str
    limits: Limits
    again: bool = False  # repositories that failed are done again


@dataclass(frozen=True)
class Count:
    """How many sites of a framework have a kind (the role of the parameter) and an action."""

    framework: str
    kind: str
    action: str
    sites: int


@dataclass(frozen=True)
class Outcome:
    """What became of one repository."""

    repository: str
    platform: str
    ref: str | None = None
    commit: str | None = None  # None for a folder without git, and where it was not found out
    folder: str = ""  # of its results, relative to ``out``
    trouble: Trouble | None = None
    detail: str = ""  # of the trouble
    edits: int = 0
    files: int = 0  # that are changed
    review: int = 0  # sites that need review
    not_applied: int = 0  # edits that were found and not made: unsafe ones, and those to be made by hand
    notes: int = 0
    skipped: int = 0  # candidate files that could not be read
    python_files: int = 0
    page: bool = False  # there are changes to choose from on a page
    sites: tuple[Count, ...] = ()
    seconds: float = 0.0
    memory: int = 0  # bytes, the most that its process held
    attempts: int = 1
    limits: Limits | None = None  # those that it failed under

    @property
    def effort(self) -> int:
        """Places that need review before the port is done."""
        return self.review + self.not_applied + self.skipped


@dataclass(frozen=True)
class Reply:
    """What a supervisor says about one child: how it ended, and the files that it left."""

    outcome: Outcome
    files: dict[str, bytes] = field(default_factory=dict)
    unchanged: bool = False  # there was a result for this commit already
    again: bool = False  # it was ended by a signal, for which another attempt may help
