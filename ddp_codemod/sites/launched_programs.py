"""Which programs a project starts: by its launch scripts, the commands in its READMEs and those that it installs, and by its programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import PurePosixPath

from ddp_codemod.discover.kinds import is_aside, is_in_test_folder, is_test
from ddp_codemod.parse.shell import Launch, Script
from ddp_codemod.sites.entry_points import DECLARING
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.word_search import WordMatcher

_PATH = re.compile(r"(?:[\w.-]+/)*[\w.-]+\.py\b")


def find_launched_programs(project: Project, names: Set[str]) -> set[str]:
    """Those of the files that a command of the project starts; tests, measurements and what installs the project are none."""
    found, able = set[str](), drop_others(names)
    if not able:
        return found
    for script in project.scripts(*sorted(_list_words(project, able))):
        if not (is_in_test_folder(script.name) or is_aside(script.name)):
            found |= able.intersection(name for launch in script.launches for name in _find_programs(project, script, launch))
            found |= able.intersection(name for one in script.programs for name in project.entry_points.get(one.name, ()))
    return found


def follow_starts(project: Project, imports: Imports, programs: Set[str], names: Set[str], starts: Iterable[str]) -> set[str]:
    """The programs, with those of the named files that their code starts: by a path in a text, where it calls one of ``starts``."""
    found, todo, able = set(programs), set(programs), drop_others(names)
    calls, looked_at = WordMatcher(starts), set[str]()
    while todo:
        files = {name for name in imports.below(todo) if calls.some(project.data(name))} - looked_at
        looked_at |= files
        todo = {program for name in files for program in find_named_programs(project, name)} & able - found
        found |= todo
    return found


def find_named_programs(project: Project, name: str) -> Iterator[str]:
    """The files whose paths the texts of a file hold, from the root or from its own folder."""
    if b".py" not in project.data(name):
        return
    for module in project.programs(name):
        for text in module.nodes.get(ast.Constant, ()):
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and ".py" in text.value:
                for path in _PATH.findall(text.value):
                    for folder in ("", name.rpartition("/")[0]):
                        yield str(PurePosixPath(folder, path))


def drop_others(names: Set[str]) -> set[str]:
    """The files without tests, measurements and what installs a project."""
    return {name for name in names if not (is_test(name) or is_aside(name) or PurePosixPath(name).name in DECLARING)}


def _list_words(project: Project, names: Set[str]) -> Iterator[str]:
    """What a command that starts one of the files holds: its name, the package that it is the program of, or an installed command."""
    for path in map(PurePosixPath, names):
        yield path.parent.name if path.stem == "__main__" else path.stem
    yield from (command for command, files in project.entry_points.items() if not names.isdisjoint(files))


def _find_programs(project: Project, script: Script, launch: Launch) -> list[str]:
    """The files that a command can mean: the one beside its script, else the one from the root, else all of this name."""
    found = project.started(launch.program)
    if len(found) > 1:
        path = launch.program if launch.program.endswith(".py") else f"{launch.program.replace('.', '/')}.py"
        for folder in (script.name.rpartition("/")[0], ""):
            if (name := str(PurePosixPath(folder, path))) in found:
                return [name]
    return found
