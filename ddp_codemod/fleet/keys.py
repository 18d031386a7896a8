"""Names results: the same repository, commit, rules and tool version give the same name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ddp_codemod.catalog.files import data_folder
from ddp_codemod.discover.files import walk_files
from ddp_codemod.discover.kinds import CONFIGS, LAUNCHERS, NATIVE, PROGRAMS
from ddp_codemod.fleet.model import Entry, Work
from ddp_codemod.parse.requirements import LOCKS, may_state_versions

_READ = (*PROGRAMS, *CONFIGS, *LAUNCHERS, *NATIVE)  # what the names of the files end with that a survey reads
# and of those that state versions; a sparse checkout takes these patterns
PATTERNS = (
    *(f"*{suffix}" for suffix in _READ), *LOCKS, "Pipfile", "*requirement*.txt", "*requirement*.in",
    "requirements/*.txt", "requirements/*.in", ".gitattributes",
)  # fmt: skip
FOLDER = "repositories"
FILES = "files-"  # begins what stands for a commit where there is none


def name_place(entry: Entry) -> str:
    """The folder of all results of a repository: its name, told apart from others of the name."""
    return f"{FOLDER}/{'+'.join(_split_place(entry)[-2:])}-{_hex_digest(entry.repository.encode('utf-8', 'surrogateescape'))[:8]}"


def short_name(entry: Entry) -> str:
    """The last word of a repository's place."""
    return _split_place(entry)[-1]


def _split_place(entry: Entry) -> list[str]:
    """The words of a repository's place, as any file system takes them."""
    words = re.split(r"[/\\:@?]+", entry.repository.rstrip("/").removesuffix("/.git").removesuffix(".git"))
    safe = [re.sub(r"[^\w.-]", "_", word, flags=re.A).strip(".")[-60:] for word in words]
    return [word for word in safe if word] or ["repository"]


def result_name(entry: Entry, work: Work, commit: str) -> str:
    """The folder of one result, relative to the folder of all."""
    how = (entry.platform, sorted(entry.rules), entry.style, entry.env_in, entry.torch_version, entry.unsafe)
    asked = repr((work.rules, how, work.lang, work.page_lang))
    return f"{name_place(entry)}/{commit.removeprefix(FILES)[:12]}-{entry.platform}-{_hex_digest(asked.encode())[:12]}-{work.version}"


def digest_contents(folder: Path) -> str:
    """What stands for the commit of a folder without git: a digest of the files that are read."""
    digest = hashlib.sha256()
    for path in walk_files(folder, [folder], (*_READ, *LOCKS, "Pipfile", ".txt", ".in")):
        name = path.relative_to(folder).as_posix()
        if not (name.endswith(_READ) or may_state_versions(name)):
            continue
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest() if hasattr(hashlib, "file_digest") else file.read())
    return FILES + digest.hexdigest()


def read_rule_files(folder: Path) -> tuple[tuple[str, str], ...]:
    """The rule data in a folder, (name, text)."""
    paths = sorted(path for path in folder.rglob("*.toml") if path.is_file())
    return tuple((path.relative_to(folder).as_posix(), path.read_text("utf-8")) for path in paths)


def digest_rules(folders: Iterable[Sequence[tuple[str, str]]]) -> str:
    """The digest of the shipped rule data and the user's own."""
    return _hex_digest(repr((read_rule_files(data_folder()), tuple(map(tuple, folders)))).encode())


def _hex_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
