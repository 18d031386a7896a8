"""What the place of a statement in a file of requirements is called: the extra, the dependency group, the table."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_TABLE = re.compile(r"(?m)^[ \t]*\[+([^\]\r\n]*)\]")
_OPTION = re.compile(r"(?m)^([\w.-]+)[ \t]*[=:]")
# what a list is assigned to: npu = [...], "npu": [...], extras["npu"] = [...]
_GIVEN = re.compile(r"([\w.-]+)[\"']?\]?[ \t]*(?:\+?=|:)[ \t\r\n]*\Z")
_NEAR = 20_000  # characters that a list is looked for in


def find_section(name: str, text: str, at: int) -> str:
    """The names under which a statement is, "" where there are none; ``name`` is the file's."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".cfg":
        return _find_last(_OPTION, text, at)
    if suffix == ".py":
        return _find_list_name(text, at)
    if suffix == ".toml" or name == "Pipfile":
        return f"{_find_last(_TABLE, text, at)} {_find_list_name(text, at)}".strip()
    return ""


def is_optional(name: str, text: str, at: int) -> bool:
    """Whether a statement of a project's own file is for those who ask for an extra or a group; not for each who installs it."""
    table = _find_last(_TABLE, text, at) if PurePosixPath(name).suffix in (".toml", ".cfg") else ""
    return any(word in table for word in ("optional-dependencies", "extras_require", "dependency-groups", ".group."))


def _find_last(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = None
    for found in pattern.finditer(text, 0, at):  # noqa: B007 - the last one counts
        pass
    return found[1] if found else ""


def _find_list_name(text: str, at: int) -> str:
    """The name that the innermost list around a place is assigned to."""
    depth, near = 0, max(0, at - _NEAR)
    for place in range(at - 1, near - 1, -1):
        depth += {"]": 1, "[": -1}.get(text[place], 0)
        if depth < 0:
            given = _GIVEN.search(text, max(near, place - 200), place)
            return given[1] if given else ""
    return ""
