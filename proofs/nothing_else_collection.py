"""The small whole programs of ``proofs/programs``, and the sets of them that came later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import tomllib

PROGRAMS = Path(__file__).resolve().parent / "programs"
PLATFORMS = ("rocm", "windows", "ascend")

_PATH_LINE = re.compile(r"^-- (\S+) --$", re.MULTILINE)
_NAME_LINE = re.compile(r"^=== (\S+)$", re.MULTILINE)
_KEYS = frozenset({"command", "commands", "platforms", "why", "arrives", "needs", "known"})


@dataclass
class Program:
    """One project of the collection."""

    kind: str
    name: str
    commands: list[str]
    platforms: list[str]
    why: str
    arrives: str
    files: dict[str, str]
    needs: list[str]  # packages of others that it imports
    known: dict[str, str]  # what is known not to be the same: by platform, or by "portable PLATFORM"

    @property
    def title(self) -> str:
        return f"{self.kind}/{self.name}"

    @property
    def missing(self) -> list[str]:
        """The packages that it needs and that are not here."""
        return [name for name in self.needs if find_spec(name) is None]


def read(text: str, kind: str, name: str) -> Program:
    """The program of this text."""
    parts = _PATH_LINE.split(text)
    head = tomllib.loads(parts[0])
    if strange := set(head) - _KEYS:
        raise SystemExit(f"{kind}/{name}: unknown keys {sorted(strange)}")
    files = {name: body.lstrip("\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    return Program(
        kind=kind,
        name=name,
        commands=head.get("commands") or [head["command"]],
        platforms=head.get("platforms", list(PLATFORMS)),
        why=head.get("why", ""),
        arrives=head.get("arrives", ""),
        files=files,
        needs=head.get("needs", []),
        known=head.get("known", {}),
    )


def _every() -> Iterator[Program]:
    for path in sorted(PROGRAMS.glob("*/*.txt")):
        yield read(path.read_text(encoding="utf-8"), path.parent.name, path.stem)
    for path in sorted(PROGRAMS.glob("*.txt")):
        parts = _NAME_LINE.split(path.read_text(encoding="utf-8"))
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            yield read(f"{parts[0]}{text}", path.stem, name)


def collection(wanted: str = "") -> list[Program]:
    """All programs whose KIND/NAME has one of these texts, which commas part."""
    return [program for program in _every() if any(one in program.title for one in wanted.split(","))]


def lay_out(program: Program, root: Path) -> None:
    """Write the files of the program."""
    for name, body in program.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
        if name.endswith(".sh"):
            path.chmod(0o755)


def tree(root: Path) -> dict[str, Path]:
    """The files below this folder, by their name in it."""
    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
