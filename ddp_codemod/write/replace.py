"""Replaces a set of files: all of them, or none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.write import atomic
from ddp_codemod.write.errors import ChangedMeanwhile, OutsideRoot, PutBackFailed, WriteFailed


class Replacement(Struct, frozen=True):
    """One file: its real place, the bytes it must hold now, those it gets, and the mode it gets."""

    name: str
    target: Path
    before: bytes
    after: bytes
    status: os.stat_result
    temporary: Path

    def holds(self, data: bytes) -> bool:
        """Whether the file has these bytes now."""
        try:
            return self.target.read_bytes() == data
        except OSError:
            return False


def real_target(root: Path, name: str) -> Path:
    """The plain file that a name leads to once links are followed. Raises OutsideRoot when it does not lie under the root."""
    home = os.path.realpath(root)
    target = os.path.realpath(Path(home, name))
    try:
        inside = os.path.commonpath([home, target]) == home
        plain = stat.S_ISREG(Path(target).stat().st_mode)
    except (OSError, ValueError):  # it is gone, or on another drive
        inside = plain = False
    if not inside or not plain:
        raise OutsideRoot([name])
    return Path(target)


def replace_all(files: Sequence[Replacement], journal: Path, commit: Callable[[], object]) -> None:
    """Write every file or none: all new files are on the disk before the first takes its place, ``commit`` comes last.

    Raises ChangedMeanwhile, WriteFailed, or PutBackFailed (the only case in which files stay changed).
    """
    try:
        for file in files:
            atomic.stage_file(file.temporary, file.after, file.status, file.target)
        done: list[Replacement] = []
        try:
            for file in files:
                # noted before it is done: a signal may come in between
                done.append(file)
                if not atomic.put_over(file.temporary, file.target, file.before, file.after):
                    raise ChangedMeanwhile([file.name])
            if late := [file.name for file in files if file.temporary.exists() and file.temporary.read_bytes() != file.before]:
                raise ChangedMeanwhile(late)  # by an editor that held the old file open
            for folder in sorted({file.target.parent for file in files}):
                atomic.sync_folder(folder)
            commit()
        except BaseException:
            _put_back(done, journal)
            raise
    except OSError as why:
        raise WriteFailed(_find_named_files(files, why), why=why.strerror or why) from why
    finally:
        for file in files:
            atomic.discard_file(file.temporary)


def _put_back(done: Sequence[Replacement], journal: Path) -> None:
    lost = []
    why: OSError | None = None
    for file in reversed(done):
        try:
            if file.target.read_bytes() != file.after:
                continue  # it never took its place, or somebody wrote there since
            if file.temporary.exists() and (old := file.temporary.read_bytes()) != file.after:
                atomic.put_over(file.temporary, file.target, file.after, old)  # what was replaced, be it an edit made meanwhile
            else:
                atomic.discard_file(file.temporary)
                atomic.stage_file(file.temporary, file.before, file.status, file.target)
                atomic.put_over(file.temporary, file.target, file.after, file.before)
        except OSError as failure:
            lost.append(file.name)
            why = failure
    if why is not None:
        raise PutBackFailed(sorted(lost), journal=journal, why=why.strerror or why) from why


def _find_named_files(files: Sequence[Replacement], why: OSError) -> list[str]:
    paths = {os.fspath(path) for path in (why.filename, why.filename2) if path is not None}
    return [file.name for file in files if {str(file.target), str(file.temporary), str(file.target.parent)} & paths]
