"""Pushes the branch of a commit and has the service's own program, gh or glab, open a pull request from it.

This is the only part that sends anything away, and only where it is asked for. git and those programs are started as their user
would start them; without ``run_hooks`` no hook of the repository runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.write.commit import CommitRefused
from ddp_codemod.write.errors import WriteError
from ddp_codemod.write.git import PLACES, Answer, Git, GitMissing, find_git
from ddp_codemod.write.repository import top_of

LONGEST = 60_000  # characters of a text; GitHub takes 65,536
_URL = re.compile(r"(?:[a-z+]+://)(?:[^/@]*@)?([^/:]+)|(?:[^/@:]+@)?([\w.-]+):(?!/)")
_ANSWER = re.compile(r"https?://\S+")
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}


class Service(Struct, frozen=True):
    """A program that opens requests, and its words for what it is told."""

    program: str
    host: str  # a word in the names of its hosts
    create: tuple[str, ...]
    base: str
    head: tuple[str, ...]  # where it cannot tell from the branch that git follows
    body: str
    in_file: bool

    def words(self, title: str, body: str, branch: str, base: str | None) -> tuple[str, ...]:
        """The command that opens the request; ``body`` is the text, or the file that holds it."""
        onto = (self.base, base) if base else ()
        head = (*self.head, branch) if self.head else ()
        return (*self.create, "--title", title, self.body, body, *head, *onto)


SERVICES = (
    Service("gh", "github", ("pr", "create"), "--base", (), "--body-file", True),
    Service("glab", "gitlab", ("mr", "create", "--yes"), "--target-branch", ("--source-branch",), "--description", False),
)


class NotOpened(WriteError):
    """The commit is made; pushing it or opening the request failed. ``command`` does the rest."""

    def __init__(self, key: str, **args: object) -> None:
        self.key = key
        super().__init__((), **args)


class Opening(Struct, frozen=True):
    """How a request will be opened: everything was found, nothing has been sent."""

    git: Git
    service: Service
    program: str
    remote: str
    base: str | None


def prepare(root: Path) -> Opening:
    """Find the remote, the program for its host and a login there. Raises CommitRefused: nothing is written then."""
    top = top_of(Path(os.path.realpath(root)))
    if top is None:
        raise CommitRefused("commit-no-repository")
    try:
        git = Git.at(top)
    except GitMissing:
        raise CommitRefused("commit-no-git") from None
    current = git.run("symbolic-ref", "--quiet", "--short", "HEAD").out.decode("utf-8", "surrogateescape").strip()
    remotes = git.run("remote").out.decode("utf-8", "surrogateescape").split()
    followed = git.settings.values.get(f"branch.{current}.remote", "")
    if not remotes:
        raise CommitRefused("request-no-remote")
    remote = next((name for name in (followed, "origin") if name in remotes), remotes[0] if len(remotes) == 1 else "")
    if not remote:
        raise CommitRefused("request-remotes", remotes=", ".join(remotes))
    merged = git.settings.values.get(f"branch.{current}.merge", "") if remote == followed else ""
    host = _host(git.settings.values.get(f"remote.{remote}.url", ""))
    if not host:
        raise CommitRefused("request-no-host", remote=remote)
    service, program = _logged_in(git, host)
    return Opening(git, service, program, remote, merged.removeprefix("refs/heads/") or None)


def open_request(opening: Opening, branch: str, title: str, body: str, run_hooks: bool) -> str:
    """Push the branch and open the request; returns its address. Raises NotOpened."""
    git, service = opening.git, opening.service
    off = () if run_hooks else ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")
    push = ("push", "--set-upstream", opening.remote, branch)
    pushed = git.run_as_user(*off, *push)
    if pushed.code:
        raise NotOpened("request-not-pushed", branch=branch, why=_last(pushed), command=f"git {' '.join(push)}")
    with tempfile.TemporaryDirectory(prefix="ddp-codemod-") as folder:
        text = body if len(body) <= LONGEST else body[:LONGEST].rsplit("\n", 1)[0] + "\n\n…\n"
        file = Path(folder, "request.md")
        file.write_text(text, "utf-8", errors="replace")
        words = service.words(title, str(file) if service.in_file else text, branch, opening.base)
        answer = _start(opening.program, words, git.top)
    if answer.code:
        again = " ".join((service.program, *service.create[:2]))
        raise NotOpened("request-not-opened", branch=branch, remote=opening.remote, why=_last(answer), command=again)
    said = answer.out.decode("utf-8", "replace")
    found = _ANSWER.findall(said) or _ANSWER.findall(answer.error)
    return found[-1] if found else said.strip()


def _host(url: str) -> str:
    found = _URL.match(url)
    return "" if found is None or len(url.split(":")[0]) == 1 else (found[1] or found[2] or "").lower()  # C:\ is no host


def _logged_in(git: Git, host: str) -> tuple[Service, str]:
    """The program of a host: by the host's name, else the first that is logged in there."""
    named = [service for service in SERVICES if service.host in host]
    fitting = [(service, find_git(service.program)) for service in named or SERVICES]
    there = [(service, program) for service, program in fitting if program is not None]
    if not there:
        raise CommitRefused("request-no-program", host=host, programs=" / ".join(service.program for service, _ in fitting))
    for service, program in there:
        if not _start(program, ("auth", "status", "--hostname", host), git.top).code:
            return service, program
    raise CommitRefused("request-no-login", host=host, command=f"{there[0][0].program} auth login --hostname {host}")


def _start(program: str, words: Sequence[str], folder: Path) -> Answer:
    environment = {name: value for name, value in os.environ.items() if name not in PLACES} | _QUIET
    done = subprocess.run([program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip())


def _last(answer: Answer) -> str:
    """The line of a failed program that says most: git's own error, else the last."""
    lines = [line.strip() for line in (answer.error or answer.out.decode("utf-8", "replace")).splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fatal:", "error:", "!", "remote:"))]
    return told[0] if told else lines[-1] if lines else f"exit code {answer.code}"
