"""Which versions of packages a project asks for: requirements files, pyproject, setup, conda environments and lock files.

The text is read line by line, so that every statement has its place and files that no tool accepts are understood as well.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from ddp_codemod.model import Source

_LONGEST = 300  # characters of a statement's versions, and of its marker: packaging follows each bracket, and reads any number
LOCKS = ("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile")
# Texts, since a run needs one or two of them, and compiling all takes 2 ms.
_CONDA = r"(environment|conda|env)[\w.-]*\.ya?ml"
_LISTED = r"[\w.-]*requirements?[\w.-]*\.(txt|in)"

_BLANKS = r"[ \t]*(?![ \t])"  # all of them
_NAME = r"(?P<name>[A-Za-z][\w.-]*)(?:\[[^\]\r\n]*\])?"
# No two parts of a pattern take the same text, or a line of "!" or of spaces takes hours:
# the mark of an epoch is no operator, and spaces are taken all at once.
_ONE = rf"(?:[<>=~](?:==?)?|!==?){_BLANKS}[\w.*+-]+(?:![\w.*+-]+)?"
_SPECIFIER = rf"(?P<specifier>(?:\({_BLANKS})?(?:{_ONE}(?:{_BLANKS}(?:,{_BLANKS})?{_ONE})*(?:{_BLANKS},)?)?(?:{_BLANKS}\))?)"
_REST = r"(?P<marker>(?:[^#\r\n \t]|[ \t]+(?=[^\r\n \t]))*?)"
_MARKER = rf"(?:{_BLANKS};{_BLANKS}{_REST})?"
# "torch>=2.0" on a line of its own, in a conda list, and between quotes
_LINE = rf"(?m)^{_BLANKS}{_NAME}{_BLANKS}{_SPECIFIER}{_MARKER}{_BLANKS}(?:\\|--|#|$|(?=\r))"
_ITEM = rf"(?m)^{_BLANKS}-[ \t]+[\"']?(?:[\w-]+::)?{_NAME}{_BLANKS}(?P<specifier>[<>=!~][^\s#\"';]*)?{_BLANKS}[\"']?{_BLANKS}(?:;{_REST})?{_BLANKS}(?:#|$|(?=\r))"
_QUOTED = rf"(?P<quote>[\"']){_NAME}{_BLANKS}{_SPECIFIER}(?:{_BLANKS};{_BLANKS}{_REST.replace('#', '')})?(?P=quote){_BLANKS}(?![\w \t]*=)"
# torch = "^2.0" and torch = {version = "^2.0", ...}: Poetry and Pipenv
_KEYED = (
    r"(?m)^[ \t]*(?![ \t])[\"']?(?P<name>[A-Za-z][\w.-]*)[\"']?[ \t]*(?![ \t])=[ \t]*(?![ \t])(?:\{[^}\r\n]*?\bversion[ \t]*(?![ \t])=[ \t]*(?![ \t]))?(?P<quote>[\"'])"
    r"(?P<specifier>(?:[\^~<>=!]=?[ \t]*(?![ \t]))?\d[^\"'\r\n]*|\*)(?P=quote)"
)
_LOCKED = r"name = \"(?P<name>[\w.-]+)\"\r?\nversion = \"(?P<specifier>[\w.+!-]+)\""
_PIPFILE_LOCK = r"\"(?P<name>[\w.-]+)\": \{[^{}]*?\"version\": \"(?P<specifier>==[^\"]+)\""
_POETRY = r"(?m)^[ \t]*(?![ \t])\[(tool\.poetry[\w.-]*dependencies|packages|dev-packages)\]"


class Requirement(Struct, frozen=True):
    """One statement about a package: ``specifier`` as packaging reads it, and where the text of it is in the file."""

    package: str  # as PyPI compares names: lower case, dashes
    specifier: str
    marker: str
    start: int
    end: int
    kind: str  # "pip", "conda", "poetry" or "lock": how a version is written here


def may_state_versions(name: str) -> bool:
    """Whether a file of this name can say which versions a project asks for."""
    path = PurePosixPath(name)
    if path.name in (*LOCKS, *_PROJECT) or re.fullmatch(_CONDA, path.name) or re.fullmatch(_LISTED, path.name):
        return True
    return path.suffix in (".txt", ".in") and path.parent.name == "requirements"


def find_requirements(source: Source) -> Iterator[Requirement]:
    """The statements of a file, in its order; comments make none."""
    name, text = PurePosixPath(source.name).name, source.text
    if name in LOCKS:
        yield from _find_statements(text, _PIPFILE_LOCK if name == "Pipfile.lock" else _LOCKED, "lock")
    elif name == "setup.py":
        yield from _find_statements(text, _QUOTED, "pip")
    elif name in ("pyproject.toml", "Pipfile"):
        tables = [table.start() for table in re.finditer(r"(?m)^[ \t]*\[", text)] + [len(text)]
        keyed = [(at, tables[bisect_right(tables, at)]) for at in (table.end() for table in re.finditer(_POETRY, text))]
        for made in sorted(
            (*_find_statements(text, _QUOTED, "pip"), *_find_statements(text, _KEYED, "poetry")), key=lambda made: made.start
        ):
            at = bisect_right(keyed, (made.start, len(text))) - 1
            if (made.kind == "poetry") == (at >= 0 and made.start < keyed[at][1]):
                yield made
    elif name.endswith((".yml", ".yaml")):
        pip = re.search(r"(?m)^[ \t]*-[ \t]*pip[ \t]*:[ \t]*(?:#.*)?\r?$", text)
        for made in _find_statements(text, _ITEM, "conda"):
            yield _convert_to_pip(made) if pip is not None and made.start > pip.start() else made
    else:
        yield from _find_statements(text, _LINE, "pip")


def _find_comment(line: str) -> int:
    """Where the comment of a line starts; its length where it has none."""
    return next((found.start() for found in re.finditer(r"\"[^\"]*\"|'[^']*'|(#)", line) if found[1]), len(line))


def _convert_to_pip(made: Requirement) -> Requirement:
    return Requirement(made.package, made.specifier, made.marker, made.start, made.end, "pip")


def _find_statements(text: str, pattern: str, kind: str) -> Iterator[Requirement]:
    until = comment = 0  # where the line ends that was looked at last, and where its comment starts
    for found in re.finditer(pattern, text):
        if found.start("name") >= until:
            start = text.rfind("\n", 0, found.start("name")) + 1
            end = text.find("\n", found.start("name"))
            until = len(text) if end < 0 else end
            comment = start + _find_comment(text[start:until])
        if comment < found.start("name"):
            continue
        start, end = found.span("specifier")
        if start < 0:
            start = end = found.end("name")
        written = text[start:end]
        end -= len(written) - len(written.rstrip(" \t,"))
        specifier = parse_specifier(written, kind)
        if specifier is not None:
            marker = (found.groupdict().get("marker") or "").strip()
            if len(marker) > _LONGEST:
                continue
            yield Requirement(canonicalize_name(found["name"]), specifier, marker, start, max(start, end), kind)


def canonicalize_name(name: str) -> str:
    """A package's name as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_specifier(text: str, kind: str) -> str | None:
    """The statement in the words of ``packaging``; None where it is none, as one that is too long."""
    text = text.strip(" \t,()")
    if len(text) > _LONGEST:
        return None
    if kind == "lock" and text[:1].isdigit():
        return f"=={text}"
    if kind == "poetry":
        return None if text == "*" else ",".join(_convert_poetry(part.strip()) for part in text.split(","))
    if kind == "conda":
        return ",".join(_convert_conda(part) for part in text.split(",")) if text else ""
    return text


def _convert_poetry(part: str) -> str:
    """``^2.1`` means up to the next major version, ``~2.1`` up to the next minor one, a bare version itself."""
    numbers = re.fullmatch(r"[\^~](\d+)(?:\.(\d+))?[\w.]*", part)
    if numbers:
        major, minor = int(numbers[1]), int(numbers[2] or 0)
        exact = (part[0] == "~" and numbers[2]) or major == 0
        return f">={part[1:]},<{f'{major}.{minor + 1}' if exact else major + 1}"
    return f"=={part}" if part[:1].isdigit() else part


def _convert_conda(part: str) -> str:
    """``=2.1`` means any 2.1, ``==2.1`` that one, and a build may follow."""
    found = re.fullmatch(r"(=?)=([\w.+!-]+)\*?(?:=[\w.*-]+)?", part.strip())
    if not found:
        return part.strip()
    version = found[2].rstrip(".")
    return f"=={version}" if found[1] else f"=={version}.*"
