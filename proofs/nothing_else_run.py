"""Nothing else changes: small whole programs, run before and after ``apply``, must do the same.

    python -m proofs.nothing_else_run [FILTER] [--portable] [--platform P] [--json OUT] [-v] [-j N] [--before-only] [--tool DIR]

Each file ``proofs/programs/KIND/NAME.txt`` is one project: a TOML head, then its files under ``-- path --`` lines; a
file ``proofs/programs/KIND.txt`` holds many, each under a line ``=== NAME``, below what their heads have in common.
Its commands run in a fresh folder with the stand-in packages of ``proofs/recorded`` on PYTHONPATH, which write down
every call of interest.  They run once as the project is, and once after a plain ``apply``.  What is compared:

* the recorded calls: equal, except that the backend of the process group goes from nccl to what the platform has
  (and what Windows needs of libuv);
* standard output, standard error and the contents of written files: equal, where a name of a backend stands for any;
* the names of written files and the exit codes: equal.

Verdicts: ``same``; ``differs`` (something else changed), ``noted`` where a note names a line that asks the group for its
backend; ``arrives`` (nothing else changed, and nccl still arrives in the project's own call), ``silent`` where the tool
lists nothing that is left to do (as it cannot where only the command of the head has the name); ``broken`` (the program
as written here does not do what its head says).

With ``--portable`` the stand-ins play a machine each: with NVIDIA cards, the program must do exactly what it did, the
group's own arguments included (``differs``), and on the target make the calls that it makes after a plain ``apply``
(``apart``).

The exit code is 0 where every verdict is ``same``, or what the program's head says is known.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from proofs.nothing_else_collection import PLATFORMS, Program, collection, lay_out, tree
from proofs.nothing_else_compare import Run, arriving, compare, identical, same_calls

REPOSITORY = Path(__file__).resolve().parent.parent
RECORDED = REPOSITORY / "proofs" / "recorded"
ASKED = frozenset({"rocm"})  # the platforms on which portable code is an unsafe fix, which must be asked for
LIMIT_S = 20
NOTE = "tied-to-the-name"  # of each line that decides something by the name of the group
_SAID = re.compile(r"needs? review|unsafe fix|not traced to|needs? a decision", re.IGNORECASE)
OLD = 1_000_000_000  # a time before any run: what is younger was written by the run


@dataclass
class Result:
    """The verdict on one program on one platform."""

    kind: str
    name: str
    platform: str
    verdict: str
    what: list[str] = field(default_factory=list)
    before: Run | None = None
    after: Run | None = None
    tool_code: int | None = None
    tool_says: str = ""
    patch: str = ""


def tools(binaries: Path) -> None:
    """Put python, python3 and torchrun for the programs' command lines in this folder.

    Before any thread starts: a program cannot be run while a child of another thread still has it open to write.
    """
    for name, words in (("python", ""), ("python3", ""), ("torchrun", " -m torch.distributed.run")):
        path = binaries / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        path.chmod(0o755)


def run(program: Program, root: Path, folder: Path, binaries: Path, machine: str = "nvidia") -> Run:
    """Run the commands of the program in this folder, on a machine that the stand-ins play."""
    came = Run()
    ahead = tree(root)
    for path in ahead.values():
        os.utime(path, (OLD, OLD))
    record = folder / f"{root.parent.name}.jsonl"
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(RECORDED),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",
        "RECORD": str(record),
        "MACHINE": machine,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
    for command in program.commands:
        try:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
            )
            came.codes.append(done.returncode)
            came.out += done.stdout
            came.err += done.stderr
        except subprocess.TimeoutExpired:
            came.codes.append(-999)
    came.out, came.err = came.out.replace(str(root), "ROOT"), came.err.replace(str(root), "ROOT")
    if record.exists():
        lines = record.read_text(encoding="utf-8").replace(str(root), "ROOT").splitlines()
        came.calls = [json.loads(line) for line in lines]
        record.unlink()
    behind = tree(root)
    for name, path in behind.items():
        if name not in ahead or path.stat().st_mtime != OLD:
            came.files[name] = path.read_text(encoding="utf-8", errors="replace").replace(str(root), "ROOT")
    came.gone = sorted(set(ahead) - set(behind))
    return came


def patch_between(program: Program, root: Path) -> str:
    """What the tool changed in the files of the program."""
    parts: list[str] = []
    now = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in tree(root).items()}
    for name in sorted({**program.files, **now}):
        old, new = program.files.get(name, ""), now.get(name, "")
        if old != new:
            parts += difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=1)
    return "\n".join(parts)


def apply(root: Path, platform: str, folder: Path, tool: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tool on the program."""
    environment = {**os.environ, "PYTHONPATH": str(tool), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "ddp_codemod", "apply", str(root), "--platform", platform, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )


