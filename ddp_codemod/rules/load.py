"""Reads the rule data: TOML files under ``rules/``, and those that a user adds in the same layout."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from ddp_codemod.kept import kept
from ddp_codemod.rules.advisory import Advice, AdviceFile
from ddp_codemod.rules.idioms import Alias, AliasFile, Idioms
from ddp_codemod.rules.model import Backend, BackendFile, Fix, Platform, Surface, SurfaceFile
from ddp_codemod.rules.objects import TextObject
from ddp_codemod.rules.packages import Machines, Package, PackageFile
from ddp_codemod.rules.processes import Processes
from ddp_codemod.rules.signature import DiagnosticFile, Hint, Signature

MOST = 1_000_000  # bytes of one file
T = TypeVar("T")


class RuleError(Exception):
    """A rule file that cannot be used: names the file, the line, what was expected and what to do."""


class Rules(Struct, frozen=True):
    """All rule data, by id."""

    platforms: dict[str, Platform] = field(default_factory=dict)
    surfaces: dict[str, Surface] = field(default_factory=dict)
    frameworks: dict[str, str] = field(default_factory=dict)  # by surface
    fixes: dict[str, Fix] = field(default_factory=dict)
    backends: dict[str, Backend] = field(default_factory=dict)
    idioms: list[Idioms] = field(default_factory=list)
    objects: dict[str, list[TextObject]] = field(default_factory=dict)  # by table
    packages: dict[str, Package] = field(default_factory=dict)
    machines: list[Machines] = field(default_factory=list)
    advice: dict[str, Advice] = field(default_factory=dict)
    processes: list[Processes] = field(default_factory=list)

    def rule(self, ident: str) -> Fix | Advice | None:
        """What an edit names as its reason."""
        return self.fixes.get(ident) or self.advice.get(ident)

    def missing_on(self, platform: str) -> frozenset[str]:
        """The qualified names that a platform's packages do not have: importing them fails there."""
        return frozenset(name for surface in self.surfaces.values() if platform in surface.missing_on for name in surface.names)


class Diagnostics(Struct, frozen=True):
    """All known errors, and what logs say about the machines that wrote them, by id."""

    signatures: dict[str, Signature] = field(default_factory=dict)
    hints: dict[str, Hint] = field(default_factory=dict)


def data_folder() -> Path:
    """The folder of the rule data: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "rules"


@lru_cache(maxsize=4)
def load(extra: tuple[Path, ...] = ()) -> Rules:
    """Read the shipped rules and the folders in ``extra``.

    Raises RuleError for a file that is no TOML, breaks the schema or repeats an id.
    """
    return kept("rules", Rules, (data_folder(), *extra), lambda: _read(extra))


def _read(extra: tuple[Path, ...]) -> Rules:
    rules = Rules()
    aliases: list[Alias] = []
    seen: dict[tuple[str, str], Path] = {}
    for folder in (data_folder(), *extra):
        if not folder.is_dir():
            raise RuleError(f"{folder}: no such folder of rules; expected one with platforms/, surfaces/ or fixes/ in it")
        for path in sorted(folder.glob("surfaces/*.toml")):
            file = _decode(path, SurfaceFile)
            _add(rules.surfaces, file.surface, path, "surface", seen)
            rules.frameworks.update((surface.id, file.framework) for surface in file.surface)
            for entry in file.object:
                rules.objects.setdefault(entry.table, []).append(entry)
        for path in sorted(folder.glob("platforms/*.toml")):
            _add(rules.platforms, [_decode(path, Platform)], path, "platform", seen)
        for path in sorted(folder.glob("fixes/*.toml")):
            _add(rules.fixes, [_decode(path, Fix)], path, "rule", seen)
        for path in sorted(folder.glob("advisories/*.toml")):
            _add(rules.advice, _decode(path, AdviceFile).advice, path, "advice", seen)
        if (path := folder / "backends.toml").is_file():
            known = {backend.name: backend for backend in _decode(path, BackendFile).backend}
            rules.backends.update(known)
        if (path := folder / "versions.toml").is_file():
            stated = _decode(path, PackageFile)
            rules.packages.update({package.name: package for package in stated.package})
            rules.machines.extend(stated.machines)
        if (path := folder / "aliases.toml").is_file():
            aliases += _decode(path, AliasFile).alias
        if (path := folder / "idioms.toml").is_file():
            rules.idioms.append(_decode(path, Idioms))
        if (path := folder / "processes.toml").is_file():
            rules.processes.append(_decode(path, Processes))
    _check_references(rules, seen)
    _add_facts(rules)
    _add_aliases(rules, aliases)
    return rules


@lru_cache(maxsize=4)
def load_diagnostics(extra: tuple[Path, ...] = ()) -> Diagnostics:
    """Read the error signatures, the shipped ones and those of the folders; no other command waits for them.

    Raises RuleError as ``load`` does.
    """
    return kept("diagnostics", Diagnostics, (data_folder(), *extra), lambda: _read_diagnostics(extra))


def _read_diagnostics(extra: tuple[Path, ...]) -> Diagnostics:
    known = Diagnostics()
    seen: dict[tuple[str, str], Path] = {}
    for folder in (data_folder(), *extra):
        for path in sorted(folder.glob("diagnostics/*.toml")):
            file = _decode(path, DiagnosticFile)
            _add(known.signatures, file.signature, path, "signature", seen)
            _add(known.hints, file.hint, path, "hint", seen)
    for signature in known.signatures.values():
        for ident in (ident for cure in signature.cure for ident in (*cure.when, *cure.unless)):
            if ident not in known.hints:
                path = seen["signature", signature.id]
                line = _line_of(path.read_text("utf-8"), ident)
                said = f"signature {signature.id!r} asks for the hint {ident!r}, which no file defines"
                raise RuleError(f"{path}:{line}: {said}{nearest(ident, known.hints)}")
    return known


def _add_facts(rules: Rules) -> None:
    """Give every platform the facts that hold everywhere; its own come first."""
    for ident, platform in rules.platforms.items():
        shared = {name: fact for idioms in rules.idioms for name, fact in idioms.facts.items()}
        rules.platforms[ident] = msgspec.structs.replace(platform, facts={**shared, **platform.facts})


def _add_aliases(rules: Rules, aliases: Iterable[Alias]) -> None:
    """Give every platform that knows a fact the fact's other names too; what the platform says itself counts more."""
    for ident, platform in rules.platforms.items():
        other = {name: platform.facts[alias.fact] for alias in aliases if alias.fact in platform.facts for name in alias.names}
        rules.platforms[ident] = msgspec.structs.replace(platform, facts={**other, **platform.facts})


