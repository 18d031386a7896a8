"""Answers of earlier runs, kept in the user's cache folder for as long as nothing that they were worked out from has changed.

An answer is beside the digest of every file that was read for it and of the listing of all folders. It is taken only where all
of them are as they were, for the same question, asked of the same release and rules by the same Python. Nothing is unpickled: an
entry is data, checked by a checksum and against the types, and one that does not fit is as good as none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ddp_codemod.discover.file_digests import FileDigests, digest_of, note_again, read_current_bytes, recording
from ddp_codemod.discover.listing import Listing
from ddp_codemod.model import Source, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.rebuild import rebuild_source
from ddp_codemod.run.version_stamp import version_stamp
from ddp_codemod.user_cache import find_cache_folder, keep_file, read_own_bytes

WORTH = 300_000  # bytes read; what is worked out of less takes no longer than looking it up
MOST, MOST_BYTES = 300, 200_000_000
SUFFIX = ".answer"
_SUM = 32  # bytes of the checksum in front


class Entry(Struct, frozen=True, array_like=True):
    """One answer, and what it was worked out from."""

    listing: bytes
    reads: dict[str, bytes]
    sources: dict[str, str]  # names, and the encodings that they are read in
    answer: Raw


def answers_folder() -> Path:
    """Where the answers are."""
    return find_cache_folder() / "answers"


def answer_from_cache(options: Options, listing: Listing, work_out: Callable[[], Survey]) -> Survey:
    """The answer to a question about a project: a kept one where nothing changed, else what ``work_out`` finds, which is kept."""
    place = _find_place(options, listing)
    if place is None:
        return work_out()
    state = listing.fingerprint()
    if (found := _read_answer(place, state, listing)) is not None:
        return found
    with recording() as reads:
        found = work_out()
    if reads.steady and reads.size >= WORTH:
        with suppress(OSError, RuntimeError):
            _write_answer(place, state, reads, found)
    return found


def _find_place(options: Options, listing: Listing) -> Path | None:
    """The file of the answer to a question; None where no file may hold it."""
    try:
        folder = Path(os.path.realpath(answers_folder()))
    except (OSError, RuntimeError):  # no home
        return None
    if folder.is_relative_to(os.path.realpath(listing.root)):
        return None
    question = replace(options, paths=(), root=None, progress=None, keep=None)
    parts = [path.as_posix() for path in (listing.root, *(listing.programs[:1]))]
    known = blake2b(version_stamp(), digest_size=16)
    try:
        known.update(msgspec.msgpack.encode(question))
    except (TypeError, ValueError):
        return None
    known.update(repr((parts, listing.under, os.path.realpath(listing.root))).encode("utf-8", "surrogateescape"))
    return folder / f"{known.hexdigest()}{SUFFIX}"


def _read_answer(place: Path, state: bytes, listing: Listing) -> Survey | None:
    content = read_own_bytes(place)
    if content is None or blake2b(content[_SUM:], digest_size=_SUM).digest() != content[:_SUM]:
        return None
    try:
        entry = msgspec.msgpack.decode(memoryview(content)[_SUM:], type=Entry)
        if entry.listing != state:
            return None
        wanted = {os.fspath(listing.root / name): name for name in entry.sources}
        sources: dict[str, Source] = {}
        for path, digest in entry.reads.items():
            data = read_current_bytes(path)
            if digest_of(data) != digest:
                return None
            if data is not None and (name := wanted.get(os.path.normpath(path))) is not None:
                if (source := rebuild_source(Path(path), name, data, entry.sources[name])) is not None:
                    sources[name] = source
        if len(sources) != len(entry.sources):
            return None
        found = _decode_answer(bytes(entry.answer))
    except (msgspec.MsgspecError, LookupError, ValueError):
        return None
    note_again(entry.reads)  # a run around this one has read them too
    with suppress(OSError):
        os.utime(place)  # the last one to be thrown away
    return replace(found, sources={name: sources[name] for name in entry.sources})


def _write_answer(place: Path, state: bytes, reads: FileDigests, found: Survey) -> None:
    """Keep an answer. Whoever reads meanwhile sees the old file or the new one, whole."""
    encodings = {name: source.encoding for name, source in found.sources.items() if _can_rebuild(source)}
    bare = replace(found, sources={})
    try:
        answer = msgspec.msgpack.encode(bare, enc_hook=_encode_value)
        if len(encodings) != len(found.sources) or _decode_answer(answer) != bare:
            return
        content = msgspec.msgpack.encode(Entry(state, reads.digests, encodings, Raw(answer)))
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):  # a name that is no text, a value of a strange type
        return
    keep_file(place, blake2b(content, digest_size=_SUM).digest() + content, MOST, MOST_BYTES)


def _can_rebuild(source: Source) -> bool:
    """Whether a source can be made again of its bytes."""
    with suppress(LookupError, ValueError):
        return rebuild_source(source.path, source.name, source.data, source.encoding) == source
    return False


def clear_answers() -> int:
    """Throw all answers away, and tell how many there were. Raises OSError where one cannot be removed."""
    folder = answers_folder()
    paths = list(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        path.unlink(missing_ok=True)
    return sum(path.suffix == SUFFIX for path in paths)


def _encode_value(value: Any) -> Any:
    if isinstance(value, Path):
        return os.fspath(value)
    raise TypeError(type(value))


def _decode_answer(answer: bytes) -> Survey:
    return msgspec.msgpack.decode(answer, type=Survey, dec_hook=lambda kind, value: kind(value))
