"""Trees that bite, each laid out beside a folder ``away`` whose files are canaries: nothing may read or change them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from proofs.proof import environment, git

CALL = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
SECRET = "CANARY-7f3a"
Layout = Callable[[Path, Path], object]  # of the project and the folder beside it


def lay(folder: Path, layout: Layout) -> tuple[Path, Path]:
    """A project with one plain file to change, the canaries, and what the layout adds."""
    project, away = folder / "project", folder / "away"
    project.mkdir(parents=True)
    away.mkdir()
    for name in (
        "train.py",
        "backend.py",
        "options.py",
        "config.yaml",
        "rules.toml",
        "pyproject.toml",
        "launch.sh",
        "data.ipynb",
    ):
        (away / name).write_text(f"# {SECRET}\nbackend = '{SECRET}'\n{CALL if name.endswith('.py') else ''}")
    (away / "platforms").mkdir()
    (away / "platforms" / "evil.toml").write_text(f"id = '{SECRET}'\n")
    (project / "train.py").write_text(CALL)
    (project / "pyproject.toml").write_text("")
    layout(project, away)
    return project, away


def _git(project: Path) -> None:
    env = environment(project.parent)
    git(project, "init", "-q", env=env)
    git(project, "add", "-A", env=env)
    git(project, "commit", "-q", "-m", "x", env=env)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _worktree_setting(project: Path, away: Path) -> None:
    _git(project)
    git(project, "config", "core.worktree", str(away), env=environment(project.parent))


def _git_file(project: Path, away: Path) -> None:
    git(away, "init", "-q", env=environment(project.parent))
    git(away, "add", "-A", env=environment(project.parent))
    _write(project / ".git", f"gitdir: {away / '.git'}\n")


def _bare(project: Path, away: Path) -> None:
    _git(project)
    bare = project / "sub"
    git(project, "init", "-q", "--bare", str(bare), env=environment(project.parent))
    with (bare / "config").open("a") as file:
        file.write(f"[core]\n\tworktree = {away}\n\tbare = false\n")
    _write(bare / "train.py", CALL)


def _alternates(project: Path, away: Path) -> None:
    _git(project)
    _write(project / ".git" / "objects" / "info" / "alternates", f"{away}\n")


def _include(project: Path, away: Path) -> None:
    _git(project)
    git(project, "config", "include.path", str(project / "nowhere"), env=environment(project.parent))


def _imported(text: str, **links: str) -> Layout:
    def layout(project: Path, away: Path) -> None:
        _write(project / "train.py", text)
        for name, target in links.items():
            path = project / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(away / target if target else away)

    return layout


LAYOUTS: dict[str, Layout] = {
    "nothing more": lambda project, away: None,
    "linked file": lambda project, away: (project / "other.py").symlink_to(away / "train.py"),
    "relative link": lambda project, away: (project / "other.py").symlink_to("../away/train.py"),
    "link to a link": lambda project, away: ((project / "a.py").symlink_to("b.py"), (project / "b.py").symlink_to(away / "train.py")),
    "linked folder": lambda project, away: (project / "sub").symlink_to(away),
    "the file itself a link": lambda project, away: ((project / "train.py").unlink(), (project / "train.py").symlink_to(away / "train.py")),
    "hard link": lambda project, away: os.link(away / "train.py", project / "other.py"),
    "imported module": _imported(CALL.replace("'nccl'", "backend") + "from backend import backend\n", backend_dot_py="backend.py"),
    "imported package": _imported("from away.backend import backend\n" + CALL.replace("'nccl'", "backend"), away=""),
    "import above the root": _imported("from ..away.backend import backend\n" + CALL.replace("'nccl'", "backend")),
    "linked configuration": _imported(
        "import yaml\nc = yaml.safe_load(open('config.yaml'))\n" + CALL.replace("'nccl'", "c['backend']"), config_dot_yaml="config.yaml"
    ),
    "configuration by a path above": _imported(
        "import yaml\nc = yaml.safe_load(open('../away/config.yaml'))\n" + CALL.replace("'nccl'", "c['backend']")
    ),
    "linked launch file": _imported(CALL, run_dot_sh="launch.sh"),
    "linked notebook": _imported(CALL, book_dot_ipynb="data.ipynb"),
    "linked pyproject.toml": lambda project, away: (
        (project / "pyproject.toml").unlink(), (project / "pyproject.toml").symlink_to(away / "pyproject.toml")
    ),
    "rule folder elsewhere": lambda project, away: _write(
        project / "pyproject.toml", f"[tool.ddp-codemod]\nrule-folders = [{json.dumps(str(away))}]\n"
    ),
    "linked rule folder": lambda project, away: (
        _write(project / "pyproject.toml", '[tool.ddp-codemod]\nrule-folders = ["rules"]\n'), (project / "rules").symlink_to(away)
    ),
    "linked requirements": lambda project, away: (
        (project / "requirements").symlink_to(away), (project / "requirements.txt").symlink_to(away / "train.py")
    ),
    "core.worktree": _worktree_setting,
    ".git that points elsewhere": _git_file,
    "bare repository inside": _bare,
    "alternates": _alternates,
    "include of a missing file": _include,
    "names": lambda project, away: [
        _write(project / name, CALL)
        for name in ("-rf.py", "--output=x.py", "a\nb.py", 'q"u.py', "\x1b[31m.py", "\u202eyp.x.py", os.fsdecode(b"\xff\xfe.py"), ":(top)x.py", "..py")
    ],
    "file that is no plain one": lambda project, away: (os.mkfifo(project / "pipe.py"), os.mkfifo(project / "c.yaml")),
    "a folder called train.py": lambda project, away: (project / "x.py").mkdir(),
}  # fmt: skip
