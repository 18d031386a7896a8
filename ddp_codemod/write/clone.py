"""Clones a repository that nobody vouches for: one commit, only the files that are read, nothing of it run.

The commit comes alone (``--depth 1``) and, where the server can, without the files; a sparse checkout then asks for those whose
names fit one of the patterns, all at once. Of a repository on this machine nothing is copied but those files: its objects are read
where they are. Links become plain files, submodules and large file storage stay away.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ddp_codemod.write.branch_heads import read_branch_commit
from ddp_codemod.write.git import TIMEOUT, Answer, Git, GitMissing, Settings, read_user_settings
from ddp_codemod.write.results import remove_folder

NETWORK = ("https", "http", "ssh")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BUNDLE = b"# v"
_LARGE = re.compile(
    r"signal 25|ended with -25|[Ff]ile too large|[Oo]ut of memory|Cannot allocate memory|No space left|too large to fit"
)
# a local other side reads these as its user's: it may leave files away and hand out any commit
_SERVES = "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"


class CloneFailed(Exception):
    """Git could not get the repository; the text is its own. ``large``: a limit on memory or size is the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.large = _LARGE.search(why) is not None


class Remote(Struct, frozen=True):
    """Where a repository is, as git takes it: a URL, or the path of a repository or bundle on this machine."""

    url: str
    allow: tuple[str, ...]
    objects: Path | None = None  # of a repository on this machine: where they lie

    @classmethod
    def of(cls, place: str) -> Remote:
        """The remote of a URL or path; a path is passed to git so that it never takes it for an option or a URL."""
        scheme, found, _ = place.partition("://")
        if found and scheme != "file":
            return cls(place, ("https", "ssh") if scheme != "http" else ("https", "http", "ssh"))
        if not found and re.match(r"[\w.-]+@[\w.-]+:", place):
            return cls(place, ("ssh",))
        path = Path(place.removeprefix("file://")).absolute()
        if path.is_file():
            return cls(str(path), ("file",))
        # a URL is asked for as of any server
        objects = next((at for at in (path / ".git" / "objects", path / "objects") if not found and at.is_dir()), None)
        return cls(f"file://{path}", ("file",), objects)


def is_repository(path: Path) -> bool:
    """Whether a path is a git repository, with or without a work tree, or a bundle."""
    if path.is_file():
        with path.open("rb") as file:
            return file.read(len(_BUNDLE)) == _BUNDLE
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


class Start(Struct, frozen=True):
    """What all clones begin with: what the user's configuration says about reaching others, and an empty repository."""

    settings: Settings
    empty: Path

    @classmethod
    def of(cls, folder: Path) -> Start:
        """Find it out, and make the repository in a folder. Raises CloneFailed."""
        empty = folder / "empty"
        empty.mkdir()
        try:
            settings = read_user_settings(folder)
            git = Git(empty)
            answer = git.reach("init", "--quiet", "--template=", allow=(), configuration=Path(os.devnull), seconds=TIMEOUT)
        except GitMissing:  # a folder without git can do without it; a clone will say so
            return cls(Settings({}), empty)
        if answer.code:
            raise CloneFailed(answer.error)
        for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):  # made by git when it has something to put there
            (empty / ".git" / name).rmdir()
        return cls(settings, empty / ".git")


