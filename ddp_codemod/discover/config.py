"""``[tool.ddp-codemod]`` in the pyproject.toml of a project's root: its keys, in one table, and what they may hold."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from ddp_codemod.catalog.load import Rules
from ddp_codemod.discover.files import content as plain
from ddp_codemod.discover.scope import Scope, is_unmatchable
from ddp_codemod.messages import text
from ddp_codemod.model import NOTES, Reason

FILE = "pyproject.toml"
TABLE = "tool.ddp-codemod"


class ConfigError(Exception):
    """A table that cannot be used: ``reason`` names the file, the line, the key and the nearest known one."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.key)
        self.reason = reason


class Config(Struct, frozen=True):
    """What a project says about itself."""

    path: Path
    platform: str | None = None
    rules: tuple[str, ...] = ()  # ids, beside those that the platform enables
    folders: tuple[Path, ...] = ()  # with rules of the project's own
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (pattern of files, ids of rules and surfaces)
    content: str = ""  # of the file, to tell lines

    def all_folders(self, more: Iterable[Path]) -> tuple[Path, ...]:
        """The folders with rules of the project and of a command line, each once."""
        folders = {folder.resolve(): folder for folder in (*self.folders, *more)}
        return tuple(folders.values())

    @property
    def scope(self) -> Scope:
        """Which files a run may change, and what is not honored where."""
        root = self.path.parent
        own = (
            folder.resolve().relative_to(root.resolve())
            for folder in self.folders
            if folder.resolve().is_relative_to(root.resolve())
        )
        return Scope(self.include, self.exclude, self.ignores, tuple(folder.as_posix() for folder in own))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


class Key(Struct, frozen=True):
    """What one key holds: how it is written, whether a value is that, and what it becomes (a field of Config, a value)."""

    written: str
    holds: Callable[[Any], bool]
    made: Callable[[Any, Path], tuple[str, Any]]


KEYS = {
    "platform": Key('"ID"', lambda value: isinstance(value, str), lambda value, _: ("platform", value)),
    "rules": Key('["ID", ...]', _is_texts, lambda value, _: ("rules", tuple(value))),
    "rule-folders": Key(
        '["DIR", ...]', _is_texts, lambda value, root: ("folders", tuple(root / folder for folder in value))
    ),
    "include": Key('["PATTERN", ...]', _is_texts, lambda value, _: ("include", tuple(value))),
    "exclude": Key('["PATTERN", ...]', _is_texts, lambda value, _: ("exclude", tuple(value))),
    "per-file-ignores": Key(
        '{ "PATTERN" = ["ID", ...] }',
        lambda value: isinstance(value, dict) and all(map(_is_texts, value.values())),
        lambda value, _: ("ignores", tuple((pattern, tuple(idents)) for pattern, idents in value.items())),
    ),
}  # fmt: skip


def read(root: Path) -> Config:
    """Read the table; a pyproject.toml that does not speak of ddp-codemod says nothing, whatever else is in it.

    Raises ConfigError for a table with an unknown key, a value of the wrong type or a pattern that fits no file.
    """
    path = root / FILE
    data = plain(path, root)
    if isinstance(data, Reason) or b"ddp-codemod" not in data:
        return Config(path)
    from ddp_codemod import toml

    try:
        content = data.decode("utf-8-sig")
        tool = toml.loads(content).get("tool", {})
    except toml.TooMuch:
        raise ConfigError(Reason.of("config-too-much", path=path, limit=toml.MOST // 1000)) from None
    except (ValueError, RecursionError) as why:
        raise ConfigError(Reason.of("config-not-toml", path=path, why=why)) from None
    table = tool.get("ddp-codemod", {}) if isinstance(tool, dict) else {}
    return _build_config(path, content, table)


def check_ids(config: Config, rules: Rules) -> None:
    """Compare the ids with those of the rule data. Raises ConfigError that names the nearest one."""
    if config.platform is not None and config.platform not in rules.platforms:
        where = f"{config.path}:{_find_line(config.content, config.platform, 'platform')}"
        raise _make_unknown_error("platform-unknown", config.platform, rules.platforms, where=where)
    for ident in config.rules:
        if ident not in rules.fixes:
            folder = "config-rules-folder" if (config.path.parent / ident).is_dir() else "config-rule"
            raise _make_unknown_error(
                folder, ident, rules.fixes, path=config.path, line=_find_line(config.content, ident, "rules")
            )
    known = _list_ignorable_ids(rules)
    for pattern, idents in config.ignores:
        for ident in idents:
            if ident not in known:
                line = _find_line(config.content, ident, pattern)
                raise _make_unknown_error("config-ignores", ident, known, path=config.path, line=line, pattern=pattern)


def _list_ignorable_ids(rules: Rules) -> set[str]:
    """Everything that a file can be spared: rules, surfaces and notes."""
    notes = {*rules.advice, *NOTES} | {warning.id for platform in rules.platforms.values() for warning in platform.warnings}
    return {*rules.fixes, *rules.surfaces, *notes}


def _build_config(path: Path, content: str, table: Any) -> Config:
    if not isinstance(table, dict):
        where = {"path": path, "line": _find_line(content, "ddp-codemod")}
        raise ConfigError(Reason.of("config-type", **where, entry=TABLE, expected="{ platform = ... }"))
    fields: dict[str, Any] = {}
    for entry, value in table.items():
        line = _find_line(content, entry)
        if entry not in KEYS:
            raise _make_unknown_error("config-key", entry, KEYS, path=path, line=line, known=", ".join(KEYS))
        if not KEYS[entry].holds(value):
            raise ConfigError(Reason.of("config-type", path=path, line=line, entry=entry, expected=KEYS[entry].written))
        name, made = KEYS[entry].made(value, path.parent)
        fields[name] = made
    config = Config(path, content=content, **fields)
    home = os.path.realpath(path.parent)
    for folder in config.folders:  # a stranger's project is not to name files of its reader's
        if not Path(os.path.realpath(folder)).is_relative_to(home):
            line = _find_line(content, "rule-folders")
            raise ConfigError(Reason.of("config-outside", path=path, line=line, folder=folder))
    for entry, pattern in _list_patterns(config):
        if is_unmatchable(pattern):
            line = _find_line(content, pattern, entry)
            raise ConfigError(Reason.of("config-pattern", path=path, line=line, entry=entry, pattern=pattern))
    return config


def _list_patterns(config: Config) -> Iterator[tuple[str, str]]:
    for entry, patterns in (("include", config.include), ("exclude", config.exclude)):
        yield from ((entry, pattern) for pattern in patterns)
    yield from (("per-file-ignores", pattern) for pattern, _ in config.ignores)


def _make_unknown_error(key: str, word: str, known: Iterable[str], /, **args: object) -> ConfigError:
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    hint, hint_zh = (text("hint-near", lang, near=near[0]) if near else "" for lang in ("en", "zh"))
    return ConfigError(Reason.of(key, word=word, hint=hint, hint_zh=hint_zh, **args))


def _find_line(content: str, word: str, after: str = "") -> int:
    """The line that a word of the table is in, behind another one; comments are passed over."""
    at, found = 0, 1
    wanted = [part for part in ("ddp-codemod", after, word) if part]
    for number, line in enumerate(content.splitlines(), 1):
        code = "" if line.lstrip().startswith("#") else line
        while at < len(wanted) and (hit := re.search(rf"(?<![\w-]){re.escape(wanted[at])}(?![\w-])", code)):
            at, found, code = at + 1, number, code[hit.end() :]
    return found
