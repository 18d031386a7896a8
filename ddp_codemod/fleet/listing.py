"""Reads the LIST: a path, git URL or bundle a line, or a JSON object a line. A line that is neither is an error with its number."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ddp_codemod import versions
from ddp_codemod.fleet.model import PLACES, STYLES, Entry
from ddp_codemod.messages import text
from ddp_codemod.model import Reason

SCHEMES = ("https", "ssh", "file", "http")
LONGEST = 4_000  # characters of a place: what is longer no system takes as a path, and no server as a URL
_SCP = re.compile(r"[\w.-]+@[\w.-]+:[^:\s]")
_REF = re.compile(r"[^\s~^:?*\[\\\x00-\x1f\x7f-]((?!\.\.|@\{)[^\s~^:?*\[\\\x00-\x1f\x7f])*")
_KEYS: dict[str, Any] = {
    "repository": str, "platform": str, "ref": str, "rules": list, "style": str, "env_in": str, "torch_version": str, "unsafe": bool,
}  # fmt: skip
_EXPECTED = {str: '"TEXT"', list: '["ID", ...]', bool: "true"}


@dataclass(frozen=True)
class InvalidLine:
    """A line that cannot be used, and what was expected."""

    line: int
    reason: Reason


@dataclass(frozen=True)
class Listing:
    """The list as it was read; ``repeated`` lines say what an earlier one says."""

    entries: tuple[Entry, ...]
    wrong: tuple[InvalidLine, ...]
    repeated: int


@dataclass(frozen=True)
class Reader:
    """What a line may speak of, and what it means where it does not say so."""

    base: Path  # where relative paths start
    default: Entry  # how repositories are ported; without a platform where the command names none
    platforms: Collection[str]
    fixes: Collection[str]

    def read(self, lines: Iterable[str]) -> Listing:
        """The whole list."""
        entries: dict[Entry, Entry] = {}
        wrong: list[InvalidLine] = []
        repeated = 0
        for number, line in enumerate(lines, 1):
            said = line.strip().removeprefix("\ufeff")
            if not said or said.startswith("#"):
                continue
            result = self._read_line(said, number)
            if isinstance(result, Reason):
                wrong.append(InvalidLine(number, result))
            elif entries.setdefault(replace(result, line=0), result) is not result:
                repeated += 1
        return Listing(tuple(entries.values()), tuple(wrong), repeated)

    def _read_line(self, message: str, number: int) -> Entry | Reason:
        if not message.startswith("{"):
            return self._read_entry({"repository": message}, number)
        try:
            values = json.loads(message)
        except (ValueError, RecursionError) as why:
            return Reason.of("fleet-list-json", why=why)
        for key, value in values.items():
            if key not in _KEYS:
                return Reason.of("fleet-list-key", name=key, known=", ".join(_KEYS))
            if not isinstance(value, _KEYS[key]) or (key == "rules" and not all(isinstance(one, str) for one in value)):
                return Reason.of("fleet-list-type", name=key, expected=_EXPECTED[_KEYS[key]])
        return self._read_entry(values, number)

    def _read_entry(self, values: dict[str, object], number: int) -> Entry | Reason:
        place = self._read_place(str(values.get("repository", "")))
        if isinstance(place, Reason):
            return place
        given: Any = values.get("rules", ())
        arguments: dict[str, Any] = {key: value for key, value in values.items() if key not in ("repository", "rules")}
        rules = [*self.default.rules, *given]
        result = replace(self.default, repository=place, line=number, **arguments, rules=tuple(dict.fromkeys(rules)))
        return self._check_entry(result) or result

    def _check_entry(self, entry: Entry) -> Reason | None:
        """What cannot be used of an entry."""
        if not entry.platform:
            return Reason.of("fleet-list-no-platform")
        words = [("platform", entry.platform, self.platforms), ("style", entry.style, STYLES), ("env_in", entry.env_in, PLACES)]
        for key, word, known in (*words, *(("rules", one, self.fixes) for one in entry.rules)):
            if word not in known:
                near = get_close_matches(word, list(known), n=1)
                hints = {
                    f"hint{suffix}": text("hint-near", lang, near=near[0]) if near else ""
                    for suffix, lang in (("", "en"), ("_zh", "zh"))
                }
                return Reason.of("fleet-list-unknown", name=key, word=word, **hints)
        if entry.ref is not None and not _REF.fullmatch(entry.ref):
            return Reason.of("fleet-list-ref", ref=entry.ref)
        if entry.torch_version is not None:
            try:
                versions.parse_stated(entry.torch_version, "", "")
            except ValueError:
                return Reason.of("fleet-list-version", word=entry.torch_version)
        return None

    def _read_place(self, message: str) -> str | Reason:
        scheme, found, rest = message.partition("://")
        if not message or any(ord(character) < 32 for character in message):
            return Reason.of("fleet-list-empty")
        if len(message) > LONGEST:
            return Reason.of("fleet-list-long", n=len(message), most=LONGEST)
        if message.startswith("-") or re.match(r"[\w+.-]*::", message) or rest.startswith("-") or "@-" in rest:
            return Reason.of("fleet-list-refused", place=message)
        if found:
            if scheme not in SCHEMES:
                return Reason.of("fleet-list-scheme", scheme=scheme, known=", ".join(SCHEMES))
            return message if rest.strip("/") else Reason.of("fleet-list-empty")
        if _SCP.match(message) and not (self.base / message).exists():
            return message
        return str((self.base / message).absolute())  # one that is not there fails by itself, as a URL does