def judge(
    program: Program, platforms: list[str], binaries: Path, tool: Path, before_only: bool = False, portable: bool = False
) -> Iterator[Result]:
    """The verdicts on one program."""
    with tempfile.TemporaryDirectory(prefix="nothing-else-") as name:
        folder = Path(name).resolve()
        root = folder / "before" / "project"
        lay_out(program, root)
        before = run(program, root, folder, binaries)
        broken = []
        if any(before.codes):
            broken.append(f"exit codes {before.codes}: {before.err.strip()[-300:]}")
        if arriving(before.calls) == (program.arrives == "never"):
            broken.append("nccl arrives" if program.arrives == "never" else "nccl does not arrive")
        if program.arrives == "unchanged":
            broken = [why for why in broken if why != "nccl does not arrive"]
        if before_only:  # two runs of one program must be alike, or the comparison says nothing
            again = folder / "again1" / "project"
            lay_out(program, again)
            broken += compare(before, run(program, again, folder, binaries), "rocm")
        if broken or before_only:
            yield Result(program.kind, program.name, "-", "broken" if broken else "same", broken, before)
            return
        if portable:
            yield from (_judge_portable(program, platform, before, folder, binaries, tool) for platform in platforms)
            return
        for platform in platforms:
            root = folder / f"after-{platform}" / "project"
            lay_out(program, root)
            done = apply(root, platform, folder, tool)
            patch = patch_between(program, root)
            after = run(program, root, folder, binaries)
            what = compare(before, after, platform)
            if done.returncode < 0 or "Traceback (most recent call last)" in done.stderr:
                what.append(f"the tool itself failed: {done.stderr.strip()[-200:]}")
            if what:
                verdict = "noted" if NOTE in done.stdout + done.stderr else "differs"
            elif program.arrives not in ("never", "unchanged") and _arrives(program, root, platform, folder, binaries, after):
                verdict = "arrives" if _SAID.search(done.stdout + done.stderr) else "silent"
            else:
                verdict = "same"
            yield Result(
                program.kind,
                program.name,
                platform,
                verdict,
                what,
                before,
                after,
                done.returncode,
                done.stdout + done.stderr,
                patch,
            )
            shutil.rmtree(root.parent, ignore_errors=True)


def _arrives(program: Program, root: Path, platform: str, folder: Path, binaries: Path, after: Run) -> bool:
    """Whether nccl arrives on the target too, where a library may pick another backend by itself."""
    return arriving(after.calls) and arriving(run(program, root, folder, binaries, platform).calls)


