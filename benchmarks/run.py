"""``python benchmarks/run.py``: how fast this tool and others look for backends, and how right what they make is.

    python benchmarks/run.py                                      on a published package of middle size, fetched from the index
    python benchmarks/run.py --corpus GPT-SoVITS=./GPT-SoVITS     on a folder, too, under the name that the table shows; repeatable
    python benchmarks/run.py --collection                         on published packages with 20,000 files, too
    python benchmarks/run.py --correctness                        only what they make of small projects; no clock

The peers are installed into environments of their own (``--peers``). With ``--write`` the tables and the plot go into docs/.
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
from tools import OURS, Peers, ours, qualified_names, tools

HOME = Path("~/.cache/ddp-codemod-benchmarks").expanduser()
MIDDLE = ("lightning==2.4.0",)
COLLECTION = ("ansible==9.13.0", "transformers==4.46.3", "sympy==1.13.3", "diffusers==0.31.0", "accelerate==1.1.1", *MIDDLE)
START = "python -c pass"


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", default=[], metavar="NAME=FOLDER", help="a tree to look through")
    parser.add_argument("--collection", action="store_true", help="published packages in one tree (70 MB to fetch)")
    parser.add_argument("--runs", type=int, default=5, help="how often each command is timed (default 5)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="a longer run is stopped (default 60)")
    parser.add_argument(
        "--budget", type=float, default=20, metavar="SECONDS", help="a command that has taken as long is run no more (default 20)"
    )
    parser.add_argument("--peers", type=Path, default=HOME / "peers", help="folder of the environments of the peers")
    parser.add_argument("--correctness", action="store_true", help="only the correctness half")
    parser.add_argument("--write", action="store_true", help="put the results into docs/benchmark.md and its Chinese page")
    asked = parser.parse_args()
    peers = Peers(asked.peers)
    scores = {tool.name: score(tool) for tool in tools(peers) if tool.rewrite or tool.name == f"{OURS} diff"}
    print(report.correctness(scores), flush=True)
    if not asked.correctness:
        trees = given(asked)
        with TemporaryDirectory() as folder:
            times = {**small(Path(folder), peers, asked), **corpora(trees, peers, asked)}
        results = report.Results(scores, times, {label(name, tree): size(tree) for name, tree in trees.items()})
        print(report.tables(results))
        if asked.write:
            report.write(results)
    return _verdict(scores)


def given(asked: argparse.Namespace) -> dict[str, Path]:
    """The trees to look through, by name."""
    trees = {name: Path(tree).resolve() for name, tree in (word.split("=", 1) for word in asked.corpus)}
    trees |= {pin.replace("==", " "): package(pin) for pin in MIDDLE}
    if asked.collection:
        for pin in COLLECTION:
            package(pin, "collection")
        trees["collection"] = HOME / "collection"
    return dict(sorted(trees.items(), key=lambda pair: size(pair[1])))


def size(tree: Path) -> float:
    """Megabytes of Python files in a tree."""
    return sum(path.stat().st_size for path in tree.rglob("*.py") if path.is_file()) / 1e6


def label(name: str, tree: Path) -> str:
    """The name of a tree with the number of its files."""
    return f"{name} ({sum(1 for _ in tree.rglob('*.py')):,} files, {size(tree):.1f} MB)"


def corpora(trees: dict[str, Path], peers: Peers, asked: argparse.Namespace) -> dict[str, dict[str, Timed]]:
    """The times of all tools on each tree."""
    found: dict[str, dict[str, Timed]] = {}
    for name, tree in trees.items():
        commands = {tool.name: words for tool in tools(peers) if tool.look and (words := tool.look(tree))}
        found[label(name, tree)] = in_turn({START: _start(), **commands}, asked.runs, asked.limit, asked.budget)
    return found


def small(folder: Path, peers: Peers, asked: argparse.Namespace) -> dict[str, dict[str, Timed]]:
    """The times of a hook on files that hold nothing to find, beside one that reads them all; and of one large file with an edit."""
    found: dict[str, dict[str, Timed]] = {}
    for count in (2, 200):
        files = _plain(folder / f"plain{count}", count)
        commands = {
            START: _start(),
            f"{OURS} check": ours("check", str(files[0].parent)),
            "pyupgrade": [peers.command("pyupgrade", "pyupgrade"), *map(str, files)],
        }
        found[f"hook, {count} files, nothing to find"] = in_turn(commands, asked.runs, asked.limit, asked.budget)
    [file] = _plain(folder / "large", 1, 1000)
    call = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
    file.write_text(file.read_text("utf-8") + call, "utf-8")
    commands = {
        START: _start(),
        f"{OURS} diff": ours("diff", str(file)),
        "LibCST, parsing and qualified names": qualified_names(peers, file),
    }
    found["one file of 5,000 lines, one edit"] = in_turn(commands, asked.runs, asked.limit, asked.budget)
    return found


def _plain(folder: Path, count: int, functions: int = 40) -> list[Path]:
    folder.mkdir()
    body = "".join(
        f"def step{n}(x, y):\n    z = [x + y * {n} for _ in range({n})]\n    return sum(z)\n\n\n" for n in range(functions)
    )
    files = [folder / f"module{number}.py" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(f'"""Module {number}."""\n\nimport math\n\n\n{body}', "utf-8")
    return files


def _start() -> list[str]:
    return [sys.executable, "-c", "pass"]


def package(pin: str, folder: str = "corpus") -> Path:
    """The sources of a published package, fetched once."""
    at = HOME / folder / pin
    if not at.is_dir():
        with TemporaryDirectory() as temporary:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*pip, "--only-binary", ":all:", "--dest", temporary, pin], check=True)
            part = at.with_name(f"{pin}.part")
            with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
                wheel.extractall(part)
        shutil.move(part, at)
    return at


def _verdict(scores: dict[str, Score]) -> int:
    """0 where this tool spoils nothing and gets most places right, more than any other does; else 1."""
    own = next(made for name, made in scores.items() if name.startswith(OURS))
    others = [made for name, made in scores.items() if not name.startswith(OURS)]
    return int(own.spoilt > 0 or own.wrong > 0 or any(other.right >= own.right for other in others))


if __name__ == "__main__":
    sys.exit(main())
