"""``[tool.ddp-codemod]`` in the pyproject.toml of a project's root."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ddp_codemod.cli.errors import fail

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = ("platform", "rules")


@dataclass(frozen=True)
class Config:
    """What a project says about itself."""

    path: Path
    platform: str | None = None
    folders: tuple[Path, ...] = ()


def read(root: Path) -> Config:
    """Read the table; a pyproject.toml that does not speak of ddp-codemod says nothing, whatever else is in it.

    Raises Failure for a table with an unknown key or a value of the wrong type.
    """
    path = root / "pyproject.toml"
    try:
        data = path.read_bytes()
    except OSError:
        return Config(path)
    if b"ddp-codemod" not in data:
        return Config(path)
    try:
        table = tomllib.loads(data.decode("utf-8")).get("tool", {}).get("ddp-codemod", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise fail("config-not-toml", path=path, why=why) from None
    return _config(path, table)


def _config(path: Path, table: Any) -> Config:
    if not isinstance(table, dict):
        raise fail("config-key", path=path, entry="tool.ddp-codemod", known=", ".join(KEYS))
    for key in table:
        if key not in KEYS:
            raise fail("config-key", path=path, entry=key, known=", ".join(KEYS))
    platform, folders = table.get("platform"), table.get("rules", [])
    if platform is not None and not isinstance(platform, str):
        raise fail("config-type", path=path, entry="platform", expected='"ID"')
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise fail("config-type", path=path, entry="rules", expected='["DIR", ...]')
    return Config(path, platform, tuple(path.parent / folder for folder in folders))
