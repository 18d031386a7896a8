"""``verify --run``: the project is read before its command runs, and what the run did is held against that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import Failure
from ddp_codemod.cli.run import Job, configure_project, existing_path, find_project_root
from ddp_codemod.cli.settings import Settings
from ddp_codemod.messages import render

if TYPE_CHECKING:
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.catalog.model import Platform
    from ddp_codemod.discover.scope import Scope
    from ddp_codemod.health import Overlay, RecordedGroup
    from ddp_codemod.model import Survey
    from ddp_codemod.run.options import Options

LARGEST = 1_000_000  # bytes of a file that a command names


class Project(Struct, frozen=True):
    """A project as it was read before the run: its files may change while that lasts."""

    survey: Survey
    rules: Rules
    platform: Platform
    scope: Scope
    named: bool  # the platform is one that the user names, not this machine's


def read_project(settings: Settings, console: Console, python: str) -> Project | None:
    """Survey the project of the paths, or of the working directory, for a platform; None, with a word why, where nothing says which.

    Raises Failure for a path, a configuration or a platform that cannot be used.
    """
    from ddp_codemod.cli.platform import known_platform
    from ddp_codemod.run.options import Options

    root = find_project_root([existing_path(path) for path in settings.paths or (".",)])
    if root in (Path.home(), Path(root.anchor)) and not settings.paths:
        console.say(console.text("overlay-which-project"))
        return None
    config, rules = configure_project(root, settings.folders)
    named = settings.platform or config.platform
    settings = replace(settings, folders=config.all_folders(settings.folders))
    platform = known_platform(named, rules) if named is not None else _find_own_platform(settings, console, python, rules)
    if platform is None:
        return None
    console.working(console.text("overlay-reading", platform=platform.id))
    options = Options(paths=(root,), platform=platform, rules=rules, root=root, scope=config.scope)
    return Project(_asked_for_backends(options), rules, platform, config.scope, named is not None)


def _asked_for_backends(options: Options) -> Survey:
    """The survey of a project, its backends included: also where one process needs no group, which a run makes all the same."""
    from ddp_codemod.run.survey import survey

    asking = tuple(ident for ident, fix in options.rules.fixes.items() if fix.recipe == "replace-backend")
    wanted = asking if not {*asking} & {*options.platform.rules} else ()
    return survey(replace(options, fixes=wanted))


def over_record(job: Job) -> Overlay:
    """Lay the run on record over the code as it is, without what the run itself adds to the findings."""
    from ddp_codemod.cli.from_run import machine
    from ddp_codemod.machine.overlay import compare_run, for_other_machine
    from ddp_codemod.run.options import Options

    asked = job.options
    assert job.settings.from_run is not None
    options = Options(paths=(job.root,), platform=asked.platform, rules=asked.rules, root=job.root, scope=asked.scope)
    found = compare_run(asked.recorded, _asked_for_backends(options), asked.rules, asked.platform, asked.scope)
    here = machine(job.settings.from_run)
    return for_other_machine(found, here) if here and here != asked.platform.id else found


def _find_own_platform(settings: Settings, console: Console, python: str, rules: Rules) -> Platform | None:
    from ddp_codemod.cli.doctor import examine_python

    try:
        checkup = examine_python(settings, console, python)
    except Failure as why:
        console.say(console.text("overlay-not-asked", why=render(why.reason, console.lang)))
        return None
    if checkup.platform is None:
        console.say(console.text("overlay-not-asked", why=render(checkup.because, console.lang)))
        return None
    return rules.platforms[checkup.platform]


def compare_with_run(
    project: Project, entries: Iterable[dict[str, Any]], words: Sequence[str], settings: Settings, console: Console, python: str
) -> Overlay:
    """Hold what the recorder told of against the survey; where they differ, this machine is asked whether it is of the platform."""
    from ddp_codemod.machine.notebook_frames import locate_notebook_frames
    from ddp_codemod.machine.overlay import compare_run, find_groups, for_other_machine

    located = locate_notebook_frames(entries, project.survey.root)
    result = (_locate_typed_values(one, words, project.survey.root) for one in find_groups(located))
    found = compare_run(result, project.survey, project.rules, project.platform, project.scope)
    if not project.named or not any(one.bug for one in found.held):
        return found
    machine = _find_own_platform(settings, console, python, project.rules)
    return found if machine is None or machine.id == project.platform.id else for_other_machine(found, machine.id)


def _locate_typed_values(group: RecordedGroup, words: Sequence[str], root: Path) -> RecordedGroup:
    """The same; its value counts as typed also where a file beyond the project, which the command names, holds it."""
    if group.typed or group.backend is None:
        return group
    for word in words:
        for name in {word, word.rpartition("=")[2]}:
            with contextlib.suppress(OSError, ValueError):
                path = Path(name).resolve()
                outside = path.is_file() and not path.is_relative_to(root.resolve()) and path.stat().st_size < LARGEST
                if outside and group.backend.lower().encode() in path.read_bytes().lower():
                    return replace(group, typed=True)
    return group
