"""Makes small git repositories, and some that are out to harm whoever reads them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TRAIN = """\
import argparse
import os
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="{backend}")


def main():
    args = parser.parse_args()
    dist.init_process_group(args.backend, rank=int(os.environ["RANK"]), world_size={number})
"""
OTHER = "import torch.distributed as dist\n\n\ndef group(backend):\n    dist.init_process_group(backend)\n"
CALL = "import torch.distributed as dist\ndist.init_process_group({})\n"


@dataclass(frozen=True)
class Poison:
    """A kind of harm, and the troubles that it may come out as."""

    kind: str
    troubles: frozenset[str]
    make: Callable[[Path, Path], None]


def git(*words: object, cwd: Path, stdin: bytes = b"") -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *map(str, words)], cwd=cwd, input=stdin, env=environ, check=True, capture_output=True)


def repository(path: Path, template: Path, files: dict[str, bytes]) -> None:
    """A bare repository with one commit; its objects are written as git writes loose ones, which takes no process."""
    shutil.copytree(template, path)
    tree = _tree(path, files)
    who = b"A <a@b> 1700000000 +0000"
    commit = _object(path, b"commit", b"tree " + tree.encode() + b"\nauthor " + who + b"\ncommitter " + who + b"\n\nx\n")
    (path / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (path / "refs" / "heads" / "main").write_text(commit + "\n")


def _tree(path: Path, files: dict[str, bytes]) -> str:
    entries: dict[bytes, bytes] = {}
    folders: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        folder, slash, rest = name.partition("/")
        if slash:
            folders.setdefault(folder, {})[rest] = data
        else:
            entries[name.encode()] = b"100644 " + name.encode() + b"\0" + bytes.fromhex(_object(path, b"blob", data))
    for folder, inside in folders.items():
        entries[folder.encode() + b"/"] = b"40000 " + folder.encode() + b"\0" + bytes.fromhex(_tree(path, inside))
    return _object(path, b"tree", b"".join(entries[name] for name in sorted(entries)))


def _object(path: Path, kind: bytes, data: bytes) -> str:
    whole = kind + b" %d\0" % len(data) + data
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    file = _file(path, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(zlib.compress(whole, 1))
    return name


def _file(path: Path, name: str) -> Path:
    """Where an object lies."""
    return path / "objects" / name[:2] / name[2:]


def template(folder: Path) -> Path:
    """An empty repository to copy."""
    made = folder / "template.git"
    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", made, cwd=folder)
    return made


def harmless(folder: Path, number: int, like: Path) -> Path:
    """One of three kinds: edited, for review, nothing to do; with a launch script and files that are not read."""
    path = folder / f"r{number:05}.git"
    backend = ("nccl", "nccl", "gloo")[number % 3]
    files = {
        "train.py": TRAIN.format(backend=backend, number=number).encode(),
        "model.py": b"import torch\n" * 50,
        "run.sh": b"torchrun train.py\n",
        "README.md": f"# {number}\n".encode(),
        "weights.bin": bytes(range(256)) * 16,
    }
    if number % 5 == 0:
        files["lib/groups.py"] = OTHER.encode()
    repository(path, like, files)
    return path


def _depth(path: Path, like: Path) -> None:
    repository(path, like, {"train.py": CALL.format("(" * 1500 + '"nccl"' + ")" * 1500).encode()})


def _many(path: Path, like: Path) -> None:
    call = b'dist.init_process_group("nccl")\n'
    repository(path, like, {"train.py": b"import torch.distributed as dist\n" + call * 20_000})


def _endless(path: Path, like: Path) -> None:
    """Whoever reads the file train.py waits for ever."""
    data = CALL.format('"nccl"').encode()
    repository(path, like, {"train.py": data})
    file = _file(path, _object(path, b"blob", data))
    file.unlink()
    os.mkfifo(file)


def _endless_branches(path: Path, like: Path) -> None:
    """Whoever asks what its branch stands at waits for ever."""
    repository(path, like, {"train.py": CALL.format('"nccl"').encode()})
    shutil.rmtree(path / "refs" / "heads")
    os.mkfifo(path / "packed-refs")


def _large_file(path: Path, like: Path) -> None:
    repository(path, like, {"train.py": CALL.format('"nccl"').encode(), "c.json": bytes(40 << 20)})


def _bomb(path: Path, like: Path) -> None:
    repository(path, like, {"train.py": CALL.format('"nccl"').encode() + b"x = [" + b"[[[]]]," * 1_200_000 + b"]\n"})


def _broken(path: Path, like: Path) -> None:
    repository(path, like, {"train.py": CALL.format('"nccl"').encode()})
    for loose in (path / "objects").glob("??/*"):
        loose.chmod(0o644)
        loose.write_bytes(b"")


def _gone(path: Path, like: Path) -> None:
    shutil.copytree(like, path)
    (path / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (path / "refs" / "heads" / "main").write_text("1" * 40 + "\n")


def _hostile(path: Path, like: Path) -> None:
    """Every setting that names a program names one that leaves a mark; then a line that is no configuration. Git has to read it."""
    repository(path, like, {"train.py": CALL.format('"nccl"').encode(), ".gitattributes": b"*.py filter=x\n"})
    main = path / "refs" / "heads" / "main"
    main.rename(main.with_name("c++"))
    (path / "HEAD").write_text("ref: refs/heads/c++\n")
    mark = f"touch {path.parent / 'was-run'}"
    settings = {
        "core": ("fsmonitor", "sshCommand", "hooksPath", "askPass", "alternateRefsCommand"),
        "uploadpack": ("packObjectsHook",),
        'filter "x"': ("smudge", "clean", "process"),
    }
    said = "".join(f"[{section}]\n" + "".join(f"\t{key} = {mark}\n" for key in keys) for section, keys in settings.items())
    (path / "config").write_text(said + "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[broken\n")


POISON = (
    Poison("killing depth", frozenset({"unparseable", "crashed"}), _depth),
    Poison("endless file", frozenset({"timed-out"}), _endless),
    Poison("memory bomb", frozenset({"too-large", "unparseable", "timed-out"}), _bomb),
    Poison("broken git", frozenset({"clone-failed"}), _broken),
    Poison("hostile config", frozenset({"clone-failed"}), _hostile),
    Poison("more calls than anybody writes", frozenset({"timed-out"}), _many),
    Poison("large file", frozenset({"too-large"}), _large_file),
    Poison("broken git, no commit", frozenset({"clone-failed"}), _gone),
    Poison("hostile config again", frozenset({"clone-failed"}), _hostile),
    Poison("killing depth again", frozenset({"unparseable", "crashed"}), _depth),
)


def fleet(folder: Path, count: int, poison: int = len(POISON)) -> Iterator[tuple[Path, Poison | None]]:
    """``count`` repositories, ``poison`` of them evenly spread among the others."""
    like = template(folder)
    every = count // poison if poison else count + 1
    for number in range(count):
        at, step = divmod(number, every)
        if step == every // 2 and at < poison:
            path = folder / f"r{number:05}.git"
            POISON[at % len(POISON)].make(path, like)
            yield path, POISON[at % len(POISON)]
        else:
            yield harmless(folder, number, like), None
