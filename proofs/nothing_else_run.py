"""Nothing else changes: small whole programs, run before and after ``apply``, must do the same.

    python -m proofs.nothing_else_run [FILTER] [--platform P] [--json OUT] [-v] [-j N] [--before-only] [--tool DIR]

Each file ``proofs/programs/KIND/NAME.txt`` is one project: a TOML head, then its files under ``-- path --`` lines.
Its commands run in a fresh folder with the stand-in packages of ``proofs/recorded`` on PYTHONPATH, which write down
every call of interest.  They run once as the project is, and once after a plain ``apply``.  What is compared:

* the recorded calls: equal, except that the backend of the process group goes from nccl to what the platform has
  (and what Windows needs of libuv);
* standard output, standard error and the contents of written files: equal, where a name of a backend stands for any;
* the names of written files and the exit codes: equal.

Verdicts: ``same``; ``differs`` (something else changed); ``arrives`` (nothing else changed, and nccl still arrives in
the project's own call); ``broken`` (the program as written here does not do what its head says).
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
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
PROGRAMS = HERE / "programs"
RECORDED = HERE / "recorded"
PLATFORMS = ("rocm", "windows", "ascend")
BACKEND = {"rocm": "gloo", "windows": "gloo", "ascend": "hccl", "single-gpu": "gloo"}
LIMIT_S = 20
OLD = 1_000_000_000  # a time before any run: what is younger was written by the run

_PATH_LINE = re.compile(r"^-- (\S+) --$", re.MULTILINE)
_NAMES = re.compile(r"nccl|gloo|hccl", re.IGNORECASE)
_GROUP = re.compile(r"^torch\.distributed\.(init_process_group|new_group|new_subgroups)$")
_GONE = re.compile(r"^torch\.(distributed|nn\.parallel)\.")  # may vanish where there is one GPU
_WARNING = re.compile(r"warn|backend|instead|replac|not available|libuv", re.IGNORECASE)
_LIBUV = re.compile(r"[?&]use_libuv=(0|False)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_PID = re.compile(r"\bpid[ =:]+\d+")


@dataclass
class Program:
    """One project of the collection."""

    kind: str
    name: str
    commands: list[str]
    platforms: list[str]
    why: str
    arrives: str
    files: dict[str, str]

    @property
    def title(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass
class Run:
    """What one run of a program did."""

    codes: list[int] = field(default_factory=list)
    out: str = ""
    err: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


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


def read(path: Path) -> Program:
    """The program in this file."""
    text = path.read_text(encoding="utf-8")
    parts = _PATH_LINE.split(text)
    head = tomllib.loads(parts[0])
    known = {"command", "commands", "platforms", "why", "arrives"}
    if strange := set(head) - known:
        raise SystemExit(f"{path}: unknown keys {sorted(strange)}")
    files = {name: body.lstrip("\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    return Program(
        kind=path.parent.name,
        name=path.stem,
        commands=head.get("commands") or [head["command"]],
        platforms=head.get("platforms", list(PLATFORMS)),
        why=head["why"],
        arrives=head.get("arrives", ""),
        files=files,
    )


def collection(wanted: str = "") -> list[Program]:
    """All programs whose KIND/NAME has this text."""
    found = [read(path) for path in sorted(PROGRAMS.glob("*/*.txt"))]
    return [program for program in found if wanted in program.title]


def lay_out(program: Program, root: Path) -> None:
    """Write the files of the program."""
    for name, body in program.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
        if name.endswith(".sh"):
            path.chmod(0o755)


def tree(root: Path) -> dict[str, Path]:
    """The files below this folder, by their name in it."""
    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def tools(binaries: Path) -> None:
    """Put python, python3 and torchrun for the programs' command lines in this folder.

    Before any thread starts: a program cannot be run while a child of another thread still has it open to write.
    """
    for name, words in (("python", ""), ("python3", ""), ("torchrun", " -m torch.distributed.run")):
        path = binaries / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        path.chmod(0o755)


def run(program: Program, root: Path, folder: Path, binaries: Path) -> Run:
    """Run the commands of the program in this folder."""
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


def level(text: str) -> str:
    """The text with one word for the name of any backend, and without what varies by run."""
    return _PID.sub("pid N", _ADDRESS.sub("0xN", _NAMES.sub("BACKEND", text)))


def lines_apart(before: str, after: str, warnings: bool = False) -> list[str]:
    """The lines by which two texts differ; where told, warnings about the backend may be added."""
    old, new = level(before).splitlines(), level(after).splitlines()
    apart: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        added = [line for line in new[j1:j2] if not (warnings and _WARNING.search(line))]
        apart += [f"- {line}" for line in old[i1:i2]] + [f"+ {line}" for line in added]
    return apart


def call_apart(before: dict[str, Any], after: dict[str, Any], platform: str) -> str:
    """How the second call differs from the first more than it may, or nothing."""
    if before["call"] != after["call"]:
        return f"{before['call']} became {after['call']}"
    old, new = dict(before["args"]), dict(after["args"])
    windows = platform == "windows"
    if _GROUP.match(before["call"]):
        was, now = old.pop("backend", None), new.pop("backend", None)
        text = str(now).lower()
        fits = BACKEND[platform] in text and "nccl" not in text
        if was != now and not (fits and (was is None or "nccl" in str(was).lower())):
            return f"{before['call']}: backend was {was!r}, is {now!r}"
        if windows and new.get("init_method") != old.get("init_method"):
            method = str(new.get("init_method"))
            if _LIBUV.sub("", method) == old.get("init_method", "env://"):
                old.pop("init_method", None), new.pop("init_method")
    if windows and before["call"] == "torch.distributed.TCPStore" and "use_libuv" not in old:
        if new.get("use_libuv") is False:
            new.pop("use_libuv")
    if old != new:
        keys = [key for key in {**old, **new} if old.get(key, "(none)") != new.get(key, "(none)")]
        return "; ".join(f"{before['call']}: {key} was {old.get(key)!r}, is {new.get(key)!r}" for key in keys)
    was_env, is_env = dict(before.get("env", {})), dict(after.get("env", {}))
    if windows and is_env.get("USE_LIBUV") == "0":
        was_env.pop("USE_LIBUV", None), is_env.pop("USE_LIBUV")
    if was_env != is_env:
        return f"{before['call']}: environment was {was_env}, is {is_env}"
    return ""


def calls_apart(before: list[dict[str, Any]], after: list[dict[str, Any]], platform: str) -> list[str]:
    """How the second calls differ from the first more than they may."""
    if platform == "single-gpu":
        before = [call for call in before if not _GONE.match(call["call"])]
        after = [call for call in after if not _GONE.match(call["call"])]
    if len(before) != len(after) or [call["call"] for call in before] != [call["call"] for call in after]:
        old = [level(json.dumps({"call": call["call"], "args": call["args"]})) for call in before]
        new = [level(json.dumps({"call": call["call"], "args": call["args"]})) for call in after]
        return [line for line in difflib.ndiff(old, new) if line[:1] in "+-"] or ["the order of calls"]
    return [why for old, new in zip(before, after, strict=True) if (why := call_apart(old, new, platform))]


def arriving(calls: list[dict[str, Any]]) -> bool:
    """Does nccl arrive in a call that makes a process group?"""
    return any(_GROUP.match(call["call"]) and "nccl" in str(call["args"].get("backend", "")).lower() for call in calls)


def compare(before: Run, after: Run, platform: str) -> list[str]:
    """Everything by which the second run differs from the first more than it may."""
    what = []
    if before.codes != after.codes:
        tail = [line for line in after.err.strip().splitlines() if line.strip()][-1:]
        what.append(f"exit codes {before.codes} became {after.codes}: {' '.join(tail)}")
    what += [f"call: {why}" for why in calls_apart(before.calls, after.calls, platform)]
    what += [f"stdout: {line}" for line in lines_apart(before.out, after.out)]
    if before.codes == after.codes:
        what += [f"stderr: {line}" for line in lines_apart(before.err, after.err, warnings=True)]
    if set(before.files) != set(after.files):
        what.append(
            f"files written: only before {sorted(set(before.files) - set(after.files))}, "
            f"only after {sorted(set(after.files) - set(before.files))}"
        )
    for name in sorted(set(before.files) & set(after.files)):
        what += [f"file {name}: {line}" for line in lines_apart(before.files[name], after.files[name])]
    if before.gone != after.gone:
        what.append(f"files removed: {before.gone} became {after.gone}")
    return what


def patch_between(program: Program, root: Path) -> str:
    """What the tool changed in the files of the program."""
    parts: list[str] = []
    now = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in tree(root).items()}
    for name in sorted({**program.files, **now}):
        old, new = program.files.get(name, ""), now.get(name, "")
        if old != new:
            parts += difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=1)
    return "\n".join(parts)


def apply(root: Path, platform: str, folder: Path, tool: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool on the program."""
    environment = {**os.environ, "PYTHONPATH": str(tool), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "ddp_codemod", "apply", str(root), "--platform", platform],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
    )


