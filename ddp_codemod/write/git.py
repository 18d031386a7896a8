"""Starts git, so that nothing which a repository says is run; nothing else in the package starts it.

What a repository can name as a program: hooks, a file system monitor, filters, diff and merge drivers, remotes, pagers. Each is
switched off. Variables ``GIT_*`` are dropped: inside a hook they point to another repository. System and global configuration
are off, since they may name programs too; the few values without which git sees other files are read from there and returned
(``Settings``).

Only ``Git.reach`` talks to another repository: over the protocols that its caller allows, asking nobody anything, with the user's
own way to reach a server (proxy, certificates, credential helper, ssh) and nothing else of the user's configuration.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from ddp_codemod.write.errors import RepositoryUnreadable
from ddp_codemod.write.untrusted_repository import find_blocking_file

TIMEOUT = 8.0  # seconds; a repository may include a file that never ends, and no file is to take ten

_SWITCHED_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.askPass": "",
    "core.alternateRefsCommand": "",
    "credential.helper": "",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
}
_PROGRAMS = frozenset(
    {"clean", "smudge", "process", "command", "textconv", "driver", "uploadpack", "receivepack", "vcs", "proxy"}
)
_FROM_USER = frozenset({"core.autocrlf", "core.eol", "core.excludesfile", "core.attributesfile"})
# what of the user's own configuration it takes to reach a server
_TO_REACH = ("http.", "credential.", "url.", "core.sshcommand", "ssh.variant")
_ASK_NOBODY = "ssh -oBatchMode=yes"
# what points git to another repository than the one it is started in
PLACES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"}
)
_NAMED = "GIT_PYTHON_GIT_EXECUTABLE"
# where the user's own configuration lies; asked for once, and only to read it
_CONFIGURATION = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


class GitMissing(Exception):
    """Git, or on Windows the GitPython that starts it, is not installed."""


class Answer(Struct, frozen=True):
    """What a git command gave."""

    code: int
    out: bytes
    error: str


class Settings(Struct, frozen=True):
    """The configuration of one repository, read as data."""

    values: Mapping[str, str]  # the last value of each key, whoever says it
    extra: tuple[tuple[str, str], ...] = ()  # what every command is told on top
    programs: tuple[str, ...] = ()  # keys that name a program for a driver of the repository

    def flag(self, key: str) -> bool:
        """A value as git reads booleans."""
        return self.values.get(key, "false").lower() in ("true", "yes", "on", "1", "")


class Git(Struct, frozen=True):
    """Git in one work tree, whose top holds ``.git``."""

    top: Path
    settings: Settings = field(default_factory=lambda: Settings({}))

    @classmethod
    def at(cls, top: Path) -> Git:
        """Read the configuration that counts here. Raises GitMissing, RepositoryUnreadable."""
        if (pipe := find_blocking_file(top / ".git")) is not None:
            raise RepositoryUnreadable(why=f"{pipe}: not a regular file")
        inherited = {name: os.environ[name] for name in _CONFIGURATION if name in os.environ}
        answer = _run_isolated(top, ["config", "--list", "-z", "--show-scope"], b"", inherited)
        if answer.code < 0:
            raise RepositoryUnreadable(why=answer.error)
        if not answer.code:
            return cls(top, _parse_settings(answer.out))
        plain = _run_isolated(top, ["config", "--list", "-z"], b"", inherited).out  # git before 2.26 tells no scopes
        return cls(top, _parse_settings(b"".join(b"local\0" + entry + b"\0" for entry in plain.split(b"\0")[:-1])))

    def run(self, *args: str, stdin: bytes = b"") -> Answer:
        """Run a git command that only reads; paths are to follow a ``--``."""
        options = [*_SWITCHED_OFF.items(), *self.settings.extra]
        environment = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            # not by -c, which takes a key only up to its first "="
            "GIT_CONFIG_COUNT": str(len(self.settings.programs)),
        }
        for index, key in enumerate(self.settings.programs):
            environment |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": ""}
        given = [part for key, value in options for part in ("-c", f"{key}={value}")]
        return _run_isolated(self.top, [*given, "--no-pager", "--literal-pathspecs", *args], stdin, environment)

    def reach(self, *args: str, allow: Sequence[str], configuration: Path, seconds: float, **more: str) -> Answer:
        """Run a git command that reads from another repository, over the protocols in ``allow`` alone.

        Nothing is asked for, no hook, filter or submodule of either side runs. ``configuration`` is a file that this side's git and
        a local other side read as the user's; ``more`` are values that this one command is told, with ``__`` for the dots of a key.
        """
        options = _SWITCHED_OFF | {"core.symlinks": "false", "core.protectHFS": "true", "core.protectNTFS": "true"}
        options |= {"core.sshCommand": _ASK_NOBODY, "advice.detachedHead": "false"}
        options.pop("credential.helper")  # the user's own, if any
        said = [*options.items(), *((f"protocol.{name}.allow", "always") for name in allow)]
        # by variables, which others cannot list as they can list a command line: a URL may hold a password
        said += [*self.settings.extra, *((key.replace("__", "."), value) for key, value in more.items())]
        environment = {
            "GIT_CONFIG_GLOBAL": str(configuration),
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": str(len(said)),
            "GIT_ALLOW_PROTOCOL": ":".join(allow),
            "GIT_NO_LAZY_FETCH": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS_REQUIRE": "never",
        }
        if (self.top / ".git").is_dir() or args[0] == "init":
            environment["GIT_DIR"] = str(self.top / ".git")
        for index, (key, value) in enumerate(said):
            environment |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
        return _run_isolated(self.top, ["--no-pager", *args], b"", environment, seconds)

    def run_as_user(self, *args: str, stdin: bytes = b"") -> Answer:
        """Run a git command as its user would: with hooks, filters and configuration, however long they take."""
        kept = {name: value for name, value in os.environ.items() if name not in PLACES}
        return _run_git(self.top, args, stdin, kept, None)


def _parse_settings(listing: bytes) -> Settings:
    """Parse ``git config --list -z --show-scope``: scope NUL key LF value NUL."""
    fields = listing.decode("utf-8", "surrogateescape").split("\0")
    values: dict[str, str] = {}
    passed: dict[str, str] = {}
    safe: list[tuple[str, str]] = []
    programs: dict[str, None] = {}
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, has_value, value = entry.partition("\n")
        values[key] = value if has_value else "true"
        own = scope in ("system", "global")
        if own and key == "safe.directory":
            safe.append((key, value))
        elif key in _FROM_USER or key.startswith("user."):
            if own:
                passed[key] = values[key]
            else:
                passed.pop(key, None)  # the repository's own word goes first
        elif not own and key.count(".") >= 2 and key.rpartition(".")[2] in _PROGRAMS:
            programs[key] = None
    return Settings(values, (*safe, *passed.items()), tuple(programs))


def read_user_settings(top: Path) -> Settings:
    """What the user's configuration says about reaching servers, and which folders of other owners it trusts."""
    inherited = {name: os.environ[name] for name in _CONFIGURATION if name in os.environ}
    out = _run_isolated(top, ["config", "--list", "-z", "--show-scope"], b"", inherited).out
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    found: list[tuple[str, str]] = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, has_value, value = entry.partition("\n")
        if scope in ("system", "global") and (key.startswith(_TO_REACH) or key == "safe.directory"):
            found.append((key, value if has_value else "true"))
    return Settings({}, tuple(found))


