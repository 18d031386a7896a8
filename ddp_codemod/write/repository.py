"""What git knows about the files of a project, asked by commands that run nothing of the repository.

A file is compared by hashing: git never reads the file itself, so that no filter is started. A few processes do for any
number of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ddp_codemod.patch.blob import Blob, LineEnds, blob_id
from ddp_codemod.patch.quote import raw_name
from ddp_codemod.write.errors import RepositoryUnreadable
from ddp_codemod.write.git import Answer, Git, GitMissing
from ddp_codemod.write.untrusted_repository import find_blocking_attributes

_ATTRIBUTES = ("text", "crlf", "eol", "filter", "ident", "working-tree-encoding")
_MANY = 20_000  # bytes of names on a command line; Windows takes 32 kB


def find_blobs(root: Path, names: Sequence[str]) -> dict[str, Blob]:
    """What the repository holds for each file, for a patch.

    Empty outside git, without git installed and where git refuses to read.
    """
    try:
        return read_blobs(root, names)
    except RepositoryUnreadable:
        return {}


def read_blobs(root: Path, names: Sequence[str]) -> dict[str, Blob]:
    """The same; raises RepositoryUnreadable where git refuses (another owner's folder, a broken index).

    A file below another repository (a submodule, a clone) is looked up in that one. Links are followed. A file that the index
    does not know has a blob without bytes, which says what git would do to its line ends.
    """
    home = Path(os.path.realpath(root))
    repositories: dict[Path, dict[str, str]] = {}
    for name in names:
        file = Path(os.path.realpath(home / name))
        top = top_of(file.parent)
        if top is not None:
            repositories.setdefault(top, {})[name] = file.relative_to(top).as_posix()
    found: dict[str, Blob] = {}
    base = top_of(home)
    for top, paths in repositories.items():
        # git apply reads names from the top of the repository that it is started in
        start = top.relative_to(base).as_posix() if base and base != top and top.is_relative_to(base) else ""
        if base is None:
            start = os.path.relpath(top, home).replace(os.sep, "/")
        try:
            read = _read_index(Git.at(top), top, sorted(set(paths.values())), start + "/" if start else "")
        except GitMissing:
            return {}
        found |= {name: read[path] for name, path in paths.items() if path in read}
    return found


def top_of(folder: Path) -> Path | None:
    """The top of the work tree that a folder lies in, if it lies in one."""
    return next((at for at in (folder, *folder.parents) if os.path.lexists(at / ".git")), None)


def _read_index(git: Git, top: Path, paths: Sequence[str], start: str) -> dict[str, Blob]:
    listed = paths if sum(len(raw_name(path)) + 1 for path in paths) < _MANY else []
    answer = git.run("ls-files", "--stage", "-z", "--", *listed)
    if answer.code:
        if "not a git repository" in answer.error:
            return {}
        raise RepositoryUnreadable(why=answer.error)
    index = _parse_entries(answer.out)
    short = _parse_entries(_check_answer(git.run("ls-files", "--stage", "-z", "--abbrev", "--", *listed)).out)
    if (pipe := find_blocking_attributes(top, paths)) is not None:
        raise RepositoryUnreadable(why=f"{pipe}: not a regular file")
    rules = _read_attributes(git, paths)
    digits = 64 if git.settings.values.get("extensions.objectformat") == "sha256" else 40
    found: dict[str, Blob] = {}
    unlike: dict[str, list[str]] = {}
    for path in paths:
        line_ends, converter = _find_conversion(rules.get(path, {}), git.settings.values.get("core.autocrlf", ""), git)
        mode, oid = index.get(path, ("", "0" * digits))
        content, executable = _read_content(top / path)
        data = b"" if path not in index else _match_content(content, oid)
        if data is None:
            unlike.setdefault(oid, []).append(path)
        abbreviation = len(short[path][1]) if path in short else 7
        mode = mode or ("100755" if executable else "100644")
        found[path] = Blob(data or b"", oid, mode, start + path, line_ends, abbreviation, converter)
    for oid, data in _read_contents(git, list(unlike)).items():
        for path in unlike[oid]:
            blob = found[path]
            found[path] = Blob(data, oid, blob.mode, blob.name, blob.line_ends, blob.abbreviation, blob.converter)
    return found


def _check_answer(answer: Answer) -> Answer:
    if answer.code:
        raise RepositoryUnreadable(why=answer.error)
    return answer


def _parse_entries(listing: bytes) -> dict[str, tuple[str, str]]:
    """(mode, id) of each path: ``mode SP id SP stage TAB path NUL``. In the middle of a merge the id is one that no file has."""
    found = {}
    for line in listing.split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        mode, oid, stage = head.decode("ascii").split(" ")
        found[_decode_name(path)] = (mode, oid if stage == "0" else "f" * len(oid))
    return found


def _decode_name(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape") if os.name == "nt" else os.fsdecode(path)


def _read_attributes(git: Git, paths: Iterable[str]) -> dict[str, dict[str, str]]:
    listing = b"".join(raw_name(path) + b"\0" for path in paths)
    fields = _check_answer(git.run("check-attr", "-z", "--stdin", *_ATTRIBUTES, stdin=listing)).out.split(b"\0")[:-1]
    found: dict[str, dict[str, str]] = {}
    for path, attribute, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        found.setdefault(_decode_name(path), {})[attribute.decode("ascii")] = value.decode("utf-8", "replace")
    return found


def _find_conversion(rules: Mapping[str, str], autocrlf: str, git: Git) -> tuple[LineEnds, str]:
    """What git does to line ends (gitattributes(5)), and the attribute that changes the bytes in yet another way."""
    text = {"set": LineEnds.TEXT, "input": LineEnds.TEXT, "auto": LineEnds.AUTO, "unset": LineEnds.KEEP}
    line_ends = text.get(rules.get("text", "")) or text.get(rules.get("crlf", ""))
    if line_ends is None or line_ends is LineEnds.TEXT:
        if rules.get("eol") in ("lf", "crlf"):
            line_ends = LineEnds.TEXT
    if line_ends is None:
        converts = autocrlf == "input" or git.settings.flag("core.autocrlf")
        line_ends = LineEnds.AUTO if converts else LineEnds.KEEP
    others = (
        name for name in ("filter", "ident", "working-tree-encoding") if rules.get(name, "unset") not in ("unspecified", "unset")
    )
    return line_ends, next(others, "")


def _read_content(path: Path) -> tuple[bytes, bool]:
    try:
        return path.read_bytes(), bool(path.stat().st_mode & 0o100)
    except OSError:
        return b"", False


def _match_content(content: bytes, oid: str) -> bytes | None:
    """The bytes behind an id, if they are the file's, with or without its CRLF line ends."""
    candidates = (content, content.replace(b"\r\n", b"\n"))
    return next((data for data in candidates if blob_id(data, len(oid)) == oid), None)


def _read_contents(git: Git, oids: Sequence[str]) -> dict[str, bytes]:
    """The bytes of blobs; one that is not there (a partial clone) is omitted."""
    if not oids:
        return {}
    out = _check_answer(git.run("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"))).out
    found: dict[str, bytes] = {}
    at = 0
    for oid in oids:
        end = out.index(b"\n", at)
        head, at = out[at:end].split(b" "), end + 1
        if head[-1] != b"missing":
            size = int(head[2])
            found[oid] = out[at : at + size]
            at += size + 1
    return found
