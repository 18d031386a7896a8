"""A second run changes nothing."""

from __future__ import annotations

from proofs.packages import PLATFORMS, changes, unpacked
from proofs.proof import Trial
from proofs.surveyed import again, changed, generated, keep, made

PROMISE = "a second run changes nothing"


def prove(trial: Trial) -> str:
    """Write what a run makes, run again."""
    wrong = 0
    for folder, found in generated(trial, trial.sized(120, 10_000)):
        for one in found:
            (folder / one.change.name).write_bytes(one.change.after)
        for one in again(folder):
            wrong += 1
            name = one.change.name
            edit = one.edits[0]
            trial.fail(f"{folder.name}/{name}: {edit.rule} {edit.after!r}", *keep(folder, name))
    for name, folder in unpacked(trial):
        for platform in PLATFORMS:
            first = changes(name, folder, platform)
            for one in first:
                (folder / one.change.name).write_bytes(one.change.after)
            for one in changed(folder, platform):
                wrong += 1
                trial.fail(f"{name} {platform} {one.change.name}: {one.edits[0].rule} {one.edits[0].after!r}")
            for one in first:
                (folder / one.change.name).write_bytes(one.change.before)
    return f"{made(trial)}, {trial.counts['packages']} published packages: {wrong} files changed again"
