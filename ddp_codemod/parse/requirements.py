"""Which versions of packages a project asks for: requirements files, pyproject, setup, conda environments and lock files.

The text is read line by line, so that every statement has its place and files that no tool accepts are understood as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.model import Source

LOCKS = ("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile")
# Texts, since a run needs one or two of them, and compiling all takes 2 ms.
_CONDA = r"(environment|conda|env)[\w.-]*\.ya?ml"
_LISTED = r"[\w.-]*requirements?[\w.-]*\.(txt|in)"

_NAME = r"(?P<name>[A-Za-z][\w.-]*)(?:\[[^\]\r\n]*\])?"
_SPECIFIER = r"(?P<specifier>\(?[ \t]*(?:[<>=!~]=?=?[ \t]*[\w.*+!-]+[ \t]*,?[ \t]*)*\)?)"
_MARKER = r"(?:[ \t]*;[ \t]*(?P<marker>[^#\r\n]*?))?"
# "torch>=2.0" on a line of its own, in a conda list, and between quotes
_LINE = rf"(?m)^[ \t]*{_NAME}[ \t]*{_SPECIFIER}{_MARKER}[ \t]*(?:\\|--|#|$|(?=\r))"
_ITEM = rf"(?m)^[ \t]*-[ \t]+[\"']?(?:[\w-]+::)?{_NAME}[ \t]*(?P<specifier>[<>=!~][^\s#\"';]*)?[ \t]*[\"']?[ \t]*(?:;(?P<marker>[^#\r\n]*?))?[ \t]*(?:#|$|(?=\r))"
_QUOTED = rf"(?P<quote>[\"']){_NAME}[ \t]*{_SPECIFIER}(?:[ \t]*;[ \t]*(?P<marker>[^\r\n]*?))?(?P=quote)[ \t]*(?![\w \t]*=)"
# torch = "^2.0" and torch = {version = "^2.0", ...}: Poetry and Pipenv
_KEYED = (
    r"(?m)^[ \t]*[\"']?(?P<name>[A-Za-z][\w.-]*)[\"']?[ \t]*=[ \t]*(?:\{[^}\r\n]*?\bversion[ \t]*=[ \t]*)?(?P<quote>[\"'])"
    r"(?P<specifier>(?:[\^~<>=!]=?[ \t]*)?\d[^\"'\r\n]*|\*)(?P=quote)"
)
_LOCKED = r"name = \"(?P<name>[\w.-]+)\"\r?\nversion = \"(?P<specifier>[\w.+!-]+)\""
_PIPFILE_LOCK = r"\"(?P<name>[\w.-]+)\": \{[^{}]*?\"version\": \"(?P<specifier>==[^\"]+)\""
_POETRY = r"(?m)^[ \t]*\[(tool\.poetry[\w.-]*dependencies|packages|dev-packages)\]"


class Requirement(Struct, frozen=True):
    """One statement about a package: ``specifier`` as packaging reads it, and where the text of it stands in the file."""

    package: str  # as PyPI compares names: lower case, dashes
    specifier: str
    marker: str
    start: int
    end: int
    kind: str  # "pip", "conda", "poetry" or "lock": how a version is written here


def states_versions(name: str) -> bool:
    """Whether a file of this name can say which versions a project asks for."""
    path = PurePosixPath(name)
    if path.name in (*LOCKS, *_PROJECT) or re.fullmatch(_CONDA, path.name) or re.fullmatch(_LISTED, path.name):
        return True
    return path.suffix in (".txt", ".in") and path.parent.name == "requirements"


def requirements(source: Source) -> Iterator[Requirement]:
    """The statements of a file, in its order; comments make none."""
    name, text = PurePosixPath(source.name).name, source.text
    if name in LOCKS:
        yield from _found(text, _PIPFILE_LOCK if name == "Pipfile.lock" else _LOCKED, "lock")
    elif name == "setup.py":
        yield from _found(text, _QUOTED, "pip")
    elif name in ("pyproject.toml", "Pipfile"):
        tables = [table.start() for table in re.finditer(r"(?m)^[ \t]*\[", text)] + [len(text)]
        keyed = [(at, min(end for end in tables if end > at)) for at in (table.end() for table in re.finditer(_POETRY, text))]
        for made in sorted((*_found(text, _QUOTED, "pip"), *_found(text, _KEYED, "poetry")), key=lambda made: made.start):
            if (made.kind == "poetry") == any(start <= made.start < end for start, end in keyed):
                yield made
    elif name.endswith((".yml", ".yaml")):
        pip = re.search(r"(?m)^[ \t]*-[ \t]*pip[ \t]*:[ \t]*(?:#.*)?\r?$", text)
        for made in _found(text, _ITEM, "conda"):
            yield _as_pip(made) if pip is not None and made.start > pip.start() else made
    else:
        yield from _found(text, _LINE, "pip")


def _commented(head: str) -> bool:
    """Whether what stands before a name on its line starts a comment."""
    outside = re.sub(r"\"[^\"]*\"|'[^']*'", "", head)
    return "#" in outside


def _as_pip(made: Requirement) -> Requirement:
    return Requirement(made.package, made.specifier, made.marker, made.start, made.end, "pip")


def _found(text: str, pattern: str, kind: str) -> Iterator[Requirement]:
    for found in re.finditer(pattern, text):
        line = text[text.rfind("\n", 0, found.start("name")) + 1 : found.start("name")]
        if _commented(line):
            continue
        start, end = found.span("specifier")
        if start < 0:
            start = end = found.end("name")
        written = text[start:end]
        end -= len(written) - len(written.rstrip(" \t,"))
        specifier = _specifier(written, kind)
        if specifier is not None:
            marker = (found.groupdict().get("marker") or "").strip()
            yield Requirement(canonical(found["name"]), specifier, marker, start, max(start, end), kind)


def canonical(name: str) -> str:
    """A package's name as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _specifier(text: str, kind: str) -> str | None:
    """The statement in the words of ``packaging``; None where it is none."""
    text = text.strip(" \t,()")
    if kind == "lock" and text[:1].isdigit():
        return f"=={text}"
    if kind == "poetry":
        return None if text == "*" else ",".join(_poetry(part.strip()) for part in text.split(","))
    if kind == "conda":
        return ",".join(_conda(part) for part in text.split(",")) if text else ""
    return text


def _poetry(part: str) -> str:
    """``^2.1`` means up to the next major version, ``~2.1`` up to the next minor one, a bare version itself."""
    numbers = re.fullmatch(r"[\^~](\d+)(?:\.(\d+))?[\w.]*", part)
    if numbers:
        major, minor = int(numbers[1]), int(numbers[2] or 0)
        exact = (part[0] == "~" and numbers[2]) or major == 0
        return f">={part[1:]},<{f'{major}.{minor + 1}' if exact else major + 1}"
    return f"=={part}" if part[:1].isdigit() else part


def _conda(part: str) -> str:
    """``=2.1`` means any 2.1, ``==2.1`` that one, and a build may follow."""
    found = re.fullmatch(r"(=?)=([\w.+!-]+)\*?(?:=[\w.*-]+)?", part.strip())
    if not found:
        return part.strip()
    version = found[2].rstrip(".")
    return f"=={version}" if found[1] else f"=={version}.*"