def _run_isolated(top: Path, args: Sequence[str], stdin: bytes, variables: Mapping[str, str], seconds: float = TIMEOUT) -> Answer:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        "LC_ALL": "C",
        "GIT_WORK_TREE": str(top),  # core.worktree does not move the files
        "GIT_CEILING_DIRECTORIES": str(top.parent),
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        **variables,
    }
    return _run_git(top, args, stdin, environment, seconds)


def _run_git(top: Path, args: Sequence[str], stdin: bytes, environment: Mapping[str, str], timeout: float | None) -> Answer:
    """The one place that starts git."""
    program = find_git()
    if program is None:
        raise GitMissing
    process = _find_starter(program)(
        [program, *args],
        cwd=top,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            out, error = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            return Answer(-1, b"", f"git {args[0]}: no answer in {timeout:.0f} s")
    return Answer(process.returncode, out, error.decode("utf-8", "replace").strip())


def _find_starter(program: str) -> Callable[..., subprocess.Popen[bytes]]:
    """GitPython's own starter: its Git.execute() passes on every GIT_* variable that it inherits."""
    if sys.platform != "win32":
        return subprocess.Popen  # which it is there (git/cmd.py); importing GitPython takes longer than all that is asked of git
    named = os.environ.get(_NAMED)
    # when it is imported it starts git: this one, not whichever "git" a relative entry of the path leads to
    os.environ[_NAMED] = program
    try:
        from git.cmd import safer_popen
    except ImportError as why:
        raise GitMissing from why
    finally:
        if named is None:
            del os.environ[_NAMED]
        else:
            os.environ[_NAMED] = named
    return safer_popen


def find_git(program: str = "git") -> str | None:
    """A program of the PATH by its absolute place: it starts inside repositories, where a relative entry would find theirs."""
    name = f"{program}.exe" if os.name == "nt" else program
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)  # noqa: PTH118 - asked for each start
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113, PTH117
            return path
    return None
