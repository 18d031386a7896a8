"""What the options of a run say, and the command line that would say it again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from msgspec import Struct

MACHINES = ("sarif", "github", "rdjson", "gitlab")  # formats that other tools read, beside the project's own JSON
NARROWED = ("apply", "diff", "check", "scan", "review")  # commands that may be about a part of what is found

FROM_RUN = ("apply", "diff", "check", "review")  # commands that take a run on record
WITH_SUBMODULES = ("apply", "diff", "check", "scan")


class Settings(Struct, frozen=True):
    """What the options of one run say."""

    command: str
    paths: tuple[str, ...] = ()
    platform: str | None = None
    rules: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    torch_version: str | None = None
    env_in: str = "python"
    style: str = "pin"
    unsafe: bool = False
    strict: bool = False
    format: str = "text"
    lang: str = "en"  # the reader's
    json_lang: str = "en"  # what other programs read does not depend on the locale, unless asked for
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    diff_base: str | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    output: Path | None = None
    no_cache: bool = False  # work everything out anew, and keep nothing
    applied: str | None = None  # the platform of the apply that is asked about
    apart: tuple[str, ...] = ()  # folders, from the root, that are projects of their own
    others: tuple[tuple[str, str], ...] = ()  # such folders that this run does not go through, and the platform that each names
    submodules: bool = False  # go through other repositories below the paths too

    from_run: Path | None = None  # a run of the project on record
    words: tuple[str, ...] = ()  # the command line as it was typed

    def same(self, platform: str, *more: str) -> str:
        """The command line as it was typed, for another platform."""
        if not self.words:
            return self.again(self.command, *more, platform=platform)
        kept = [
            word for at, word in enumerate(self.words) if word != "--platform" and (at == 0 or self.words[at - 1] != "--platform")
        ]
        return command_line(
            ["ddp-codemod", *(word for word in kept if not word.startswith("--platform=")), "--platform", platform, *more]
        )

    def again(self, command: str, *more: str, platform: str | None = None, paths: tuple[str, ...] | None = None) -> str:
        """A command line that does something else with the same project and choices, ready to be typed."""
        words = ["ddp-codemod", command, *(self.paths if paths is None else paths)]
        if chosen := platform or self.platform:
            words += ["--platform", chosen]
        for rule in self.rules:
            words += ["--rule", rule]
        for folder in self.folders:
            words += ["--rules", str(folder)]
        if self.torch_version:
            words += ["--torch-version", self.torch_version]
        if self.env_in != "python":
            words += ["--env-in", self.env_in]
        if self.style != "pin":
            words += ["--style", self.style]
        if self.submodules and command in WITH_SUBMODULES:
            words.append("--submodules")
        if command in FROM_RUN and self.from_run is not None:
            words += ["--from-run", str(self.from_run)]
        if command in NARROWED:
            words += [part for rule in self.select for part in ("--select", rule)]
            words += [part for rule in self.ignore for part in ("--ignore", rule)]
            words += ["--diff-base", self.diff_base] if self.diff_base is not None else []
        if self.unsafe and "--unsafe" not in more:
            words.append("--unsafe")
        return command_line([*words, *more])


def command_line(words: list[str]) -> str:
    """Words as the shell of this system takes them."""
    if sys.platform != "win32":
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)
