"""What a run could not read, or did not, is named; and it counts where it could hold what is looked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
CONFIGURED = "import yaml\nimport torch.distributed as dist\n\nconfig = yaml.safe_load(open('c.yaml'))\ndist.init_process_group(config['backend'])\n"
posix = pytest.mark.skipif(os.name == "nt", reason="other permissions")


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system lets nobody read what is called closed, whoever runs the tests."""
    access, scandir, opened, started = os.access, os.scandir, os.open, open

    def refuse(path: object) -> None:
        if isinstance(path, (str, os.PathLike)) and Path(path).stem == "closed":
            raise PermissionError(13, os.strerror(13))

    def is_open(path: str, mode: int) -> bool:
        return Path(path).stem != "closed" and access(path, mode)

    def listed(path: str) -> object:
        refuse(path)
        return scandir(path)

    def handle(path: str, *more: int) -> int:
        refuse(path)
        return opened(path, *more)

    def file(path: object, *more: object, **named: object) -> object:
        refuse(path)
        return started(path, *more, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "access", is_open)
    monkeypatch.setattr(os, "scandir", listed)
    monkeypatch.setattr(os, "open", handle)
    monkeypatch.setattr("builtins.open", file)


def run(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> Survey:
    from ddp_codemod.discover.scope import Scope

    rules = load()
    asked = tuple(root / path for path in paths or [""])
    return survey(Options(asked, rules.platforms["rocm"], rules, root=root, scope=Scope(exclude=exclude)))


def named(found: Survey) -> dict[str, tuple[str, bool]]:
    return {one.name: (one.reason.key, one.candidate) for one in found.skipped}


@pytest.mark.parametrize("name", ["closed.py", "closed.yaml", "closed.sh", "closed.ipynb"])
@pytest.mark.parametrize("beside", [TRAIN, "x = 1\n"], ids=["with a site", "without"])
def test_a_file_that_cannot_be_read_counts(name: str, beside: str, tmp_path: Path, deny: None) -> None:
    (tmp_path / name).write_text(TRAIN)
    (tmp_path / "train.py").write_text(beside)
    assert named(run(tmp_path)) == {name: ("skipped-unreadable", True)}
    assert named(run(tmp_path, name))[name] == ("skipped-unreadable", True)
    assert named(run(tmp_path, "train.py")) == {name: ("skipped-unreadable", False)}
    assert named(run(tmp_path, exclude=("closed.*",))) == {}


def test_a_folder_that_cannot_be_listed_counts(tmp_path: Path, deny: None) -> None:
    (tmp_path / "a" / "closed").mkdir(parents=True)
    (tmp_path / "a" / "closed" / "train.py").write_text(TRAIN)
    (tmp_path / "b").mkdir()
    assert named(run(tmp_path)) == {"a/closed": ("skipped-unreadable", True)}
    assert named(run(tmp_path, "a/closed")) == {"a/closed": ("skipped-unreadable", True)}
    assert named(run(tmp_path, "b")) == {"a/closed": ("skipped-unreadable", False)}


@pytest.mark.parametrize(
    ("name", "size", "holding", "empty"),
    [
        ("c.yaml", 5_000_001, True, False),
        ("c.json", 5_000_001, True, None),
        ("run.sh", 500_001, True, False),
        ("c.yaml", 25_000_000, True, True),  # of which nothing is read
    ],
)
def test_a_file_that_is_too_large_counts_by_what_it_holds(
    name: str, size: int, holding: bool, empty: bool | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(b"backend: nccl\n".ljust(size, b"#"))
    assert named(run(tmp_path))[name] == ("skipped-too-large", holding)
    (tmp_path / name).write_bytes(b"a: b\n".ljust(size, b"#"))
    assert named(run(tmp_path)).get(name, ("", None))[1] == empty
    assert named(run(tmp_path, name))[name] == ("skipped-too-large", True)


def test_a_file_that_is_no_text_counts_where_it_holds_the_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CONFIGURED)
    (tmp_path / "c.yaml").write_bytes(b"# caf\xe9\nbackend: nccl\n")
    assert named(run(tmp_path)) == {"c.yaml": ("skipped-not-utf-8", True)}
    (tmp_path / "c.yaml").write_bytes(b"# caf\xe9\nbackend: gloo\n")
    assert named(run(tmp_path)) == {}


@posix
def test_a_linked_folder_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(TRAIN)
    (tmp_path / "link").symlink_to("src")
    for path in ("link", "link/train.py"):
        assert [edit.name for edit in run(tmp_path, path).edits] == ["src/train.py"]
    (tmp_path / "one.py").symlink_to("src/train.py")
    assert [edit.name for edit in run(tmp_path, "one.py").edits] == ["src/train.py"]


MODULES = '[submodule "croco"]\n\tpath = croco\n\turl = https://example.com/croco\n[submodule "docs"]\n\tpath = "site/theme"\n'
USES_IT = "import croco.utils.misc as misc\n\nmisc.init_distributed_mode(None)\n"


def test_a_submodule_that_is_not_here_is_named_where_code_names_it(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text(MODULES)
    (tmp_path / "train.py").write_text(USES_IT)
    (tmp_path / "croco").mkdir()
    assert named(run(tmp_path)) == {"croco": ("skipped-submodule", True)}


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "path\n",
        "\tpath = ../elsewhere\n",
        "\tpath = /etc/none\n",
        "\tpath = .\n",
        "[submodule]\n\turl = croco\n",
        "path = croco\0",
    ],
)
def test_what_states_no_submodule_of_the_project_names_nothing(tmp_path: Path, stated: str) -> None:
    (tmp_path / ".gitmodules").write_text(stated)
    (tmp_path / "train.py").write_text(USES_IT)
    assert not [name for name in named(run(tmp_path)) if not name.startswith("croco")]


def test_a_submodule_that_is_here_is_read_like_any_folder(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text(MODULES)
    (tmp_path / "train.py").write_text(USES_IT)
    for folder in ("croco", "site/theme"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "misc.py").write_text(TRAIN)
    found = run(tmp_path)
    assert not found.skipped
    assert len(found.edits) == 2
