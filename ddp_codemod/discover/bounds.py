"""Which files a run may change: those under the paths given, within what the project allows."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ddp_codemod.discover.listing import is_under
from ddp_codemod.discover.scope import Scope


class Bounds(Struct, frozen=True):
    """The paths of a run (relative to the root), the files among them that were named, and what the project says."""

    under: tuple[str, ...]
    named: frozenset[str] = frozenset()  # taken though they are excluded, as by other tools
    scope: Scope = field(default_factory=Scope)
    links: Mapping[str, str] = field(default_factory=dict)  # names of links, and of the files that they lead to

    def covers(self, name: str) -> bool:
        """Whether a file lies under the paths; where it is a link the one that it leads to, too."""
        names = {name, self.links.get(name, name)}
        return all(any(is_under(one, at) for at in self.under) for one in names)

    def admits(self, name: str) -> bool:
        """Whether a file may be changed."""
        return self.covers(name) and not self.excludes(name)

    def excludes(self, name: str) -> bool:
        """Whether the project leaves a file out."""
        return name not in self.named and not self.scope.holds(name)
