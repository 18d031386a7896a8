"""Which folders a server may look into: those that it was started with and those that its client names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ddp_codemod.discover.root import find_root
from ddp_codemod.model import Reason


class OutsideRoots(Exception):
    """A path that lies in none of the folders, or none that is there; ``reason`` says what to do."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.key)
        self.reason = reason


class ProjectPaths(Struct, frozen=True):
    """Paths of one project, all inside of a folder that may be looked into, and the project's root, which lies in it too."""

    paths: tuple[Path, ...]
    root: Path


class Roots(Struct, frozen=True):
    """The folders, links resolved."""

    folders: tuple[Path, ...] = ()

    @classmethod
    def of(cls, *folders: Path) -> Roots:
        """Those of the folders that are there, each once."""
        found = (Path(os.path.realpath(folder)) for folder in folders)
        return cls(tuple(dict.fromkeys(folder for folder in found if folder.is_dir())))

    def with_uris(self, uris: Iterable[str]) -> Roots:
        """These and what ``file:`` URIs name; others are none of ours."""
        return Roots.of(*self.folders, *(path for uri in uris if (path := path_of(uri)) is not None))

    def find(self, name: str) -> Path:
        """A file or folder by the name that a client gives. Raises OutsideRoots.

        A relative name is looked for in each folder. Links count by where they lead.
        """
        path = Path(name)
        tried = [path] if path.is_absolute() else [folder / path for folder in self.folders]
        there = [Path(os.path.realpath(one)) for one in tried if "\0" not in name and os.path.lexists(one)]
        inside = [one for one in there if self._find_folder(one) is not None]
        if inside:
            return inside[0]
        raise OutsideRoots(self._explain_refusal(name))

    def project(self, names: Sequence[str]) -> ProjectPaths:
        """The project of some names, all folders where none is passed. Raises OutsideRoots; ValueError for several projects.

        The root is as the command line has it, but never above the folder that may be looked into.
        """
        if not names and len(self.folders) != 1:
            raise OutsideRoots(self._explain_refusal("."))
        paths = tuple(map(self.find, names)) if names else self.folders
        limit = self._find_folder(paths[0])
        assert limit is not None
        root = find_root(paths, limit)
        if not root.is_relative_to(limit):
            root = limit
        for path in paths:
            if not path.is_relative_to(root):
                raise ValueError(f"{path} is not under {root}")
        return ProjectPaths(paths, root)

    def _find_folder(self, path: Path) -> Path | None:
        return max(
            (folder for folder in self.folders if path.is_relative_to(folder)), key=lambda one: len(one.parts), default=None
        )

    def _explain_refusal(self, name: str) -> Reason:
        if not self.folders:
            return Reason.of("servers-no-roots", path=name)
        return Reason.of("servers-outside", path=name, roots=", ".join(map(str, self.folders)))


def path_of(uri: str) -> Path | None:
    """The path of a ``file:`` URI of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    from urllib.request import url2pathname

    return Path(url2pathname(parts.path) if os.name == "nt" else unquote(parts.path))
