"""What is compared: the commands that look for the backend in a tree, and those that rewrite it in place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
Command = Callable[[Path], list[str]]


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


def tools(peers: Peers) -> list[Tool]:
    """All tools, ours first."""
    ours = [sys.executable, "-m", "ddp_codemod"]
    platform = ["--platform", "rocm"]
    python = peers.command("libcst", "python")
    ast_grep = [peers.command("ast-grep-cli", "ast-grep"), "scan", "--rule", str(PEERS / "ast-grep.yml")]
    semgrep = [
        peers.command("semgrep", "semgrep"),
        "scan",
        "--config",
        str(PEERS / "semgrep.yml"),
        "--metrics",
        "off",
        "--disable-version-check",
    ]
    semgrep += ["--quiet", "--no-git-ignore"]
    fixit = peers.command("fixit", "python")
    grep = ["grep", "-rlZ", "--include=*.py", "-e", '"nccl"', "-e", "'nccl'"]
    sed = 'xargs -0 --no-run-if-empty sed -i -E "s/([\\"\'])nccl\\1/\\1gloo\\1/g"'
    return [
        Tool("ddp-codemod scan", lambda tree: [*ours, "scan", str(tree), *platform], ours=True),
        Tool("ddp-codemod check", lambda tree: [*ours, "check", str(tree), *platform], ours=True),
        Tool("ddp-codemod diff", lambda tree: [*ours, "diff", str(tree), *platform], ours=True),
        Tool(
            "ast-grep",
            lambda tree: [*ast_grep, str(tree)],
            lambda tree: [*ast_grep, "--update-all", str(tree)],
        ),
        Tool("semgrep", lambda tree: [*semgrep, str(tree)], lambda tree: [*semgrep, "--autofix", str(tree)]),
        Tool(
            "LibCST codemod",
            lambda tree: _libcst(python, tree, "--unified-diff", "3"),
            lambda tree: _libcst(python, tree),
        ),
        Tool("Fixit", lambda tree: _fixit(fixit, "lint", tree), lambda tree: _fixit(fixit, "fix", tree, "--automatic")),
        Tool(
            "ruff E9,F",
            lambda tree: [peers.command("ruff", "ruff"), "check", "--no-cache", "--isolated", "--select", "E9,F", str(tree)],
        ),
        Tool("grep", lambda tree: [*grep, str(tree)], lambda tree: ["sh", "-c", f"{_quoted([*grep, str(tree)])} | {sed}"]),
    ]


def _libcst(python: str, tree: Path, *words: str) -> list[str]:
    # it makes a configuration file in no folder, so it is told all on the command line
    code = f"import sys; sys.path.insert(0, {str(PEERS)!r}); from libcst.tool import main; sys.exit(main('libcst.tool', sys.argv[1:]))"
    return [python, "-c", code, "codemod", *words, "--no-format", "-x", "libcst_backend.Backend", str(tree)]


def _fixit(python: str, command: str, tree: Path, *words: str) -> list[str]:
    code = f"import sys; sys.path.insert(0, {str(PEERS)!r}); from fixit.cli import main; sys.exit(main())"
    return [python, "-c", code, "--rules", "fixit_backend", "--quiet", command, *words, str(tree)]


def _quoted(words: list[str]) -> str:
    import shlex

    return " ".join(map(shlex.quote, words))
