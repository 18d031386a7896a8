"""A place to try commands in: a folder of its own with a copy of a fixture, a home, and a plain environment."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SHELL = re.compile(r"[|<>;&$`'*]")
WIDTH = "100"


class Session:
    """Commands typed one after the other in one folder; ``run`` gives what a reader would see."""

    def __init__(self, folder: Path, lang: str = "en") -> None:
        self.home, self.root = folder / "home", folder / "work"
        self.root.mkdir(parents=True)
        self.lang, self._rules_changed = lang, True
        self.environ = environment(self.home, lang)

    def bring(self, fixture: str, name: str) -> None:
        """Copy a folder of the repository to a name below this one, and stand in it where the name is a dot."""
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TOP / fixture, self.root / name, ignore=ignored, dirs_exist_ok=True)

    def write(self, name: str, text: str) -> None:
        """Write a file that a page shows."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self._rules_changed |= name.endswith(".toml")

    def run(self, typed: str) -> tuple[int, str]:
        """(exit code, both streams in their order), with what differs from run to run made the same."""
        code, said = self._shell(typed) if SHELL.search(typed) or not typed.startswith("ddp-codemod ") else self._here(typed)
        said = re.sub(r"\b[0-9a-f]{10}\b", "1f2e3d4c5b", said)
        said = said.replace(str(self.home), "/home/you/.cache")  # the folder of kept answers
        return code, said.replace(str(self.root.resolve()), "/home/you").replace(str(self.root), "/home/you")

    def _shell(self, typed: str) -> tuple[int, str]:
        self._rules_changed |= ".toml" in typed
        done = subprocess.run(
            ["sh", "-c", typed],
            cwd=self.root,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout

    def _here(self, typed: str) -> tuple[int, str]:
        """Run the command in this process: starting one takes longer than most commands do."""
        from ddp_codemod.catalog import load as rules_of
        from ddp_codemod.catalog.diagnostics import load_diagnostics
        from ddp_codemod.cli import main

        if self._rules_changed:  # a process reads them once
            rules_of._load.cache_clear()
            load_diagnostics.cache_clear()
            self._rules_changed = False
        taken = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        out, err = contextlib.redirect_stdout(taken), contextlib.redirect_stderr(taken)
        with _environment(self.environ), _chdir(self.root), out, err:
            code = main(shlex.split(typed)[1:])
        taken.flush()
        assert isinstance(taken.buffer, io.BytesIO)
        return code, taken.buffer.getvalue().decode("utf-8")


@contextlib.contextmanager
def session(lang: str = "en") -> Iterator[Session]:
    """A session in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ddp-codemod-docs-") as folder:
        yield Session(Path(folder), lang)


def environment(home: Path, lang: str) -> dict[str, str]:
    """An environment in which git knows its user, nothing says that this is CI, and the tool is this checkout's."""
    home.mkdir()
    path = os.pathsep.join([str(TOP), *filter(None, [os.environ.get("PYTHONPATH")])])
    (home / ".gitconfig").write_text("[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n", "utf-8")
    tool = home / "bin/ddp-codemod"
    tool.parent.mkdir()
    # a server that a client starts gets hardly any of the environment
    exported = f"PYTHONPATH={shlex.quote(path)} exec {shlex.quote(sys.executable)}"
    tool.write_text(f'#!/bin/sh\n{exported} -m ddp_codemod "$@"\n', "utf-8")
    tool.chmod(0o755)
    python = home / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', "utf-8")
    python.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "LC_")) and name not in ("CI", "GITHUB_ACTIONS", "NO_COLOR")
    }
    return {
        **kept,
        **dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), str(home)),
        "GIT_CONFIG_NOSYSTEM": "1",
        "SOURCE_DATE_EPOCH": "1767225600",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
        "COLUMNS": WIDTH,
        "LANG": "zh_CN.UTF-8" if lang == "zh" else "en_US.UTF-8",
        "LC_ALL": "C.UTF-8" if lang == "en" else "zh_CN.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONPATH": path,
        "PATH": f"{tool.parent}{os.pathsep}{kept['PATH']}",
    }


@contextlib.contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _chdir(folder: Path) -> Iterator[None]:  # contextlib has it from Python 3.11
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
