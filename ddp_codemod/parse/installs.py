"""Which versions of packages the commands of a README, a Dockerfile or a script install.

Weaker than a file of requirements, for prose keeps what was new when it was written: it can raise a doubt, and proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ddp_codemod.model import Source
from ddp_codemod.parse.requirements import Requirement, canonicalize_name, parse_specifier

_TEXT = r"(?:\.[\w-]+)?\.(?:md|rst|txt|sh|bat|ps1)"
_NAME = re.compile(rf"(?i)dockerfile[\w.-]*|(?:readme|install|setup|environment)[\w-]*(?:{_TEXT})?")
_COMMAND = re.compile(r"\b(?:pip3?|(?P<conda>conda|mamba)|uv pip) install\b(?:\\\r?\n|[^\r\n])*|\b(?:uv|poetry) add\b[^\r\n]*")
_PACKAGE = re.compile(
    r"(?<![\w./-])(?P<name>[A-Za-z][\w.-]*)(?:\[[^\]\s]*\])?(?P<specifier>[<>=!~]=?=?[\w.*]+(?:,[<>=!~]=?=?[\w.*]+)*)"
)


def may_install(name: str) -> bool:
    """Whether people look in a file of this name for the commands that install a project."""
    return _NAME.fullmatch(PurePosixPath(name).name) is not None


def find_installs(source: Source) -> Iterator[Requirement]:
    """The packages that the commands of a text install with a version, in its order."""
    for command in _COMMAND.finditer(source.text):
        kind = "conda" if command["conda"] else "pip"
        for found in _PACKAGE.finditer(source.text, *command.span()):
            specifier = parse_specifier(found["specifier"], kind)
            if specifier is not None:
                yield Requirement(canonicalize_name(found["name"]), specifier, "", *found.span("specifier"), kind)
