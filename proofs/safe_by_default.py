"""Only safe edits are made by default."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.model import Example
from ddp_codemod.edits.render import render
from ddp_codemod.model import Applicability
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from proofs.proof import Trial

PROMISE = "only safe edits by default"


def prove(trial: Trial) -> str:
    """Run every example of every rule, platform and surface without --unsafe."""
    rules = load()
    labelled = 0
    for fix in rules.fixes.values():
        labelled += fix.applicability in ("safe", "unsafe")
        if fix.applicability not in ("safe", "unsafe"):
            trial.fail(f"rule {fix.id} has no label")
    for surface in rules.surfaces.values():
        if surface.edit_applicability not in ("safe", "unsafe"):
            trial.fail(f"surface {surface.id} has no label")
    examples: list[tuple[str, str, Example]] = []
    for fix in rules.fixes.values():
        examples += [(fix.id, example.platform or fix.platform or "rocm", example) for example in fix.examples]
    for platform in rules.platforms.values():
        examples += [(platform.id, platform.id, example) for example in platform.examples]
    for surface in rules.surfaces.values():
        examples += [(surface.id, example.platform or "rocm", example) for example in surface.examples]
    if not trial.whole:
        wary = [one for one in examples if one[0] in rules.surfaces and rules.surfaces[one[0]].edit_applicability == "unsafe"]
        examples = [*trial.random.sample(examples, 40), *wary]
    shown = set()
    for number, (ident, platform_id, example) in enumerate(examples):
        folder = trial.folder / f"e{number}"
        folder.mkdir()
        (folder / "train.py").write_text(example.before)
        _one(trial, folder, ident, platform_id, example, shown)
    return (
        f"{labelled} rules and {len(rules.surfaces)} surfaces labelled; {len(examples)} examples: {trial.counts['safe']} safe edits made, "
        f"{trial.counts['left']} unsafe or manual ones left and listed, {trial.counts['made']} made without being asked for"
    )


def _one(trial: Trial, folder: Path, ident: str, platform: str, example: Example, shown: set[str]) -> None:
    rules = load()
    found = survey(Options((folder,), rules.platforms[platform], rules, tuple(example.rules), root=folder))
    made = render(found, unsafe=False)
    surface = rules.surfaces.get(ident)
    for edit in made.applied:
        if surface is not None and surface.edit_applicability == "unsafe":
            trial.fail(f"{ident}: {example.title}: an edit of a surface that is labelled unsafe was made by default")
        trial.counts["safe" if edit.applicability is Applicability.SAFE else "made"] += 1
        if edit.applicability is not Applicability.SAFE:
            trial.fail(f"{ident}: {example.title}: an edit that is {edit.applicability.value} was made by default")
    for edit in found.edits:
        if edit.applicability is not Applicability.SAFE:
            trial.counts["left"] += 1
            if edit not in made.left and edit not in made.failed_edits:
                trial.fail(f"{ident}: {example.title}: an edit that is {edit.applicability.value} is not listed")
    if any(edit.applicability is Applicability.MANUAL for edit in render(found, unsafe=True).applied):
        trial.fail(f"{ident}: {example.title}: an edit by hand was made with --unsafe")
    shown.add(ident)
