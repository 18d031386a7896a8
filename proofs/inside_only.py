"""Nothing outside the root is read, nothing outside the given paths written."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

from proofs import refusals
from proofs.faults import in_child
from proofs.hostile import LAYOUTS, SECRET, lay
from proofs.proof import Trial, environment, tree

PROMISE = "nothing outside the root is read, nothing outside the given paths written"
COMMANDS = (["apply", "."], ["diff", "."], ["check", "."], ["scan", "."], ["apply", "sub"], ["explain", "train.py:3"])


def prove(trial: Trial) -> str:
    """Run every command in every tree, noting each file that is opened; then look at the canaries."""
    places, foreign = refusals.places(trial), refusals.foreign(trial)
    names = list(LAYOUTS) if trial.whole else trial.random.sample(list(LAYOUTS), 3)
    for name in names:
        for number, words in enumerate((*COMMANDS[:1], *COMMANDS[4:]) if trial.whole else (COMMANDS[0], COMMANDS[4])):
            folder = trial.folder / f"{name}-{number}".replace(" ", "_")
            project, away = lay(folder, LAYOUTS[name])
            if words[-1] == "sub" and (project / "sub").is_symlink():
                continue  # a linked folder that is named is what the user wants changed
            if words[-1] == "sub" and not (project / "sub").is_dir():
                (project / "sub").mkdir()
                (project / "sub" / "link.py").symlink_to("../train.py")
            before, inside = tree(away), tree(project)
            stamps = {path: path.stat().st_mtime_ns for path in away.rglob("*")}
            _run(trial, folder, project, away, words, f"{name}: {' '.join(words)}")
            trial.counts["runs"] += 1
            if tree(away) != before or {path: path.stat().st_mtime_ns for path in away.rglob("*") if path in stamps} != stamps:
                trial.fail(f"{name}: {words}: a canary changed")
            now = tree(project)
            for changed in {key for key in {*now, *inside} if now.get(key) != inside.get(key)}:
                if words[0] != "apply" or (words[-1] == "sub" and not changed.startswith("sub")):
                    trial.fail(f"{name}: {words}: {changed} was written")
    return (
        f"{len(names)} trees with canaries, {trial.counts['runs']} runs: {trial.counts['opened']} of them opened, "
        f"{trial.counts['leaked']} shown; {places} names that lead out or to no file, and {foreign} ways "
        f"of a .git into another repository: refused; {len(trial.failures)} broken promises"
    )


def _run(trial: Trial, folder: Path, project: Path, away: Path, words: list[str], what: str) -> None:
    log = folder / "opened"
    log.touch()

    def work() -> None:
        os.environ.clear()
        os.environ.update(environment(folder))
        os.chdir(project)
        from ddp_codemod.cli import main

        own = os.open(log, os.O_WRONLY | os.O_APPEND)

        def note(event: str, args: tuple[object, ...]) -> None:
            if event in ("open", "os.listdir", "os.scandir") and args and isinstance(args[0], (str, bytes, os.PathLike)):
                path = os.path.realpath(
                    os.path.join(project, os.fspath(args[0]) if not isinstance(args[0], bytes) else os.fsdecode(args[0]))
                )
                if path.startswith(str(away)):
                    os.write(own, os.fsencode(path) + b"\n")

        sys.addaudithook(note)
        said = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main([*words, *([] if words[0] == "undo" else ["--platform", "rocm"])])
        said.flush()
        text = said.buffer.getvalue()  # type: ignore[attr-defined]
        if (SECRET.encode() in text and not _hard(what)) or code not in (0, 1, 2):
            os.write(own, b"shown\n")

    code = in_child(work)
    opened = log.read_text("utf-8", "replace").splitlines()
    if code:
        trial.fail(f"{what}: ended with {code}")
    for line in opened:
        if line == "shown":
            trial.counts["leaked"] += 1
            trial.fail(f"{what}: the canary is in the output")
        elif not _hard(what):
            trial.counts["opened"] += 1
            trial.fail(f"{what}: {line} was opened")


def _hard(what: str) -> bool:
    """A hard link in the project is a file of the project; only writing through it would reach the other name."""
    return what.startswith("hard link")
