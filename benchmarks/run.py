"""``python benchmarks/run.py``: how fast this tool and others look for backends, and how right what they make is.

    python benchmarks/run.py --corpus GPT-SoVITS=./GPT-SoVITS     a folder, under the name that the table shows; repeatable
    python benchmarks/run.py                                      a published package of middle size, fetched from the index
    python benchmarks/run.py --correctness                        only what they make of small projects; no clock

The peers are installed into an environment of their own (``--peers``). With ``--write`` the table and the plot go into the READMEs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import report
from correctness import Score, score
from timing import Timed, in_turn
from tools import Peers, tools

HOME = Path("~/.cache/ddp-codemod/benchmarks").expanduser()
PACKAGES = ("lightning==2.4.0",)
START = "python -c pass"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FOLDER", help="a tree to look through")
    parser.add_argument("--runs", type=int, default=5, help="how often each command is timed (default 5)")
    parser.add_argument(
        "--limit", type=float, default=120, metavar="SECONDS", help="a command that takes longer is stopped (default 120)"
    )
    parser.add_argument("--peers", type=Path, default=HOME / "peers", help="folder of the environment for the peers")
    parser.add_argument("--correctness", action="store_true", help="only the correctness half")
    parser.add_argument("--write", action="store_true", help="put the results into README.md and README.zh-CN.md")
    asked = parser.parse_args()
    known = tools(Peers(asked.peers))
    scores = {tool.name: score(tool) for tool in known if tool.rewrite or tool.name.endswith("diff")}
    print(report.correctness(scores))
    if not asked.correctness:
        with TemporaryDirectory() as folder:
            times = {**hooks(Path(folder), asked), **corpora(asked)}
        print(report.times(times, START))
        if asked.write:
            report.write(scores, times, START)
    return _verdict(scores)


def corpora(asked: argparse.Namespace) -> dict[str, dict[str, Timed]]:
    """The times of all tools on each tree."""
    trees = dict(word.split("=", 1) for word in asked.corpus) or {pin: str(package(pin)) for pin in PACKAGES}
    found: dict[str, dict[str, Timed]] = {}
    for name, tree in trees.items():
        root = Path(tree).resolve()
        files = sum(1 for _ in root.rglob("*.py"))
        commands = {tool.name: tool.look(root) for tool in tools(Peers(asked.peers)) if tool.look}
        found[f"{name} ({files} files)"] = in_turn({START: [sys.executable, "-c", "pass"], **commands}, asked.runs, asked.limit)
    return found


def hooks(folder: Path, asked: argparse.Namespace) -> dict[str, dict[str, Timed]]:
    """The times of a hook on files that hold nothing to find, beside one that reads them all."""
    found: dict[str, dict[str, Timed]] = {}
    pyupgrade = Peers(asked.peers).command("pyupgrade", "pyupgrade")
    for count in (2, 200):
        tree = folder / f"plain{count}"
        tree.mkdir()
        body = "".join(
            f"def step{n}(x, y):\n    z = [x + y * {n} for _ in range({n})]\n    return sum(z)\n\n\n" for n in range(40)
        )
        for number in range(count):
            (tree / f"module{number}.py").write_text(f'"""Module {number}."""\n\nimport math\n\n\n{body}', "utf-8")
        files = [str(path) for path in sorted(tree.iterdir())]
        commands = {
            START: [sys.executable, "-c", "pass"],
            "ddp-codemod check": [sys.executable, "-m", "ddp_codemod", "check", str(tree), "--platform", "rocm"],
            "pyupgrade": [pyupgrade, *files],
        }
        found[f"hook, {count} files, nothing to find"] = in_turn(commands, asked.runs, asked.limit)
    return found


def package(pin: str) -> Path:
    """The sources of a published package, fetched once."""
    folder = HOME / "corpus" / pin
    if not folder.is_dir():
        with TemporaryDirectory() as temporary:
            pip = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--dest",
                temporary,
                pin,
            ]
            subprocess.run(pip, check=True)
            with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
                wheel.extractall(folder.with_suffix(".part"))
        shutil.move(folder.with_suffix(".part"), folder)
    return folder


def _verdict(scores: dict[str, Score]) -> int:
    """0 where this tool spoils nothing and gets most places right, more than any other does; else 1."""
    ours = next(made for name, made in scores.items() if name.startswith("ddp-codemod"))
    others = [made for name, made in scores.items() if not name.startswith("ddp-codemod")]
    return int(ours.spoilt > 0 or ours.wrong > 0 or any(other.right >= ours.right for other in others))


if __name__ == "__main__":
    sys.exit(main())