def judge(program: Program, platforms: list[str], binaries: Path, before_only: bool, tool: Path) -> Iterator[Result]:
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
                verdict = "differs"
            elif arriving(after.calls) and program.arrives not in ("never", "unchanged"):
                verdict = "arrives"
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


def table(results: list[Result]) -> str:
    """The counts of verdicts per kind and platform."""
    verdicts = ("same", "arrives", "differs", "broken")
    counts: Counter[tuple[str, str, str]] = Counter((r.kind, r.platform, r.verdict) for r in results)
    rows = sorted({(r.kind, r.platform) for r in results})
    lines = [f"{'kind':<15}{'platform':<12}" + "".join(f"{name:>9}" for name in verdicts)]
    for kind, platform in rows:
        lines.append(f"{kind:<15}{platform:<12}" + "".join(f"{counts[kind, platform, name]:>9}" for name in verdicts))
    for platform in sorted({r.platform for r in results}):
        sums = [sum(r.platform == platform and r.verdict == name for r in results) for name in verdicts]
        lines.append(f"{'all':<15}{platform:<12}" + "".join(f"{number:>9}" for number in sums))
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="proofs.nothing_else_run", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("filter", nargs="?", default="", help="only programs whose KIND/NAME has this text")
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
        return list(judge(program, platforms, binaries, options.before_only, options.tool.resolve()))

    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="nothing-else-bin-") as bin_name, ThreadPoolExecutor(options.jobs) as pool:
        binaries = Path(bin_name).resolve()
        tools(binaries)
        for found in pool.map(one, collection(options.filter)):
            for result in found:
                results.append(result)
                if result.verdict != "same":
                    print(
                        f"{result.verdict:<8} {result.kind}/{result.name} [{result.platform}] {' | '.join(result.what)[:400]}",
                        flush=True,
                    )
                    if options.verbose:
                        print(f"{result.patch or '(no edit)'}\n")
    print(table(results))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(r) for r in results], indent=1), encoding="utf-8")
    return int(any(r.verdict in ("differs", "broken") for r in results))


if __name__ == "__main__":
    sys.exit(main())
