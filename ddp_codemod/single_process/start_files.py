"""What starts the programs whose groups a run edits, where nobody says how: the script, the installed command, or the file."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Set
from pathlib import PurePosixPath

from ddp_codemod.discover.kinds import GUIDES, NOTEBOOK, is_aside, is_in_test_folder, is_test
from ddp_codemod.sites.launched_programs import find_named_programs
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.task_names import is_other_task_name, is_training_name
from ddp_codemod.sites.word_search import WordMatcher

_SHELLS = ("shell", "batch", "powershell")
# what starts a file of a kind
_STARTERS = {
    ".py": "python",
    ".sh": "bash",
    ".bash": "bash",
    ".zsh": "zsh",
    ".slurm": "sbatch",
    ".sbatch": "sbatch",
    ".ps1": "powershell -File",
}


def find_start_files(project: Project, programs: Set[str], starts: Iterable[str], edits: Counter[str]) -> tuple[str, ...]:
    """Launch scripts, else installed commands, else programs whose code starts one of these by its path, else the programs.

    What is edited or starts more that is (``edits``, by the file)
    comes first, then what a guide of the root names, then what is nearest to the root.
    """
    programs = {name for name in programs if name.isprintable()}  # others cannot be typed
    if not programs:
        return ()
    stems = {PurePosixPath(name).stem for name in programs}
    started = (
        (script.name, name)
        for script in project.scripts(*sorted(stems))
        if script.kind in _SHELLS
        and not (script.name.endswith(NOTEBOOK) or is_in_test_folder(script.name) or is_aside(script.name))
        for launch in script.launches
        for name in project.started(launch.program)
        if name in programs or name in edits
    )
    scripts: dict[str, set[str]] = {}
    for name, program in started:
        scripts.setdefault(name, set()).add(program)
    found = {name for name, files in scripts.items() if not (programs.isdisjoint(files) or is_other_task_name(name))}
    found = {name for name in found if is_training_name(name)} or found
    if found:
        guides = b"".join(project.data(name) for name in project.launchers if name.endswith(GUIDES) and "/" not in name)
        shown = {name for name in found if name.rpartition("/")[0].encode() in guides}
        weight = {name: (-edits[name], -sum(edits[file] for file in scripts[name]), name not in shown) for name in found}
        return tuple(sorted(found, key=lambda name: (weight[name], name.count("/"), name)))
    if found := {command for command, files in project.entry_points.items() if not programs.isdisjoint(files)}:
        return _order(found)
    calls = WordMatcher(starts)
    able = (
        name for name in project.naming(stems) if not is_test(name) and name not in programs and calls.some(project.data(name))
    )
    found = {name for name in able if not programs.isdisjoint(find_named_programs(project, name))}
    return _order(found or set(programs))


def make_file_command(project: Project, name: str) -> tuple[str, str | None]:
    """The command that starts a script or program, or that is installed, with nothing passed to it; and the folder to type it in.

    That is the folder of a script which names what is only beside it, or above it.
    """
    if name in project.entry_points:
        return name, None
    folder, _, last = name.rpartition("/")
    script = project.script(name) if folder and PurePosixPath(name).suffix != ".py" else None
    named = [] if script is None else [*(one.program for one in script.launches), *script.sourced]
    above = bool(folder) and b"../" in project.data(name)
    beside = above or any(
        (project.root / folder / path).is_file() and not (project.root / path).exists() for path in named if path
    )
    path = shlex.quote(last if beside else name)
    starter = _STARTERS.get(PurePosixPath(name).suffix)
    return f"{starter} {path}" if starter else path, folder if beside else ""


def _order(names: Set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (name.count("/"), name)))
