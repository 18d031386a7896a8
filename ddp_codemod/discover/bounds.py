"""Which files a run may change: those under the paths passed, within what the project allows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, field

from ddp_codemod.discover.listing import is_under
from ddp_codemod.discover.scope import Scope


class Bounds(Struct, frozen=True):
    """The paths of a run (relative to the root), the files among them that were named, and what the project says."""

    under: tuple[str, ...]
    named: frozenset[str] = frozenset()  # taken though they are excluded, as by other tools
    scope: Scope = field(default_factory=Scope)
    links: Mapping[str, str] = field(default_factory=dict)  # names of links, and of the files that they lead to
    apart: tuple[str, ...] = ()  # folders of other work trees of git: a patch for this one cannot change them

    @property
    def files_alone(self) -> frozenset[str]:
        """The files that were named, where the run is not about the whole project."""
        return frozenset() if {"", "."} & {*self.under} else self.named

    @property
    def folders_alone(self) -> tuple[str, ...]:
        """The folders that were named, where the run is not about the whole project."""
        return () if {"", "."} & {*self.under} else tuple(name for name in self.under if name not in self.named)

    def covers(self, name: str) -> bool:
        """Whether a file lies under the paths; where it is a link the one that it leads to, too."""
        names = {name, self.links.get(name, name)}
        return all(any(is_under(one, at) for at in self.under) for one in names)

    def count_files(self, names: Collection[str]) -> dict[str, Any]:
        """What a survey says of the files of a project: how many it is about, how many the project omits, and whether others are there."""
        covered = [name for name in names if self.covers(name)]
        return {
            "files_seen": sum(not self.excludes(name) for name in covered),
            "excluded": sum(map(self.is_excluded_by_config, covered)),
            "partial": len(covered) < len(names),
        }

    def admits(self, name: str) -> bool:
        """Whether a file may be changed."""
        return self.covers(name) and not self.excludes(name)

    def excludes(self, name: str) -> bool:
        """Whether a file is omitted: by the project, or because it belongs to another work tree."""
        return self.is_excluded_by_config(name) or self.is_in_other_work_tree(name)

    def is_excluded_by_config(self, name: str) -> bool:
        """Whether the project's configuration leaves a file out."""
        return name not in self.named and not self.scope.holds(name)

    def is_in_other_work_tree(self, name: str) -> bool:
        """Whether a file, or the one that it leads to, belongs to another work tree of git, such as a submodule."""
        return any(is_under(one, folder) for folder in self.apart for one in (name, self.links.get(name, name)))
