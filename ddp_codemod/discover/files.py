"""Which files a run reads, and how a file becomes a Source."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ddp_codemod.discover.file_digests import MAX_BYTES, note
from ddp_codemod.discover.unsaved import find_unsaved_text
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason, Skipped, Source

# Folders that hold no code of the project: version control, caches, installed packages.
SKIPPED_FOLDERS = frozenset({
    ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "__pycache__", "node_modules", "site-packages", ".ddp-codemod",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".eggs", ".ipynb_checkpoints",
})  # fmt: skip
FEW = 60  # files without an ending in a folder that may be scripts
SCRIPT = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")


def walk_files(
    root: Path,
    paths: Sequence[Path],
    suffixes: Sequence[str],
    linked: Callable[[Path, Path], object] | None = None,
    unread: Callable[[Path, Reason], object] | None = None,
    inner: Callable[[str], object] | None = None,
    listed: Callable[[str, Sequence[os.DirEntry[str]]], object] | None = None,
) -> Iterator[Path]:
    """Every file with one of the suffixes under the paths, and scripts without any, sorted, each once; a named file as it is.

    Links out of the root, virtual environments and caches are omitted, and so is what is no plain file. ``linked`` is told of
    each link to a file, and where it leads; ``unread`` of each folder that cannot be listed, and why; ``inner`` of each folder
    below a path that git keeps as a work tree of its own: a submodule, a clone; ``listed`` of each folder and all that is in it.
    """
    seen: set[Path] = set()
    home = os.path.realpath(root)
    for path in paths:
        for found, is_link in (
            [(path, path.is_symlink())] if path.is_file() else _walk_folder(path, tuple(suffixes), unread, inner, listed)
        ):
            if found in seen:
                continue
            seen.add(found)
            if is_link:
                real = os.path.realpath(found)
                if linked is not None:
                    linked(found, Path(real))
                if not _inside(real, home):
                    continue
            yield found


def _inside(real: str, home: str) -> bool:
    return real.startswith(home.rstrip(os.sep) + os.sep)


def _walk_folder(
    folder: Path,
    suffixes: tuple[str, ...],
    unread: Callable[[Path, Reason], object] | None,
    inner: Callable[[str], object] | None,
    listed: Callable[[str, Sequence[os.DirEntry[str]]], object] | None,
) -> Iterator[tuple[Path, bool]]:
    """The files of a folder and whether each is a link, then those of the folders in it; a listing tells both without asking for each."""
    todo = [str(folder)]
    while todo:
        at = todo.pop()
        try:
            with os.scandir(at) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as why:
            if unread is not None:
                unread(Path(at), make_unreadable_reason(why))
            continue
        if listed is not None:
            listed(at, entries)
        if inner is not None and at != str(folder) and any(entry.name == ".git" for entry in entries):
            inner(at)
        folders = {entry.name: entry for entry in entries if is_folder(entry)}
        bare = {entry.name for entry in entries if "." not in entry.name} - folders.keys()
        bare = bare if len(bare) <= FEW else set()  # more of them are data
        # A folder that the user names is read even where an environment was made in it: its packages lie under site-packages.
        if at != str(folder) and any(entry.name == "pyvenv.cfg" for entry in entries if entry.name not in folders):
            continue
        for entry in entries:
            wanted = entry.name.endswith(suffixes) or (entry.name in bare and _is_script(entry))
            if wanted and entry.name not in folders and _is(entry, os.DirEntry.is_file):
                yield Path(entry.path), entry.is_symlink()
        inside = (entry for name, entry in folders.items() if name not in SKIPPED_FOLDERS and not entry.is_symlink())
        todo += [entry.path for entry in inside][::-1]


def _is_script(entry: os.DirEntry[str]) -> bool:
    """Whether a plain file begins as one that a shell reads."""
    try:
        if entry.is_symlink() or not entry.is_file():
            return False
        with open(entry.path, "rb") as file:  # noqa: PTH123 - for every file without an ending
            return SCRIPT.match(file.read(80)) is not None
    except OSError:
        return False


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or a link to one."""
    return _is(entry, os.DirEntry.is_dir)


