"""Finds where a project asks for a build of torch: in requirements, conda environments, pyproject.toml and Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source
from ddp_codemod.parse.requirements import LOCKS, Requirement, find_requirements, may_state_versions
from ddp_codemod.parse.shell_kinds import is_dockerfile
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.versions import list_files

_BESIDE = ("", "requirements", "docker")  # the folders, below one with code, that hold such files
_COMMENT = re.compile(r"(?:^|\s)#.*")


def find_torch_builds(context: Context, pattern: Pattern, files: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The lines, in the folders of some files and above them, that fit one of the texts; none where a line fits one of ``without``.

    A project that asks for such a build too has seen to the platform.
    """
    root = context.tracer.resolver.project.root
    folders = sorted({folder.as_posix() for name in files for folder in PurePosixPath(name).parents})
    paths = list_files((root / folder / beside for folder in folders for beside in _BESIDE), _may_ask_for_build)
    sources = [result for path in paths if isinstance(result := read_text(path, root), Source)]
    if any(_fits(line, pattern.without) for source in sources for _, line in _list_lines(source)):
        return
    for source in sources:
        for at, line in _list_lines(source):
            if _fits(line, pattern.texts) and _is_for_target(context, source, at, len(line)):
                yield source.name, source.position(at)[0]


def _may_ask_for_build(path: Path) -> bool:
    return path.name not in LOCKS and (may_state_versions(f"{path.parent.name}/{path.name}") or is_dockerfile(path.name))


def _list_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Where each line starts, and what it says, in lower case and without its comment."""
    at = 0
    for line in source.text.splitlines(keepends=True):
        yield at, _COMMENT.sub("", line).strip().lower()
        at += len(line)


def _fits(line: str, texts: Iterable[str]) -> bool:
    return any(fnmatchcase(line, text) for text in texts)


def _is_for_target(context: Context, source: Source, at: int, length: int) -> bool:
    """Whether a line is for the platform, by its file and section and by the markers of what it asks for."""
    versions = context.versions
    asked = [one for one in find_requirements(source) if at <= one.start <= at + length] if not is_dockerfile(source.name) else []
    here = Requirement("", "", "", at, at, "pip")
    return versions.is_for_target(source, here) and all(versions.is_marker_met(one) for one in asked)