def _add(table: dict[str, T], entries: Iterable[T], path: Path, kind: str, seen: dict[tuple[str, str], Path]) -> None:
    for entry in entries:
        ident: str = entry.id  # type: ignore[attr-defined]
        if ident in table:
            raise RuleError(f"{path}: {kind} {ident!r} is already defined in {seen[kind, ident]}; give it another id")
        table[ident] = entry
        seen[kind, ident] = path


def _check_references(rules: Rules, seen: dict[tuple[str, str], Path]) -> None:
    for platform in rules.platforms.values():
        for ident in platform.rules:
            if ident not in rules.fixes:
                path = seen["platform", platform.id]
                line = _line_of(path.read_text("utf-8"), ident)
                said = f"platform {platform.id!r} asks for the rule {ident!r}, which no file defines"
                raise RuleError(f"{path}:{line}: {said}{nearest(ident, rules.fixes)}")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or "" when none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _line_of(text: str, word: str) -> int:
    found = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _decode(path: Path, kind: type[T]) -> T:
    from ddp_codemod.toml import tomllib

    try:
        if not path.is_file():  # a pipe would keep us waiting
            raise RuleError(f"{path}:1: no plain file")
        if path.stat().st_size > MOST:
            raise RuleError(f"{path}:1: larger than {MOST // 1000} kB; split it")
        text = path.read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as why:
        raise RuleError(f"{path}:1: cannot be read: {why}") from None
    except RecursionError:
        raise RuleError(f"{path}:1: nested too deeply") from None
    except tomllib.TOMLDecodeError as why:
        line = re.search(r"line (\d+)", str(why))
        raise RuleError(f"{path}:{line.group(1) if line else 1}: not valid TOML: {why}") from None
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as why:
        said = str(why)
        # "Object contains unknown field `x` - at `$.y`", "Expected `str`, got `int` - at `$.y.x`"
        word = re.search(r"unknown field `([^`]+)`", said)
        place = re.search(r" - at `(?:key in )?\$([^`]*)`", said)
        line_number = _line_at(text, (place.group(1) if place else "") + (f".{word.group(1)}" if word else ""))
        hint = nearest(word.group(1), _fields(kind)) if word else ""
        raise RuleError(f"{path}:{line_number}: {said}{hint}; the schema is rules/schema.json") from None


def _line_at(text: str, place: str) -> int:
    """The line of a key by its place, such as ``.surface[1].parameters[0].role``; its table's where the key is not there."""
    at = 0
    for name, number in re.findall(r"\.([\w-]+)(?:\[(\d+|\.\.\.)\])?", place):
        tables = list(re.finditer(rf"^[ \t]*\[\[?[\w.\"-]*\b{re.escape(name)}\]", text[at:], re.M))
        keys = re.search(rf"(?<![\w-])\"?{re.escape(name)}\"?[ \t]*=", text[at:])
        if tables and (number or keys is None):
            at += tables[min(int(number) if number.isdigit() else 0, len(tables) - 1)].start()
        elif keys is not None:
            at += keys.start()
    return text.count("\n", 0, at) + 1


def _fields(kind: type) -> set[str]:
    """Every field name of a schema type and those inside it."""
    names: set[str] = set()
    for definition in msgspec.json.schema(kind).get("$defs", {}).values():
        names.update(definition.get("properties", {}))
    return names
