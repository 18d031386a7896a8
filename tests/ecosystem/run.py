"""Runs the tool on published packages, which nobody here wrote, and holds it to what must be true of any code.

``python tests/ecosystem/run.py [--update] [--show FOLDER] [PIN...]``: each pin (``name==version``) is a table in counts.toml; without
a pin, all are run. Only wheels are fetched and nothing in them is run or installed. Exit codes: 0 all is well, 1 something is not,
3 a package could not be fetched. A new package: add its table, empty, and run with ``--update``.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.model import Action, Applicability, Survey
from ddp_codemod.patch.gitdiff import format_git_diff
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

PLATFORMS = ("rocm", "windows", "ascend")
COUNTS = Path(__file__).with_name("counts.toml")
UNREACHABLE = 3
Counts = dict[str, dict[str, int]]  # platform -> what -> how many


class Unfetched(Exception):
    """A package that pip could not fetch; the text is pip's last line."""


@dataclass
class Checked:
    """One package under one platform: how many edits and reviews, what is wrong, and the patch."""

    counts: dict[str, int]
    wrong: list[str]
    patch: bytes


def cache() -> Path:
    """The folder where packages are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ddp-codemod" / "ecosystem"


def wheel(pin: str) -> Path:
    """The wheel of a pinned package, fetched once. Raises Unfetched."""
    folder = cache() / pin.replace("==", "-")
    if not (found := sorted(folder.glob("*.whl"))):
        words = ["download", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10", "--no-deps"]
        words += ["--only-binary", ":all:", "--dest", str(folder), pin]
        pip = subprocess.run(
            [sys.executable, "-m", "pip", *words], capture_output=True, text=True, encoding="utf-8", errors="replace"
        )
        if pip.returncode:
            raise Unfetched((pip.stderr.strip().splitlines() or ["pip failed"])[-1])
        found = sorted(folder.glob("*.whl"))
    return found[0]


def check(root: Path, platform: str, rules: Rules) -> Checked:
    """Survey a project, patch it, look at the outcome, and put it back as it was."""
    found, made = _run(root, platform, rules)
    patch = format_git_diff(made.changes)
    wrong = [
        f"{skipped.name}: {skipped.reason.key}, though it parses" for skipped in found.skipped if _parses(root / skipped.name)
    ]
    wrong += [f"{skipped.name}: an edit failed: {skipped.reason.key}" for skipped in made.failed]
    wrong += [f"{change.name}: does not compile" for change in made.changes if not _compiles(change.name, change.after)]
    try:
        wrong += list(_applied(root, patch, platform, rules, made)) if patch else []
    finally:
        for change in made.changes:
            (root / change.name).write_bytes(change.before)
    return Checked(_counts(found), wrong, patch)


def _run(root: Path, platform: str, rules: Rules) -> tuple[Survey, Rendered]:
    found = survey(Options((root,), rules.platforms[platform], rules, root=root))
    return found, render(found, unsafe=True)


def _applied(root: Path, patch: bytes, platform: str, rules: Rules, made: Rendered) -> Iterator[str]:
    """What is wrong once git has applied the patch."""
    for words in (["apply", "--check", "-"], ["apply", "-"]):
        git = subprocess.run(["git", *words], cwd=root, input=patch, capture_output=True)
        if git.returncode:
            yield f"git {' '.join(words)}: {git.stderr.decode(errors='replace').strip()}"
            return
    for change in made.changes:
        if (root / change.name).read_bytes() != change.after:
            yield f"{change.name}: git made something else of it than the tool shows"
    for change in _run(root, platform, rules)[1].changes:
        edit = change.edits[0]
        yield f"{change.name}: a second run would still change it: {edit.rule} {edit.after!r}"


def _counts(found: Survey) -> dict[str, int]:
    edits = Counter(edit.applicability for edit in found.edits)
    reviews = sum(decision.action is Action.REVIEW for decision in found.decisions)
    return {
        "safe": edits[Applicability.SAFE],
        "unsafe": edits[Applicability.UNSAFE],
        "manual": edits[Applicability.MANUAL],
        "review": reviews,
    }


def _parses(path: Path) -> bool:
    return path.suffix == ".py" and _compiles(path.name, path.read_bytes(), ast.PyCF_ONLY_AST)


def _compiles(name: str, data: bytes, flags: int = 0) -> bool:
    if not name.endswith(".py"):
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, name, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def write(table: dict[str, Counts]) -> None:
    """Store the table of counts."""
    lines = ["# Edits and reviews in published packages; written by `run.py --update`, read the diff before it is committed."]
    for pin, counts in sorted(table.items()):
        lines += ["", f'["{pin}"]']
        lines += [f"{platform} = {{ {', '.join(f'{k} = {v}' for k, v in many.items())} }}" for platform, many in counts.items()]
    COUNTS.write_text("\n".join(lines) + "\n", "utf-8")


def main() -> int:
    """Run the packages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pins", nargs="*", metavar="PIN")
    parser.add_argument("--update", action="store_true", help="store the counts instead of comparing them")
    parser.add_argument("--show", type=Path, metavar="FOLDER", help="also leave every patch there, to read")
    asked = parser.parse_args()
    table = msgspec.toml.decode(COUNTS.read_bytes(), type=dict[str, Counts])
    rules = load()
    failed = unfetched = 0
    os.environ["GIT_CEILING_DIRECTORIES"] = tempfile.gettempdir()  # the copy is no part of a repository around it
    for pin in asked.pins or sorted(table):
        began = time.monotonic()
        try:
            archive = wheel(pin)
        except Unfetched as why:
            print(f"{pin}: not fetched: {why}", flush=True)
            unfetched += 1
            continue
        wrong: list[str] = []
        told: Counts = {}
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(folder)
            for platform in PLATFORMS:
                checked = check(Path(folder).resolve(), platform, rules)
                told[platform] = checked.counts
                wrong += [f"{platform}: {line}" for line in checked.wrong]
                if asked.show:
                    asked.show.mkdir(parents=True, exist_ok=True)
                    (asked.show / f"{pin.replace('==', '-')}.{platform}.patch").write_bytes(checked.patch)
        if asked.update:
            table[pin] = told
        else:
            stored = table.get(pin, {})
            wrong += [f"{p}: {told[p]}, but counts.toml says {stored.get(p)}" for p in told if told[p] != stored.get(p)]
        failed += bool(wrong)
        print(f"{pin}: {'WRONG' if wrong else 'ok'}, {time.monotonic() - began:.0f} s", *wrong, sep="\n  ", flush=True)
    if asked.update:
        write(table)
    return 1 if failed else UNREACHABLE if unfetched else 0


if __name__ == "__main__":
    sys.exit(main())
