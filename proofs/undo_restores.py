"""Undo gives back every byte and every mode."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ddp_codemod.write.apply import apply_changes
from ddp_codemod.write.recover import recover_project
from ddp_codemod.write.undo import undo
from proofs import cases
from proofs.faults import Scene, in_child, killing_at, state, write
from proofs.hostile import LAYOUTS, lay
from proofs.proof import REPOSITORY, Trial, environment, tool, tree
from proofs.surveyed import changed

PROMISE = "undo gives back every byte and mode"
MODES = (0o644, 0o755, 0o600, 0o664, 0o4755, 0o2644)


def prove(trial: Trial) -> str:
    """Apply and undo after kills, on generated files, in hostile trees, through the command line, several deep."""
    kills = _kills(trial)
    files = _generated(trial, trial.sized(30, 3_000))
    trees = _trees(trial)
    deep = _deep(trial)
    return (
        f"{kills} applies that were killed and recovered, {files} generated files of {len(MODES)} modes, {trees} hostile trees and fixtures by "
        f"the command line, {deep} applies on top of each other: {len(trial.failures)} with another byte or mode"
    )


def _kills(trial: Trial) -> int:
    scene = Scene(trial.folder / "kills", 5)
    every = list(range(1, 90)) if trial.whole else trial.random.sample(range(1, 90), 8)
    with state(scene.stage):
        for moment in every:
            scene.lay()
            in_child(killing_at(moment, lambda: write(scene.root, "apply")))
            recover_project(scene.root)
            if tree(scene.root) == scene.new or not in_child(lambda: write(scene.root, "apply")):
                undo(scene.root)
            if tree(scene.root) != scene.old:
                trial.fail(f"killed at {moment}: something else came back")
    return len(every)


def _generated(trial: Trial, many: int) -> int:
    done = 0
    while done < many:
        folder = trial.folder / f"made{done}"
        project = folder / "project"
        project.mkdir(parents=True)
        for number in range(30):
            path = project / f"f{number}.py"
            path.write_bytes(cases.encoded(cases.python(trial.random), trial.random))
            path.chmod(trial.random.choice(MODES))
        before = tree(project)
        with state(folder):
            found = [one.change for one in changed(project, trial.random.choice(["rocm", "windows"]))]
            apply_changes(project, found, allow_dirty=True)
            if found:
                undo(project)
        if tree(project) != before:
            trial.fail(f"generated files {done}: something else came back")
        done += 30
    return done


def _trees(trial: Trial) -> int:
    places: list[Path] = []
    names = [name for name in LAYOUTS if "FIFO" not in name]
    for name in names if trial.whole else trial.random.sample(names, 3):
        places.append(lay(trial.folder / f"tree {name}", LAYOUTS[name])[0])
    for source in sorted((REPOSITORY / "fixtures").glob("*/project"))[: None if trial.whole else 1]:
        target = trial.folder / source.parent.name / "project"
        shutil.copytree(source, target)
        places.append(target)
    for project in places:
        before = tree(project)
        env = environment(project.parent)
        made = subprocess.run(
            tool("apply", ".", "--platform", "rocm", "--unsafe", "--allow-dirty"), cwd=project, env=env, capture_output=True
        )
        if tree(project) != before:
            taken = subprocess.run(tool("undo"), cwd=project, env=env, capture_output=True)
            if taken.returncode or tree(project) != before:
                trial.fail(f"{project.parent.name}: {taken.stderr.decode(errors='replace')[-200:]}")
            trial.counts["undone"] += 1
        elif made.returncode not in (0, 1, 2):
            trial.fail(f"{project.parent.name}: apply ended with {made.returncode}")
    if not trial.counts["undone"]:
        trial.fail("nothing was undone")
    return len(places)


def _deep(trial: Trial) -> int:
    folder = trial.folder / "deep"
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "a.py").write_bytes(b"0")
    os.chmod(project / "a.py", 0o750)
    states = [tree(project)]
    from ddp_codemod.model import FileChange

    with state(folder):
        for number in range(1, 16):
            old = (project / "a.py").read_bytes()
            apply_changes(project, [FileChange("a.py", old, b"%d" % number)], allow_dirty=True)
            states.append(tree(project))
        for wanted in reversed(states[:-1]):
            undo(project)
            if tree(project) != wanted:
                trial.fail("applies on top of each other: something else came back")
    return len(states) - 1