class Cloner:
    """Git, set up to reach others, with a folder of its own for what it has to be told by a file."""

    def __init__(self, folder: Path, seconds: float, start: Start) -> None:
        self._folder, self._seconds, self._start = folder, seconds, start
        self._configuration = folder / "gitconfig"
        extra = start.settings.extra
        trusted = "".join(f"[safe]\n\tdirectory = {_quote_value(value)}\n" for key, value in extra if key == "safe.directory")
        self._configuration.write_text(_SERVES + trusted, "utf-8", "surrogateescape")
        self._settings = Settings({}, tuple(pair for pair in extra if pair[0] != "safe.directory"))

    def commit(self, remote: Remote, ref: str | None) -> str:
        """The commit that a branch, tag or the default branch is at; a full id is its own answer. Raises CloneFailed."""
        if ref is not None and _COMMIT.fullmatch(ref):
            return ref
        if remote.objects is not None and (plain := read_branch_commit(remote.objects.parent, ref)):
            return plain
        names = _candidate_refs(ref)
        listed = self._run_remote_git(self._folder, remote, "ls-remote", "--", remote.url, *names).out.decode("utf-8", "replace")
        found = {name: oid for oid, _, name in (line.partition("\t") for line in listed.splitlines())}
        for name in names:
            if name in found:
                return found[name]
        raise CloneFailed(f"{ref or 'HEAD'}: the repository has no such branch or tag" if ref else "the repository has no commit")

    def clone(self, remote: Remote, ref: str | None, commit: str, into: Path, patterns: Sequence[str]) -> None:
        """Make a work tree of a commit with the files that fit these patterns. Raises CloneFailed."""
        if remote.objects is not None:
            self._init_repository(remote, into, patterns, remote.objects)
            try:
                self._check_out(into, remote, commit)
            except CloneFailed as why:  # the objects lie elsewhere
                if why.large:
                    raise
                remove_folder(into)
            else:
                return
        self._init_repository(remote, into, patterns)
        self._fetch_commit(into, remote, ref, commit)
        self._check_out(into, remote, commit)

    def _init_repository(self, remote: Remote, into: Path, patterns: Sequence[str], objects: Path | None = None) -> None:
        """An empty repository that takes only the files that fit, and reads objects elsewhere."""
        shutil.copytree(self._start.empty, into / ".git")
        (into / ".git" / "info").mkdir(exist_ok=True)
        (into / ".git" / "info" / "sparse-checkout").write_text("".join(f"{pattern}\n" for pattern in patterns), "utf-8")
        if objects is not None:
            (into / ".git" / "objects" / "info").mkdir(parents=True, exist_ok=True)
            (into / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n", "utf-8", "surrogateescape")

    def _fetch_commit(self, into: Path, remote: Remote, ref: str | None, commit: str) -> None:
        if Path(remote.url).is_file():  # a bundle has no server that could pick; what it holds comes whole
            self._run_remote_git(into, remote, "fetch", "--quiet", "--no-tags", "origin", "+refs/*:refs/remotes/bundle/*")
            return
        fetch = ("fetch", "--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "--no-recurse-submodules", "origin")
        try:
            self._run_remote_git(into, remote, *fetch, commit)
        except CloneFailed as why:  # a server may hand out only what a name is at
            if why.large or (ref is not None and _COMMIT.fullmatch(ref)):
                raise
            self._run_remote_git(into, remote, *fetch, ref or "HEAD")

    def _check_out(self, into: Path, remote: Remote, commit: str) -> None:
        self._run_remote_git(into, remote, "checkout", "--quiet", "--no-recurse-submodules", "--detach", commit)

    def _run_remote_git(self, top: Path, remote: Remote, *args: str) -> Answer:
        git = Git(top, self._settings)
        more = {"remote__origin__url": remote.url, "core__sparseCheckout": "true", "core__sparseCheckoutCone": "false"}
        try:
            answer = git.reach(*args, allow=remote.allow, configuration=self._configuration, seconds=self._seconds, **more)
        except GitMissing:
            raise CloneFailed("git is not installed") from None
        if answer.code:
            lines = [line for line in answer.error.splitlines() if line.strip()]
            first = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
            raise CloneFailed(strip_credentials(first) or f"git {args[0]} ended with {answer.code}")
        return answer


def _candidate_refs(ref: str | None) -> list[str]:
    if ref is None:
        return ["HEAD"]
    return [ref] if ref.startswith("refs/") else [f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"]


def strip_credentials(text: str) -> str:
    """Text with the user names and passwords of its URLs omitted."""
    return re.sub(r"://[^/@\s]*@", "://", text)


def _quote_value(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
