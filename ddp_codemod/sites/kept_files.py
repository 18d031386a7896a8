"""What a process keeps of files from survey to survey, of each for as long as its bytes are the same.

Kept is what a file says by itself, and nothing that was worked out with the help of another file or for a platform.
"""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.model import Source
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.tree import Tree

MOST_BYTES = 16_000_000  # of source text; its trees take some fourteen times as much
_MANY_BYTES = 1_000_000  # of new files, from which on the collector should not look through them time and again

Key = tuple[str, str, str]  # what is kept, the root of the project, the file


class Parsed(Struct, frozen=True):
    """What a file is parsed into: its text as later stages know it, which for a notebook is that of its cells, and its programs."""

    source: Source
    trees: tuple[Tree, ...]

    def renew(self) -> Parsed:
        """The same trees in objects of their own, for one survey: what it works out is not for the next."""
        return Parsed(self.source, tuple(replace(tree, cache={}) for tree in self.trees))


class _Kept(Struct):
    data: bytes  # of the file
    about: Hashable  # what else it depends on
    value: object
    round: int  # in which it was used


class KeptFiles:
    """The files of the last rounds, each of which is one piece of work; those that the latest did not ask for go first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._files: dict[Key, _Kept] = {}
        self._size = self._new = self._round = 0
        self._frozen = False

    def find(self, key: Key, data: bytes, about: Hashable) -> object:
        """What was kept of a file that held these bytes; None where there is nothing."""
        if (kept := self._files.get(key)) is None:
            return None
        if kept.about != about or kept.data != data:
            self._drop(key)
            return None
        kept.round = self._round
        return kept.value

    def keep(self, key: Key, data: bytes, about: Hashable, value: object) -> bool:
        """Keep something of a file; whether there is room. There is none of the key yet."""
        while self._size + len(data) > self.most_bytes:
            if (oldest := next((one for one, kept in self._files.items() if kept.round != self._round), None)) is None:
                return False
            self._drop(oldest)
        self._files[key] = _Kept(data, about, value, self._round)
        self._size, self._new = self._size + len(data), self._new + len(data)
        return True

    def _drop(self, key: Key) -> None:
        kept = self._files.pop(key)
        self._size -= len(kept.data)
        if isinstance(kept.value, Parsed) and kept.round != self._round:  # else it may still be in use
            for tree in kept.value.trees:
                if isinstance(tree, Module):
                    tree.kept = False
                    tree.take_apart()

    def begin(self) -> None:
        """A round begins."""
        self._round += 1
        self._size = sum(len(kept.data) for kept in self._files.values())  # the last one may have been stopped anywhere

    def end(self) -> None:
        """A round is over: free what it leaves behind. The collector looks through what is kept once, not each time."""
        if self._new > _MANY_BYTES:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._new, self._frozen = 0, True
        elif self._frozen:
            gc.collect()


_in_use: list[KeptFiles] = []


@contextmanager
def keeping_files(files: KeptFiles) -> Iterator[None]:
    """One round: surveys take what was kept, and keep what they find. For one at a time in a process."""
    _in_use.append(files)
    try:
        files.begin()
        yield
    finally:
        _in_use.remove(files)
        files.end()


def kept_files() -> KeptFiles | None:
    """Where surveys keep files now, if they do."""
    return _in_use[-1] if _in_use else None
