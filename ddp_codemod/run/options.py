"""What a run is asked to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform
from ddp_codemod.discover.scope import Scope
from ddp_codemod.versions import Stated

if TYPE_CHECKING:
    from ddp_codemod.health import RecordedGroup  # with the types of diagnoses

Progress = Callable[[str, int, int], None]
# rules that do nothing where no surface is used
ABOUT_USES = frozenset({"replace-backend", "init-method-query", "set-environment"})


class Options(Struct, frozen=True):
    """What one run is asked to do. ``fixes`` are rule ids beside those that the platform enables."""

    paths: tuple[Path, ...]
    platform: Platform
    rules: Rules
    fixes: tuple[str, ...] = ()
    root: Path | None = None
    progress: Progress | None = None
    keep: Callable[[object], object] | None = None  # takes what was read of a project: a process that ends need not take it apart
    cache: bool = False  # take an answer that was kept, where nothing changed since, and keep this one
    style: Literal["pin", "portable"] = "pin"  # portable: a condition that keeps the old value elsewhere
    env_in: Literal["python", "shell"] = "python"  # where environment rules set their variables
    scope: Scope = field(default_factory=Scope)  # what the project omits
    starts: bool = False  # say how the programs are started whose groups are edited
    others: Mapping[str, str] = field(default_factory=dict)  # projects in it, from the root, and the platform that each names
    # versions of packages, where the user knows better than the project's files
    versions: Mapping[str, Stated] = field(default_factory=dict)
    recorded: tuple[RecordedGroup, ...] = ()  # the groups that a run of the project made
    ported: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # lines that earlier runs for the platform wrote, by the file

    @property
    def wanted(self) -> list[Fix]:
        """The rules that the run enables, each once."""
        return [self.rules.fixes[ident] for ident in dict.fromkeys((*self.platform.rules, *self.fixes))]

    @property
    def guarding(self) -> list[Fix]:
        """Those of them by which one process needs no group."""
        return [fix for fix in self.wanted if fix.recipe == "guard-entries"]
