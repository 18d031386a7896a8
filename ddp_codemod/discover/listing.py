"""The files of a project by kind, and the paths of a run in it; nothing is opened."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from ddp_codemod.discover.files import is_folder, walk_files
from ddp_codemod.discover.kinds import CONFIGS, LAUNCHERS, NATIVE, PROGRAMS
from ddp_codemod.discover.root import MARKERS, find_root
from ddp_codemod.model import Reason

LARGE = 400_000  # bytes; the readers' limits, from which a file is named and not read, are above it
_DENIED = Reason.of("skipped-unreadable", why=os.strerror(errno.EACCES))


class Listing:
    """What lies under the root, and what was asked for."""

    def __init__(self, paths: Sequence[Path], root: Path | None) -> None:
        asked = [Path(make_absolute(path)) for path in paths]
        self.root = Path(make_absolute(root)) if root else find_root(asked)
        asked = [resolve_links(path, self.root) for path in asked]
        links: dict[Path, Path] = {}
        closed: dict[Path, Reason] = {}  # folders and files that the system does not let us read
        kinds = (*PROGRAMS, *CONFIGS, *LAUNCHERS, *NATIVE)
        inner: list[str] = []
        self._names = blake2b(digest_size=16)
        self._linked: dict[str, str] = {}  # links to folders, and where each leads
        everything = list(
            walk_files(self.root, [self.root], kinds, links.setdefault, closed.setdefault, inner.append, self._add_folder)
        )
        others = [path for path in asked if path.is_file() and path not in set(everything)]
        self.programs = [path for path in everything if path.suffix in PROGRAMS]
        self.programs += walk_files(self.root, others, (), links.setdefault)
        self.configs = [path for path in everything if path.suffix in CONFIGS]
        self.launchers = [path for path in everything if path.name.endswith(LAUNCHERS) or "." not in path.name]
        self.natives = [path for path in everything if path.suffix in NATIVE]
        self.under = tuple(path.relative_to(self.root).as_posix() for path in asked)
        self.named = frozenset(name for name in self.under if (self.root / name).is_file())
        closed.update((path, _DENIED) for path in (*everything, *others) if not os.access(path, os.R_OK))
        self._inner = tuple(Path(folder).relative_to(self.root).as_posix() for folder in inner)
        self.apart = self._find_nested_work_trees("") if self._inner and is_in_work_tree(self.root) else ()
        self.unread = {path.relative_to(self.root).as_posix(): why for path, why in closed.items()}
        self.led: dict[str, str] = {}  # names of links, and of the files that they lead to
        self.outside: list[str] = []  # names of links under the paths that lead out of the root
        home = Path(os.path.realpath(self.root)) if links else self.root
        for link, real in links.items():
            name = link.relative_to(self.root).as_posix()
            if real.is_relative_to(home):
                self.led[name] = real.relative_to(home).as_posix()
            elif link.suffix in PROGRAMS and any(is_under(name, folder) for folder in self.under):
                self.outside.append(name)

    def _add_folder(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> None:
        kinds = ((entry.name, "/" if is_folder(entry) else "@" if entry.is_symlink() else "") for entry in entries)
        parts = (folder, *(part for both in kinds for part in both))
        self._names.update("\0".join(parts).encode("utf-8", "surrogateescape") + b"\0\0")
        links = (entry.path for entry in entries if entry.is_symlink() and is_folder(entry))
        self._linked.update((path, os.path.realpath(path)) for path in links)

    @cached_property
    def linked_folders(self) -> dict[str, str]:
        """Links to folders under the paths, by name, and the folders of the project that they lead to, which are under none of them."""
        home = Path(os.path.realpath(self.root))
        inside = ((path, Path(real)) for path, real in self._linked.items() if Path(real).is_relative_to(home))
        found = {Path(path).relative_to(self.root).as_posix(): real.relative_to(home).as_posix() for path, real in inside}
        return {name: to for name, to in found.items() if self._holds(name) and not self._holds(to) and not is_under(name, to)}

    @cached_property
    def outside_folders(self) -> tuple[str, ...]:
        """Links to folders under the paths that lead out of the root; what is behind them is not looked at."""
        home = Path(os.path.realpath(self.root))
        away = (path for path, real in sorted(self._linked.items()) if not Path(real).is_relative_to(home))
        return tuple(name for name in (Path(path).relative_to(self.root).as_posix() for path in away) if self._holds(name))

    def narrow(self, folder: str) -> Listing:
        """The same listing for a run on one folder of it."""
        part = copy(self)
        part.under, part.named, part.outside, part._linked = (folder,), frozenset(), [], {}
        part.apart = part._find_nested_work_trees("") if self._inner and is_in_work_tree(self.root) else ()
        for known in ("linked_folders", "outside_folders"):
            part.__dict__.pop(known, None)
        return part

    def _holds(self, name: str) -> bool:
        return any(is_under(name, folder) for folder in self.under)

    def fingerprint(self) -> bytes:
        """What changes when a file or folder under the root appears, goes or becomes another kind, or a large file's size changes."""
        known = self._names.copy()
        about = [self.under, sorted(self.named), self.apart, sorted(self.unread), sorted(self.led.items()), self.outside]
        about.append(sorted(self._linked.items()))
        about += [[os.fspath(path) for path in paths] for paths in (self.programs, self.configs, self.launchers, self.natives)]
        sizes = (
            (os.fspath(path), _read_size(path))
            for path in (*self.configs, *self.launchers, *(self.root / name for name in self.named))
        )
        known.update(repr((about, [one for one in sizes if one[1] > LARGE])).encode("utf-8", "surrogateescape"))
        return known.digest()

    def _find_nested_work_trees(self, top: str) -> tuple[str, ...]:
        """Folders below a work tree that are others of git's (submodules, clones), where no path of the run is such a one or lies in it."""
        below = (folder for folder in self._inner if folder != top and is_under(folder, top))
        return tuple(folder for folder in below if not any(is_under(path, folder) for path in self.under))

    def repositories(self) -> list[Listing]:
        """The listing in parts, where the root is no project itself: one for each repository below it, and one for the rest."""
        if any((self.root / marker).exists() for marker in MARKERS):
            return [self]
        homes: dict[str, str] = {str(self.root): ""}

        def home(folder: str) -> str:
            if folder not in homes:
                above = home(os.path.dirname(folder))  # noqa: PTH120 - for every folder of a collection
                homes[folder] = above or (folder if os.path.lexists(f"{folder}{os.sep}.git") else "")
            return homes[folder]

        def homes_of(paths: list[Path]) -> dict[str, list[Path]]:
            found: dict[str, list[Path]] = {}
            for path in paths:
                found.setdefault(home(os.path.dirname(path)), []).append(path)  # noqa: PTH120
            return found

        kinds = {kind: homes_of(getattr(self, kind)) for kind in ("programs", "configs", "launchers", "natives")}
        parts = []
        for at in sorted({at for found in kinds.values() for at in found} | {""}):
            parts.append(part := copy(self))
            for kind, found in kinds.items():
                setattr(part, kind, found.get(at, []))
            part.outside = [] if at else self.outside
            part._linked = {path: to for path, to in self._linked.items() if home(os.path.dirname(path)) == at}  # noqa: PTH120
            part.apart = self._find_nested_work_trees(Path(at).relative_to(self.root).as_posix()) if at else ()
        return parts if len(parts) > 1 else [self]


def _read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_in_work_tree(folder: Path) -> bool:
    """Whether a folder lies in a work tree of git."""
    return any(os.path.lexists(at / ".git") for at in (folder, *folder.parents))


def resolve_links(path: Path, root: Path) -> Path:
    """A path that was named, with the links on its way and its own followed, where they lead to another place of the root."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if is_outside_root(path, root) or real == os.path.normpath(os.path.join(home, os.path.relpath(path, root))):  # noqa: PTH118
        return path
    return root / os.path.relpath(real, home)


def is_outside_root(path: Path, root: Path) -> bool:
    """Whether a path that was named lies outside of the root once its links are followed."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    return not f"{real}{os.sep}".startswith(home.rstrip(os.sep) + os.sep)


def is_under(name: str, folder: str) -> bool:
    """Whether a file's name is the one asked for or lies in the folder asked for; "" and "." are the root."""
    return folder in ("", ".") or name == folder or name.startswith(folder + "/")


def make_absolute(path: Path) -> str:
    """A path from the top of the file system, its links as they are."""
    return os.path.normpath(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
