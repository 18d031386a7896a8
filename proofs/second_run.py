"""A second run changes nothing."""

from __future__ import annotations

from proofs.packages import unpacked
from proofs.proof import Trial
from proofs.surveyed import changed, generated, platform_of

PROMISE = "a second run changes nothing"


def prove(trial: Trial) -> str:
    """Write what a run makes, run again."""
    again = 0
    for folder, found in generated(trial, trial.sized(120, 10_000)):
        for one in found:
            (folder / one.change.name).write_bytes(one.change.after)
        before = {one.change.name: one.change.before for one in found}
        for one in changed(folder, platform_of(folder)):
            again += 1
            name = one.change.name
            edit = one.edits[0]
            trial.fail(f"{folder.name}/{name}: {edit.rule} {edit.after!r}", f"second-{name}", before.get(name, one.change.before))
    files = trial.counts["files"]
    for name, folder in unpacked(trial):
        for platform in ("rocm", "windows", "ascend"):
            first = list(changed(folder, platform))
            for one in first:
                (folder / one.change.name).write_bytes(one.change.after)
            for one in changed(folder, platform):
                again += 1
                trial.fail(f"{name} {platform} {one.change.name}: {one.edits[0].rule} {one.edits[0].after!r}")
            for one in first:
                (folder / one.change.name).write_bytes(one.change.before)
    return f"{files} generated files, {trial.counts['packages']} published packages: {again} files changed again"
