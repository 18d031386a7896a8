"""``--record`` and ``--from-run``: a run of the project on record, and what is made of it later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ddp_codemod.cli.errors import make_failure
from ddp_codemod.cli.settings import command_line

if TYPE_CHECKING:
    from ddp_codemod.health import RecordedGroup


class _Frame(Struct):
    path: str
    line: int


class _Passed(Struct):
    positional: int
    keywords: list[str]


class _Taken(Struct):
    parameter: str
    position: int | None


class _Group(Struct):
    call: str
    backend: str | None
    via: list[str]
    ranks: list[str]
    stack: list[_Frame]
    span: list[int] | None
    passed: _Passed
    library_parameters: list[_Taken]
    string_line: int | None
    set_at_launch: bool
    machine_platform: str | None


class _Run(Struct):
    command: str
    files: dict[str, str]
    groups: list[_Group]


class _Record(Struct):
    version: int
    run: _Run


def write_record(path: Path, document: bytes) -> None:
    """Write the record of a run. Raises Failure."""
    from ddp_codemod.write.document import write_new

    try:
        write_new(path, document)
    except OSError as why:
        raise make_failure("output-failed", path=path, why=why.strerror or why) from None


def hash_files(root: Path, names: Iterable[str], since: float) -> dict[str, str]:
    """What files hold; "" for one that changed since a moment: its lines are not those that ran."""
    found: dict[str, str] = {}
    for name in names:
        path = root / name
        try:
            found[name] = "" if path.stat().st_mtime > since else _hash_file(path)
        except OSError:
            found[name] = ""
    return found


def _hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def machine(path: Path) -> str:
    """The platform of the machine that a run was recorded on, where that explains what differs from the code. Raises Failure."""
    return next((one.machine_platform for one in decoded(path).groups if one.machine_platform), "")


def decoded(path: Path) -> _Run:
    """What a record holds. Raises Failure for a file that is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Record).run
    except OSError as why:
        raise make_failure("run-record-unreadable", path=path, why=why.strerror or why) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as why:
        raise make_failure("run-record-none", path=path, why=why) from None


def read_record(path: Path, root: Path) -> tuple[RecordedGroup, ...]:
    """The groups on record, where the files that made them are still the same. Raises Failure."""
    run = decoded(path)
    if not run.groups:
        raise make_failure("run-record-empty", path=path)
    again = command_line(["ddp-codemod", "verify", "--run", run.command, "--record", str(path)])
    known = {frame.path for one in run.groups for frame in one.stack}
    missing = sorted(name for name in known if not (root / name).is_file())
    if missing:
        raise make_failure("run-record-elsewhere", *missing, path=path, root=root, command=again)
    changed = sorted(name for name in known if _hash_file(root / name) != run.files.get(name))
    if changed:
        raise make_failure("run-record-changed", *changed, path=path, command=again)
    return tuple(map(_decode_group, run.groups))


def _decode_group(one: _Group) -> RecordedGroup:
    from ddp_codemod.health import Frame, RecordedGroup

    return RecordedGroup(
        one.call,
        one.backend,
        tuple(Frame(frame.path, frame.line) for frame in one.stack),
        tuple(one.via),
        one.set_at_launch,
        tuple(one.ranks),
        tuple(one.span) if one.span else None,
        (one.passed.positional, tuple(one.passed.keywords)),
        tuple((taken.parameter, taken.position) for taken in one.library_parameters),
        one.string_line or 0,
    )
