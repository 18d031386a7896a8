"""What a project omits, and where it leaves single rules out: patterns as in .gitignore, on names relative to the root."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Patterns = tuple[str, ...]
LONGEST = 300  # characters of a pattern
SPECIAL = r"([\\*?\[\]!#])"  # characters that mean something else than themselves in a pattern
STARS = 3  # in one part of a pattern, and "**" in all: the time to compare grows with this power


def is_unmatchable(pattern: str) -> bool:
    """Whether a pattern can never fit a name: a comment, nothing at all, or one that starts at another folder than the root.

    So does one that could take very long to compare: strangers' projects have patterns too.
    """
    if pattern.startswith(("./", "../")) or not pattern.strip() or not _is_quick(pattern):
        return True
    try:
        return all(one.include is None for one in _build_spec((pattern,)).patterns)
    except ValueError:  # as the library says of "!" alone
        return True


def _is_quick(pattern: str) -> bool:
    parts = pattern.split("/")
    wild = [part for part in parts if part != "**"]
    return len(pattern) <= LONGEST and len(parts) - len(wild) <= STARS and all(part.count("*") <= STARS for part in wild)


class Scope(Struct, frozen=True, dict=True):
    """Which files a run may change, and which ids (of rules, surfaces, notes) are not honored in which files."""

    include: Patterns = ()  # none: every file
    exclude: Patterns = ()
    ignores: tuple[tuple[str, Patterns], ...] = ()  # (pattern, ids)
    rule_folders: tuple[str, ...] = ()  # of the project's own

    def without(self, folders: Iterable[str]) -> Scope:
        """The same without some folders, named from the root."""
        written = tuple("/" + re.sub(SPECIAL, r"\\\1", folder) + "/" for folder in folders)
        return replace(self, exclude=(*self.exclude, *written)) if written else self

    def holds(self, name: str) -> bool:
        """Whether a file is in it."""
        if self._include_spec is not None and not self._include_spec.match_file(name):
            return False
        return self._exclude_spec is None or not self._exclude_spec.match_file(name)

    def holds_rules(self, name: str) -> bool:
        """Whether a file lies in a folder of the project's own rules, which speak of backends and ask for none."""
        return any(name.startswith(f"{folder}/") for folder in self.rule_folders)

    def ignores_in(self, name: str, idents: Collection[str]) -> bool:
        """Whether one of the ids is not honored in a file."""
        return any(set(ids) & set(idents) and spec.match_file(name) for spec, ids in self._ignore_specs)

    @cached_property
    def _include_spec(self) -> GitIgnoreSpec | None:
        return _build_spec(self.include) if self.include else None

    @cached_property
    def _exclude_spec(self) -> GitIgnoreSpec | None:
        return _build_spec(self.exclude) if self.exclude else None

    @cached_property
    def _ignore_specs(self) -> list[tuple[GitIgnoreSpec, Patterns]]:
        return [(_build_spec((pattern,)), ids) for pattern, ids in self.ignores]


def _build_spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # 35 ms, for projects that have patterns

    return GitIgnoreSpec.from_lines(patterns)
