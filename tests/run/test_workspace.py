"""A folder of repositories: each is a project of its own, and the whole is what they are one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.discover.listing import Listing
from ddp_codemod.model import Survey
from ddp_codemod.run import workspace
from ddp_codemod.run.options import Options
from ddp_codemod.run.project import survey_project
from ddp_codemod.run.survey import survey

PLAIN = "import math\n"
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
READS = "import torch.distributed as dist\nfrom cli import args\n\n\ndef main():\n    dist.init_process_group(args.backend)\n"
OPTIONS = 'import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument("--backend", default="nccl")\n'


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def options(root: Path, platform: str = "rocm") -> Options:
    rules = load()
    return Options((root,), rules.platforms[platform], rules, root=root)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two", "three/deep"):
        (tmp_path / name / ".git").mkdir(parents=True)
    files = {
        "one/train.py": READS,
        "two/options.py": OPTIONS,
        "two/train.py": TRAIN,
        "three/deep/train.py": TRAIN,
        "loose.py": TRAIN,
    }
    return write(tmp_path, {**files, "two/plain.py": PLAIN})


def edited(found: Survey) -> list[str]:
    return [edit.name for edit in found.edits]


def named(found: Survey) -> set[object]:
    """What the reasons for the decisions name."""
    places = (origin.place for decision in found.decisions for origin in decision.origins)
    return {f"{place.name}:{found.sources[place.name].position(place.start)[0]}" for place in places}


def test_no_value_is_followed_from_one_repository_into_another(folder: Path) -> None:
    whole = survey_project(options(folder), Listing([folder], folder))
    assert "two/options.py:4" in named(whole)  # where nothing says that these are two projects
    found = survey(options(folder))
    assert "two/options.py:4" not in named(found)
    assert edited(found) == ["loose.py", "one/train.py", "three/deep/train.py", "two/train.py"]
    assert [decision.place.name for decision in found.decisions] == [
        "loose.py",
        "one/train.py",
        "three/deep/train.py",
        "two/train.py",
    ]
    assert found.files_seen == 6


def test_edits_of_several_repositories_are_not_one_group(folder: Path) -> None:
    found = survey(options(folder))
    assert len({edit.group for edit in found.edits}) == 4


def test_what_lies_in_a_project_belongs_to_it(folder: Path) -> None:
    write(folder, {"pyproject.toml": '[project]\nname = "x"\n'})
    assert len(Listing([folder], None).repositories()) == 1
    assert "two/options.py:4" in named(survey(options(folder)))


def test_a_clone_in_a_repository_is_named_and_left_alone(folder: Path) -> None:
    write(folder, {".git": "gitdir: elsewhere\n"})
    found = survey(options(folder))
    assert named(found) == {"loose.py:3"}
    assert [one.name for one in found.skipped] == ["one", "three/deep", "two"]


def test_a_submodule_in_a_folder_of_repositories_is_named_and_left_alone(folder: Path) -> None:
    write(folder, {"two/third_party/x/.git": "gitdir: ../../.git/modules/x\n", "two/third_party/x/a.py": TRAIN})
    found = survey(options(folder))
    assert "two/train.py:3" in named(found)
    assert not any(edit.name.startswith("two/third_party") for edit in found.edits)
    assert [one.name for one in found.skipped] == ["two/third_party/x"]


def test_a_submodule_belongs_to_its_repository(folder: Path) -> None:
    write(folder, {"two/third_party/x/.git": "gitdir: ../../.git/modules/x\n", "two/third_party/x/a.py": PLAIN})
    assert [len(part.programs) for part in Listing([folder], folder).repositories()] == [1, 1, 1, 4]


def test_a_rule_about_requirements_takes_the_folder_as_one(folder: Path) -> None:
    rules = load()
    asked = Options((folder,), rules.platforms["windows"], rules, fixes=("torch-before-libuv",), root=folder)
    write(folder, {"two/requirements.txt": "torch\n"})
    assert sum(edit.rule == "torch-before-libuv" for edit in survey(asked).edits) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="several processes only there")
def test_several_processes_say_what_one_says(folder: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom ddp_codemod.run import workspace\nfrom ddp_codemod.cli import main\n"
        "made = []\nreal = workspace._survey_in_parallel\n"
        "workspace._is_parallel_faster = lambda parts: sys.argv.pop() == 'many'\n"
        "workspace._survey_in_parallel = lambda *given: (made.append(1), real(*given))[1]\n"
        "how = sys.argv[-1]\nmain(['scan', '.', '--platform', 'rocm', '--format', 'json'])\nassert bool(made) == (how == 'many')\n"
    )
    said = {}
    for how in ("many", "one"):
        words = [sys.executable, "-c", code, how]
        done = subprocess.run(words, cwd=folder, capture_output=True, check=True)
        said[how] = done.stdout
    assert said["many"] == said["one"]
    assert len(json.loads(said["one"])["sites"]) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="several processes only there")
def test_a_process_that_is_killed_costs_nothing_but_time(folder: Path) -> None:
    code = (
        "import os, signal, sys\nfrom ddp_codemod.run import workspace\nfrom ddp_codemod.cli import main\n"
        "workspace._is_parallel_faster = lambda parts: True\nreal, own = workspace._survey_part, os.getpid()\n"
        "workspace._survey_part.__globals__['survey_project'] = lambda *given: os.kill(os.getpid(), 9) if os.getpid() != own else kept(*given)\n"
        "from ddp_codemod.run.project import survey_project as kept\nmain(['check', '.', '--platform', 'rocm'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8")
    assert all(f"{name}:" in done.stdout for name in ("loose.py", "one/train.py", "three/deep/train.py", "two/train.py"))


def test_small_collections_are_not_worth_several_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace.threading, "active_count", lambda: 1)
    assert not workspace._is_parallel_faster(Listing([folder], folder).repositories())
