"""The look that comes before everything else: where it says that a run is over, the whole run finds nothing."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.discover.kinds import CONFIGS
from ddp_codemod.discover.scope import Scope
from ddp_codemod.model import Survey
from ddp_codemod.parse.config import SUFFIXES
from ddp_codemod.run.options import Options
from ddp_codemod.run.pipeline import Run
from ddp_codemod.run.prefilter import Prefilter
from ddp_codemod.run.survey import survey

PLAIN = "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n"
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def options(root: Path, platform: str = "rocm", **more: object) -> Options:
    rules = load()
    return Options((root,), rules.platforms[platform], rules, root=root, **more)  # type: ignore[arg-type]


def checked(asked: Options) -> Survey | None:
    """What the look alone says, compared with the whole run; None where it does not end there."""
    look = Prefilter(asked)
    if not look.is_over:
        return None
    assert Run(look).survey() == look.make_empty_survey()
    return look.make_empty_survey()


def test_where_the_look_ends_a_run_the_whole_run_finds_nothing(tmp_path: Path) -> None:
    from tests.traps.test_traps import CASES as cases

    ended = 0
    for number, case in enumerate(cases):
        root = tmp_path / str(number)
        for name, text in case.before.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        found = checked(options(root, case.settings.get("platform", "rocm"), fixes=tuple(case.settings.get("rules", ()))))
        if found is not None:
            ended += 1
            assert case.untouched
    assert 0 < ended < len(cases) / 2


def test_files_are_counted_as_in_a_whole_run(tmp_path: Path) -> None:
    outside = write(tmp_path / "elsewhere", plain__py=PLAIN) / "plain.py"
    root = write(
        tmp_path / "project", a__py=PLAIN, b__py=PLAIN, left__py=PLAIN, setup__cfg="[metadata]\n", run__sh="torchrun a.py\n"
    )
    (root / "link.py").symlink_to(outside)
    found = checked(options(root, scope=Scope(exclude=("left.py",))))
    assert found is not None
    assert (found.files_seen, found.excluded) == (2, 1)
    assert [one.name for one in found.skipped] == ["link.py"]


@pytest.mark.parametrize(
    "files",
    [
        {"train__py": TRAIN},
        {"train__yaml": "strategy:\n  _target_: lightning.pytorch.strategies.DDPStrategy\n"},
        {"options__py": 'def options(parser):\n    parser.add_argument("--backend", default="nccl")\n    return parser\n'},
        {"fit__py": "import transformers\n", "train__yaml": "ddp_backend: nccl\n"},
    ],
)
def test_it_goes_on_where_something_may_come_of_it(tmp_path: Path, files: dict[str, str]) -> None:
    assert not Prefilter(options(write(tmp_path, plain__py=PLAIN, **files))).is_over


def test_it_goes_on_for_rules_about_more_than_uses(tmp_path: Path) -> None:
    write(tmp_path, plain__py=PLAIN, requirements__txt="torch\n")
    assert Prefilter(options(tmp_path, "windows")).is_over
    assert not Prefilter(options(tmp_path, "windows", fixes=("torch-before-libuv",))).is_over
    assert not Prefilter(options(tmp_path, "single-gpu")).is_over


@pytest.mark.parametrize(("text", "engine"), [(PLAIN, False), (TRAIN, True)])
def test_the_engine_is_imported_where_there_is_work(tmp_path: Path, text: str, engine: bool) -> None:
    write(tmp_path, plain__py=text)
    code = "import sys\nfrom ddp_codemod.cli import main\nmain(sys.argv[1:])\nprint(*sys.modules)"
    words = [sys.executable, "-c", code, "scan", ".", "--platform", "rocm"]
    # a cache of its own: tests that run beside this one would fill that of the user
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path.with_name(f"{tmp_path.name}-cache"))}
    # decoded rules and messages are kept after the first
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True, env=own)
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8", env=own)
    loaded = set(done.stdout.splitlines()[-1].split())
    unneeded = {"ddp_codemod.run.pipeline", "ast", "dis", "tokenize", "json", "tomllib", "dataclasses", "subprocess", "difflib"}
    unneeded |= {"platform", "_decimal", "_uuid", "locale", "msgspec._json_schema", "ddp_codemod.catalog.signature"}
    assert "ddp_codemod.run.survey" in loaded
    assert ("ddp_codemod.run.pipeline" in loaded) is engine
    assert engine or not loaded & unneeded
    assert not loaded & {"tokenize", "dis", "json", "tomllib", "dataclasses", "difflib", "libcst", "git", "_decimal"}


def test_only_what_has_to_be_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ddp_codemod.sites import parsed_files

    parsed: list[str] = []
    real = parsed_files.parse
    monkeypatch.setattr(parsed_files, "parse", lambda source, *more: (parsed.append(source.name), real(source, *more))[1])
    files = {f"plain{number}__py": f"import torch\n{PLAIN}" for number in range(30)}
    train = "import torch.distributed as dist\nfrom settings import BACKEND\n\ndist.init_process_group(BACKEND)\n"
    write(
        tmp_path,
        train__py=train,
        settings__py='BACKEND = "nccl"\n',
        notes__py="# init_process_group is called in train\n",
        **files,
    )
    found = survey(options(tmp_path))
    assert [(edit.name, edit.after) for edit in found.edits] == [("settings.py", '"gloo"')]
    assert sorted(parsed) == ["settings.py", "train.py"]


def test_the_kinds_of_files_that_are_listed_are_those_that_can_be_read() -> None:
    assert set(CONFIGS) == set(SUFFIXES)


def test_what_was_read_is_kept_for_whoever_asks_and_only_of_a_project_that_is_alone(tmp_path: Path) -> None:
    held: list[object] = []
    alone = write(tmp_path / "alone", train__py=TRAIN, **{".git/HEAD": ""})
    assert survey(options(alone)) == survey(options(alone, keep=held.append))
    assert [type(one) for one in held] == [Run]
    gc.unfreeze()
    for name in ("a", "b"):
        write(tmp_path / "many" / name, train__py=TRAIN, **{".git/HEAD": ""})
    assert len(survey(options(tmp_path / "many", keep=held.append)).edits) == 2
    assert len(held) == 1


def test_a_process_that_goes_on_keeps_nothing(tmp_path: Path) -> None:
    from ddp_codemod.cli import main

    frozen = gc.get_freeze_count()
    main(["scan", str(write(tmp_path, train__py=TRAIN)), "--platform", "rocm"])
    assert gc.get_freeze_count() == frozen


def test_the_trees_of_a_run_are_freed_with_it_and_not_by_the_collector(tmp_path: Path) -> None:
    def trees() -> int:
        return sum(type(one) is ast.Module for one in gc.get_objects())  # isinstance() would ask strange objects for their class

    root = write(tmp_path, train__py=TRAIN, more__py=f"import train\n{TRAIN}")
    gc.collect()
    before = trees()
    gc.disable()
    try:
        assert survey(options(root)).edits
        assert trees() == before
    finally:
        gc.enable()
