"""Reads one TOML file of rule data against its types, and says what is wrong with it, and where."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import msgspec

MOST = 1_000_000  # bytes of one file
T = TypeVar("T")


class RuleError(Exception):
    """A rule file that cannot be used: names the file, the line, what was expected and what to do."""


def data_folder() -> Path:
    """The folder of the rule data: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "rules"


def decode(path: Path, kind: type[T]) -> T:
    """What a file holds. Raises RuleError."""
    from ddp_codemod import toml

    try:
        if not path.is_file():  # a pipe would keep us waiting
            raise RuleError(f"{path}:1: not a regular file")
        if path.stat().st_size > MOST:
            raise RuleError(f"{path}:1: larger than {MOST // 1000} kB; split it")
        text = path.read_text("utf-8")
        table = toml.loads(text)
    except (OSError, UnicodeDecodeError) as why:
        raise RuleError(f"{path}:1: cannot be read: {why}") from None
    except RecursionError:
        raise RuleError(f"{path}:1: nested too deeply") from None
    except toml.TooMuch as why:
        raise RuleError(f"{path}:1: {why}; split it") from None
    except ValueError as why:
        line = re.search(r"line (\d+)", str(why))
        raise RuleError(f"{path}:{line.group(1) if line else 1}: invalid TOML: {why}") from None
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as why:
        said = str(why)
        # "Object contains unknown field `x` - at `$.y`", "Expected `str`, got `int` - at `$.y.x`"
        word = re.search(r"unknown field `([^`]+)`", said)
        place = re.search(r" - at `(?:key in )?\$([^`]*)`", said)
        line_number = _find_key_line(text, (place.group(1) if place else "") + (f".{word.group(1)}" if word else ""))
        hint = format_nearest_hint(word.group(1), _list_field_names(kind)) if word else ""
        raise RuleError(f"{path}:{line_number}: {said}{hint}; the schema is rules/schema.json") from None


def add_entries(table: dict[str, T], entries: Iterable[T], path: Path, kind: str, seen: dict[tuple[str, str], Path]) -> None:
    """Add entries to a table by their ids. Raises RuleError for one that is there."""
    for entry in entries:
        ident: str = entry.id  # type: ignore[attr-defined]
        if not ident.isprintable():  # it is shown as it is
            raise RuleError(f"{path}: {kind} {ident!r}: an id must not contain line breaks or control characters")
        if ident in table:
            raise RuleError(f"{path}: {kind} {ident!r} is already defined in {seen[kind, ident]}; give it another id")
        table[ident] = entry
        seen[kind, ident] = path


def format_nearest_hint(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or "" when none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def find_line(text: str, word: str) -> int:
    """The line that a word is on, the first where none does."""
    found = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _find_key_line(text: str, place: str) -> int:
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


def _list_field_names(kind: type) -> set[str]:
    """Every field name of a schema type and those inside it."""
    names: set[str] = set()
    for definition in msgspec.json.schema(kind).get("$defs", {}).values():
        names.update(definition.get("properties", {}))
    return names
