"""A patch as ``git diff`` prints it, made in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ddp_codemod.model import FileChange
from ddp_codemod.patch.blob import Blob, blob_id
from ddp_codemod.patch.myers import Run, find_changed_lines, find_runs
from ddp_codemod.patch.quote import quote_name, raw_name
from ddp_codemod.patch.slide import settle_runs

CONTEXT = 3
_HEADING = 80  # bytes of a section heading
_NO_BLOB = Blob(b"", "0" * 40, "100644")


def format_git_diff(changes: Sequence[FileChange], blobs: Mapping[str, Blob] | None = None) -> bytes:
    """The changes in git's own format, by name; ``git apply`` takes it.

    ``blobs`` (by ``FileChange.name``) says how the repository names and holds the files; a change without one is shown as it is.
    Names that lead to one file give one patch.
    """
    return join_diffs(format_file_diffs(changes, blobs), blobs)


def format_file_diffs(changes: Sequence[FileChange], blobs: Mapping[str, Blob] | None = None) -> dict[str, bytes]:
    """The same, each change for itself, by ``FileChange.name``."""
    known = blobs or {}
    digits = min((blob.abbreviation for blob in known.values()), default=7)
    return {
        change.name: _format_file_diff(_path_of(change.name, known), change, known.get(change.name, _NO_BLOB), digits)
        for change in changes
    }


def join_diffs(diffs: Mapping[str, bytes], blobs: Mapping[str, Blob] | None = None) -> bytes:
    """One patch of those of the files."""
    parts: dict[bytes, bytes] = {}
    for name, part in diffs.items():
        parts.setdefault(_path_of(name, blobs or {}), part)
    return b"".join(parts[path] for path in sorted(parts))


def _path_of(name: str, blobs: Mapping[str, Blob]) -> bytes:
    return raw_name(blobs.get(name, _NO_BLOB).name or name)


def _format_file_diff(name: bytes, change: FileChange, blob: Blob, digits: int) -> bytes:
    before, after = blob.stored(change.before), blob.stored(change.after)
    if before == after:
        return b""
    old, new = quote_name(b"a/" + name), quote_name(b"b/" + name)
    tab = b"\t" if b" " in name else b""  # tells patch programs where a name with spaces ends
    ids = (blob_id(before, len(blob.oid))[: blob.abbreviation], blob_id(after, len(blob.oid))[:digits])
    head = [
        b"diff --git " + old + b" " + new,
        f"index {ids[0]}..{ids[1]} {blob.mode}".encode("ascii"),
        b"--- " + old + tab,
        b"+++ " + new + tab,
    ]
    return b"".join([*(line + b"\n" for line in head), *format_hunks(before, after)])


def format_hunks(before: bytes, after: bytes) -> Iterator[bytes]:
    """The lines of all hunks of a unified diff, from their ``@@`` on."""
    old, new = _split_lines(before), _split_lines(after)
    gone, put = find_changed_lines(old, new)
    settle_runs(old, gone, new, put)
    settle_runs(new, put, old, gone)
    group: list[Run] = []
    for change in find_runs(gone, put):
        if group and change.start - group[-1].end > 2 * CONTEXT:
            yield from _format_hunk(old, new, group)
            group = []
        group.append(change)
    if group:
        yield from _format_hunk(old, new, group)


def _split_lines(text: bytes) -> list[bytes]:
    # git's lines end at \n only: splitlines() would cut at \r and \f too
    return [line + b"\n" for line in text.split(b"\n")[:-1]] + (
        [text[text.rfind(b"\n") + 1 :]] if not text.endswith(b"\n") and text else []
    )


def _format_hunk(old: Sequence[bytes], new: Sequence[bytes], group: Sequence[Run]) -> Iterator[bytes]:
    first, last = group[0], group[-1]
    start, new_start = max(first.start - CONTEXT, 0), max(first.new_start - CONTEXT, 0)
    end, new_end = min(last.end + CONTEXT, len(old)), min(last.new_end + CONTEXT, len(new))
    yield b"@@ -%b +%b @@%b\n" % (_format_range(start, end), _format_range(new_start, new_end), find_heading(old, start))
    at = start
    for change in group:
        yield from (_format_line(b" ", line) for line in old[at : change.start])
        yield from (_format_line(b"-", line) for line in old[change.start : change.end])
        yield from (_format_line(b"+", line) for line in new[change.new_start : change.new_end])
        at = change.end
    yield from (_format_line(b" ", line) for line in old[at:end])


def _format_range(start: int, end: int) -> bytes:
    count = end - start
    first = start + 1 if count else start
    return b"%d" % first if count == 1 else b"%d,%d" % (first, count)


def _format_line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"


def find_heading(old: Sequence[bytes], start: int) -> bytes:
    """The nearest line above the hunk that begins with a letter, "_" or "$": what git shows for a file without a diff driver."""
    for row in range(start - 1, -1, -1):
        line = old[row]
        if line[:1].isalpha() or line[:1] in (b"_", b"$"):
            text = line[:_HEADING].rstrip(b" \t\n\v\f\r")
            try:
                text.decode("utf-8")
            except UnicodeDecodeError as why:
                text = text[: why.start]
            return b" " + text
    return b""