def _judge_portable(program: Program, platform: str, before: Run, folder: Path, binaries: Path, tool: Path) -> Result:
    """Whether portable code leaves the machine it comes from as it was, and does on the target what pinned code does."""
    root, pinned = folder / f"portable-{platform}" / "project", folder / f"pinned-{platform}" / "project"
    asked = ["--unsafe"] if platform in ASKED else []
    for at, words in ((root, ["--style", "portable", *asked]), (pinned, asked)):
        lay_out(program, at)
        done = apply(at, platform, folder, tool, *words)
        if at is root:
            shown, patch = done, patch_between(program, root)
    there = folder / f"there-{platform}" / "project"
    shutil.copytree(root, there)
    after = run(program, root, folder, binaries)
    what = [f"on the old machine: {why}" for why in identical(before, after)]
    verdict = "differs" if what else "same"
    expected, came = (run(program, at, folder, binaries, platform) for at in (pinned, there))
    if apart := same_calls(expected, came):
        what += [f"on the new machine: {why}" for why in apart]
        verdict = "apart" if verdict == "same" else verdict
    says = shown.stdout + shown.stderr
    if "Traceback (most recent call last)" in shown.stderr:
        verdict, what = "differs", [*what, f"the tool itself failed: {shown.stderr.strip()[-200:]}"]
    return Result(program.kind, program.name, f"portable {platform}", verdict, what, before, after, shown.returncode, says, patch)


def table(results: list[Result]) -> str:
    """The counts of verdicts per kind and platform."""
    verdicts = ("same", "noted", "arrives", "silent", "apart", "differs", "broken")
    counts: Counter[tuple[str, str, str]] = Counter((r.kind, r.platform, r.verdict) for r in results)
    rows = sorted({(r.kind, r.platform) for r in results})
    lines = [f"{'kind':<20}{'platform':<18}" + "".join(f"{name:>9}" for name in verdicts)]
    for kind, platform in rows:
        lines.append(f"{kind:<20}{platform:<18}" + "".join(f"{counts[kind, platform, name]:>9}" for name in verdicts))
    for platform in sorted({r.platform for r in results}):
        sums = [sum(r.platform == platform and r.verdict == name for r in results) for name in verdicts]
        lines.append(f"{'all':<20}{platform:<18}" + "".join(f"{number:>9}" for number in sums))
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="proofs.nothing_else_run", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("filter", nargs="?", default="", help="only programs whose KIND/NAME has this text")
    parser.add_argument("--portable", action="store_true", help="judge apply --style portable, on both machines")
    parser.add_argument("--platform", action="append", help="only this platform (may be repeated)")
    parser.add_argument("--json", metavar="OUT", help="write all verdicts, runs and patches to this file")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print the patch of what is not same")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many programs at a time")
    parser.add_argument("--before-only", action="store_true", help="only check the programs themselves, by two runs")
    parser.add_argument("--tool", type=Path, default=REPOSITORY, help="run the tool of this checkout")
    options = parser.parse_args(argv)

    def one(program: Program) -> list[Result]:
        platforms = program.platforms
        if options.platform:
            anywhere = platforms == list(PLATFORMS)
            platforms = [name for name in options.platform if anywhere or name in platforms]
        return list(judge(program, platforms, binaries, options.tool.resolve(), options.before_only, options.portable))

    results: list[Result] = []
    unlike = 0  # what is not as the heads of the programs say
    asked = collection(options.filter)
    here = [program for program in asked if not program.missing]
    with tempfile.TemporaryDirectory(prefix="nothing-else-bin-") as bin_name, ThreadPoolExecutor(options.jobs) as pool:
        binaries = Path(bin_name).resolve()
        tools(binaries)
        for program, found in zip(here, pool.map(one, here), strict=True):
            for result in found:
                results.append(result)
                known = program.known.get(result.platform, "same")
                unlike += result.verdict != known
                if result.verdict != "same" or known != "same":
                    mark = "known   " if result.verdict == known else f"not {known}: " if known != "same" else ""
                    why = " | ".join(result.what)[:400]
                    print(f"{mark}{result.verdict:<8} {program.title} [{result.platform}] {why}", flush=True)
                    if options.verbose:
                        print(f"{result.patch or '(no edit)'}\n")
    print(table(results))
    if len(here) < len(asked):
        packages = sorted({name for program in asked for name in program.missing})
        print(f"{len(asked) - len(here)} programs left out: they need {', '.join(packages)}")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(r) for r in results], indent=1), encoding="utf-8")
    return int(bool(unlike))


if __name__ == "__main__":
    sys.exit(main())