def _is(entry: os.DirEntry[str], kind: Callable[[os.DirEntry[str]], bool]) -> bool:
    try:
        return kind(entry)
    except OSError:  # a link that leads nowhere a file can be
        return False


def content(path: Path, root: Path, known: bytes = b"") -> bytes | Reason:
    """A plain file's bytes; the reason where it is none, lies outside the root once links are followed, or is too large.

    ``known``: its bytes, where somebody holds them already and they need not be there twice.
    """
    found = _read_content(path, root, known)
    if found is not known or not known:  # else it was noted when it was read
        note(path, None if isinstance(found, Reason) else found)
    return found


def _read_content(path: Path, root: Path, known: bytes) -> bytes | Reason:
    try:
        if not _inside(os.path.realpath(path), os.path.realpath(root)):
            return Reason.of("skipped-outside")
        if (data := find_unsaved_text(path)) is not None:
            return data
        # a pipe would keep us waiting for a writer
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return Reason.of("skipped-no-file")
            if status.st_size > MAX_BYTES:
                return Reason.of("skipped-too-large", limit=MAX_BYTES // 1_000_000)
            data = file.read(MAX_BYTES)
            return known if data == known else data
    except OSError as why:
        return make_unreadable_reason(why)


def make_unreadable_reason(why: OSError) -> Reason:
    """What to say of a file or folder that the system does not let us read."""
    return Reason.of("skipped-unreadable", why=why.strerror or why)


def read(path: Path, root: Path, known: bytes = b"") -> Source | Skipped:
    """Read a Python file as its encoding cookie says; a file that would not come back byte for byte is skipped; ``known`` as in ``content``."""
    name = path.relative_to(root).as_posix()
    data = content(path, root, known)
    if isinstance(data, Reason):
        return Skipped(name, data)
    try:
        encoding = _detect_encoding(data)
        text = data.decode(encoding)
    except (SyntaxError, LookupError, UnicodeDecodeError) as why:
        return Skipped(name, Reason.of("skipped-encoding", why=why))
    if "\0" in text:
        return Skipped(name, Reason.of("skipped-nul"))
    if text.encode(encoding) != data:
        return Skipped(name, Reason.of("skipped-encoding", why=encoding))
    return Source(path, name, data, text, encoding)


def _detect_encoding(data: bytes) -> str:
    """The encoding of a Python file. Raises SyntaxError or LookupError for one that is none."""
    head = b"".join(data.split(b"\n", 2)[:2])
    if b"coding" not in head and head.isascii():
        return "utf-8"
    import tokenize  # with the first file that may say something else

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    codecs.lookup(encoding)
    return encoding


def read_text(path: Path, root: Path, known: bytes = b"") -> Source | Skipped:
    """Read a configuration or launch file, which is UTF-8 with or without a byte order mark; any other is skipped; ``known`` as in ``content``."""
    name = path.relative_to(root).as_posix()
    data = content(path, root, known)
    if isinstance(data, Reason):
        return Skipped(name, data)
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        return Skipped(name, Reason.of("skipped-not-utf-8", Meaning.NO_TEXT, line=line))
    if "\0" in text:
        return Skipped(name, Reason.of("skipped-not-text", Meaning.NO_TEXT))
    return Source(path, name, data, text, encoding)


def read_loosely(path: Path, root: Path, known: bytes = b"") -> Source | Skipped:
    """Read a text file that is never written, whatever its encoding: what is not plain ASCII in it may be wrong; ``known`` as in ``content``."""
    made = read_text(path, root, known)
    if isinstance(made, Source):
        return made
    found = content(path, root, known) if made.reason.means is Meaning.NO_TEXT else b"\0"
    data = b"\0" if isinstance(found, Reason) else found
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin-1"
    text = data.decode(encoding, "replace")
    return made if "\0" in text else Source(path, made.name, data, text, encoding)
