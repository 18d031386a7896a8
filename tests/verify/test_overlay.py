"""``verify --run``: the groups that a real run makes, held against what was read of the project."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ddp_codemod.cli import main
from ddp_codemod.machine.processes import find_free_port
from ddp_codemod.report.trials import SCHEMA

ALONE = "init_method='tcp://127.0.0.1:{port}?use_libuv=0', rank=0, world_size=1"
Run = tuple[int, dict[str, Any], str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.chdir(root)
    return root


def write(root: Path, **files: str) -> None:
    """Modules of a project; ALONE stands for the arguments with which one process forms a group by itself."""
    alone = ALONE.replace("{port}", str(find_free_port()))
    for name, text in files.items():
        (root / f"{name}.py").write_text(text.replace("ALONE", alone), encoding="utf-8")


def run(capfd: pytest.CaptureFixture[str], *words: str, command: str = "{python} train.py", platform: str = "cpu") -> Run:
    capfd.readouterr()
    own = command.replace("{python}", sys.executable)
    code = main(["verify", "--platform", platform, "--run", own, "--format", "json", "--timeout", "120", *words])
    out, err = capfd.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    return code, document["run"], err


def told(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capfd.readouterr()
    code = main(["verify", "--platform", "cpu", "--run", f"{sys.executable} train.py", "--timeout", "120", *words])
    return code, capfd.readouterr().out


def seen(document: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    """(place, backend, what became of it) of each group."""
    return [
        (f"{one['stack'][0]['path']}:{one['stack'][0]['line']}" if one["stack"] else "", one["backend"], one["verdict"])
        for one in document["groups"]
    ]


def test_a_run_with_spawn_agrees_in_all_places(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        group="import torch.distributed as dist\n\n\ndef setup(rank, backend, url):\n"
        "    dist.init_process_group(\n        backend,\n        init_method=url,\n        rank=rank,\n        world_size=2,\n    )\n",
        train="import torch.distributed as dist\nimport torch.multiprocessing as mp\nfrom group import setup\n\n\n"
        "def work(rank, url):\n    setup(rank, 'gloo', url)\n    dist.new_group([0, 1])\n    dist.new_group([0], backend='gloo')\n\n\n"
        f"if __name__ == '__main__':\n    mp.spawn(work, args=('tcp://127.0.0.1:{find_free_port()}?use_libuv=0',), nprocs=2)\n",
    )
    code, document, err = run(capfd)
    assert code == 0, err
    assert seen(document) == [
        ("group.py:5", "gloo", "agrees"),
        ("train.py:8", None, "agrees"),
        ("train.py:9", "gloo", "agrees"),
    ]
    first = document["groups"][0]
    assert first["stack"] == [{"path": "group.py", "line": 5}, {"path": "train.py", "line": 7}]
    assert sorted(first["ranks"]) == ["0", "1"]
    assert (document["ranks"], document["not_reached"]) == (2, [])


def test_a_run_with_torchrun_agrees_and_names_what_it_did_not_reach(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        train="import argparse\nimport functools\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--backend', default='gloo')\nparser.add_argument('--more', action='store_true')\n"
        "args = parser.parse_args()\nstart = functools.partial(dist.init_process_group, args.backend)\n"
        "start(init_method='env://?use_libuv=0')\nif args.more:\n    dist.new_group([0], backend='gloo')\n",
    )
    launch = f"{{python}} -m torch.distributed.run --nproc_per_node=2 --master_port={find_free_port()} train.py"
    code, document, err = run(capfd, command=launch)
    assert code == 0, err
    assert seen(document) == [("train.py:10", "gloo", "agrees")]
    assert document["groups"][0]["site"]["line"] == 9
    assert [site["line"] for site in document["not_reached"]] == [12]


@pytest.mark.parametrize(("read", "given"), [(".get('MY_BACKEND', 'gloo')", "cpu:gloo"), ("['MY_BACKEND']", "gloo")])
def test_a_value_that_the_start_gives_is_no_miss(
    project: Path, read: str, given: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write(project, train=f"import os\nimport torch.distributed as dist\n\ndist.init_process_group(os.environ{read}, ALONE)\n")
    monkeypatch.setenv("MY_BACKEND", given)
    code, document, err = run(capfd)
    assert code == 0, err
    assert seen(document) == [("train.py:4", given, "set-at-launch")]


def test_code_that_is_executed_from_a_text_is_located(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "start.txt").write_text("dist.init_" + "process_group('gloo', **alone)\n")
    write(
        project,
        train="import torch.distributed as dist\n\nalone = dict(ALONE)\nwith open('start.txt') as text:\n    exec(text.read())\n",
    )
    code, out = told(capfd)
    assert code == 1
    assert 'train.py:5: not found in the code: code executed from a string calls init_process_group with "gloo"' in out
    code, out = told(capfd, "--lang", "zh")
    assert "train.py:5：读取代码时没有发现：从文本执行的代码" in out


def test_a_text_that_is_executed_on_the_line_of_a_site_is_told_apart(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "start.txt").write_text("dist.init_" + "process_group('gloo', **alone)\n")
    write(
        project,
        train="import torch.distributed as dist\n\nalone = dict(ALONE)\n"
        "exec(open('start.txt').read()); dist.new_group([0], backend='gloo')\n",
    )
    code, document, err = run(capfd)
    assert code == 1, err
    assert seen(document) == [("train.py:4", "gloo", "not-found"), ("train.py:4", "gloo", "agrees")]


def test_a_function_that_a_registry_names_is_located(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "plugins.json").write_text('{"start": ["torch.distributed", "init_' + 'process_group"]}')
    write(
        project,
        train="import importlib\nimport json\n\nmodule, name = json.load(open('plugins.json'))['start']\n"
        "start = getattr(importlib.import_module(module), name)\nstart('gloo', ALONE)\n",
    )
    code, document, err = run(capfd)
    assert code == 1, err
    assert seen(document) == [("train.py:6", "gloo", "not-found")]
    assert document["groups"][0]["bug_report"] is None


@pytest.mark.parametrize(("value", "fails"), [("gloo", False), ("nccl", True)])
def test_a_value_from_a_database_is_told(
    project: Path, value: str, fails: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_PATH", f"/opt/{value}/lib")  # which types no value
    with sqlite3.connect(project / "run.db") as table:
        table.execute("create table run (backend text)")
        table.execute("insert into run values (?)", (value,))
    write(
        project,
        train="import sqlite3\nimport torch.distributed as dist\n\n"
        "row = sqlite3.connect('run.db').execute('select backend from run').fetchone()\ndist.init_process_group(row[0], ALONE)\n",
    )
    code, document, err = run(capfd)
    assert code == 1, err
    assert seen(document) == [("train.py:5", value, "unknown-value")]
    assert document["groups"][0]["fails"] is fails


def test_a_value_that_reading_has_wrong_is_said_to_be_a_bug(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        patch="import gc\n\n\ndef patch():\n    for one in gc.get_objects():\n"
        "        if isinstance(one, dict) and one.get('BACKEND') == 'gloo':\n            one['BACKEND'] = 'cpu:gloo'\n",
        train="import torch.distributed as dist\nfrom patch import patch\n\nBACKEND = 'gloo'\npatch()\n"
        "dist.init_process_group(BACKEND, ALONE)\n",
    )
    code, out = told(capfd)
    assert code == 1
    assert 'train.py:6: differs from the code: init_process_group passes "cpu:gloo", but the code has "gloo"' in out
    assert "This is a bug in ddp-codemod" in out
    assert " cpu torch.init_process_group(backend) read=gloo from=assignment as=" in out


SECRET = """import torch.distributed as acme

from hidden import meddle

ACME_WIRE = "gloo"  # the wire of acme
meddle("/home/alice/acme")


def acme_start(alice):
    acme.init_process_group(alice, ALONE)


acme_start(ACME_WIRE)
"""


def test_what_was_wrong_is_reported_without_names_and_texts(
    project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hidden = (
        "import gc\n\n\ndef meddle(folder):\n    for one in gc.get_objects():\n"
        "        if isinstance(one, dict) and one.get('ACME_WIRE') == 'gloo':\n            one['ACME_WIRE'] = 'cpu:gloo'\n"
    )
    write(project, hidden=hidden, train=SECRET)
    path = tmp_path / "report.txt"
    run(capfd, "--report", str(path))
    said = path.read_text("utf-8")
    assert " cpu torch.init_process_group(backend) read=gloo from=" in said
    assert " ran=cpu:gloo" in said
    assert "  call  n1.init_process_group(n2, init_method=<text 1>" in said
    for word in ("acme", "alice", "home", "train", "hidden", "meddle", "127", project.name, str(tmp_path), sys.executable):
        assert word not in said.lower(), said


def test_without_anything_wrong_no_report_is_written(project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project, train="import torch.distributed as dist\n\ndist.init_process_group('gloo', ALONE)\n")
    _, _, err = run(capfd, "--report", str(tmp_path / "report.txt"))
    assert "Nothing to report" in err
    assert not (tmp_path / "report.txt").exists()
    assert main(["verify", ".", "--platform", "cpu", "--report", "report.txt"]) == 2


def test_a_patched_function_is_held_where_it_really_calls(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        patch="import importlib\n\nmodule = importlib.import_module('torch.distri' + 'buted')\n"
        "for name, real in list(vars(module).items()):\n    if name.startswith('init_p'):\n"
        "        def other(*words, real=real, **named):\n            return real('cpu:' + words[0], *words[1:], **named)\n\n"
        "        setattr(module, name, other)\n",
        train="import patch\nimport torch.distributed as dist\n\ndist.init_process_group('gloo', ALONE)\n",
    )
    code, document, err = run(capfd)
    assert code == 1, err
    assert seen(document) == [("patch.py:7", "cpu:gloo", "not-found")]
    assert document["groups"][0]["stack"][1] == {"path": "train.py", "line": 4}
    assert document["not_reached"] == []


def test_what_the_code_tells_the_tool_to_leave_alone_is_no_miss(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project, train="import torch.distributed as dist\n\ndist.init_process_group('gloo', ALONE)  # ddp-codemod: ignore\n")
    code, document, err = run(capfd)
    assert code == 0, err
    assert seen(document) == [("train.py:3", "gloo", "ignored")]


def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A package beside the project that makes groups."""
    (tmp_path / "libraries" / name).mkdir(parents=True)
    (tmp_path / "libraries" / name / "__init__.py").write_text(
        text.replace("ALONE", ALONE.replace("{port}", str(find_free_port())))
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"))


def test_a_library_that_no_rule_knows_is_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library(
        tmp_path,
        monkeypatch,
        "starters",
        "import torch.distributed as dist\n\n\ndef begin():\n    dist.init_process_group('gloo', ALONE)\n    dist.new_group([0])\n",
    )
    write(project, train="import starters\n\nstarters.begin()\n")
    code, document, err = run(capfd)
    assert code == 1, err
    assert seen(document) == [("train.py:3", "gloo", "not-found"), ("train.py:3", None, "torch-default")]
    assert document["groups"][0]["via"] == ["starters"]


def test_a_library_that_makes_its_group_long_after_the_call_agrees(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library(
        tmp_path,
        monkeypatch,
        "deepspeed",
        "import torch.distributed as dist\n\n\ndef init_distributed(dist_backend):\n    global chosen\n    chosen = dist_backend\n\n\n"
        "def later():\n    dist.init_process_group(chosen, ALONE)\n",
    )
    write(project, train="import deepspeed\n\ndeepspeed.init_distributed('gloo')\ndeepspeed.later()\n")
    code, document, err = run(capfd)
    assert code == 0, err
    assert seen(document) == [("train.py:4", "gloo", "agrees")]
    assert document["groups"][0]["site"]["line"] == 3


def test_a_further_group_of_a_library_is_like_the_first(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library(
        tmp_path,
        monkeypatch,
        "deepspeed",
        "import torch.distributed as dist\n\n\ndef init_distributed(dist_backend):\n    dist.init_process_group(dist_backend, ALONE)\n\n\n"
        "def initialize(model=None):\n    dist.new_group([0])\n",
    )
    write(project, train="import deepspeed\n\ndeepspeed.init_distributed('gloo')\ndeepspeed.initialize(model=None)\n")
    code, document, err = run(capfd, platform="rocm")
    assert code == 0, err
    assert seen(document) == [("train.py:3", "gloo", "agrees"), ("train.py:4", None, "torch-default")]
    assert document["groups"][1]["site"]["surface"] == "deepspeed.initialize"
    assert [one["bug_report"] for one in document["groups"]] == [None, None]


def test_ranks_that_are_left_to_the_environment_are_told_apart(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project, train="import torch.distributed as dist\n\ndist.init_process_group('gloo', rank=-1, world_size=-1)\n")
    launch = f"{{python}} -m torch.distributed.run --nproc_per_node=2 --master_port={find_free_port()} train.py"
    _, document, err = run(capfd, command=launch)
    assert sorted(document["groups"][0]["ranks"]) == ["0", "1"], err
    assert "rank -1" not in err


def test_a_value_of_another_platform_says_nothing_about_reading(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        train="import torch\nimport torch.distributed as dist\n\n"
        "dist.init_process_group('cpu:gloo' if torch.version.hip else 'gloo', ALONE)\n",
    )
    code, document, err = run(capfd, platform="rocm")
    assert code == 0, err
    assert seen(document) == [("train.py:4", "gloo", "other-machine")]
    assert document["groups"][0]["bug_report"] is None


def test_where_one_process_needs_no_group_the_sites_are_known_all_the_same(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(
        project,
        train="import functools\nimport torch.distributed as dist\n\nstart = functools.partial(dist.init_process_group, 'gloo')\n"
        "start(ALONE)\ndist.new_group([0], backend='gloo')\n",
    )
    code, document, err = run(capfd, platform="single-gpu")
    assert code == 0, err
    assert seen(document) == [("train.py:5", "gloo", "agrees"), ("train.py:6", "gloo", "agrees")]


def test_nothing_is_written_into_the_project(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project, train="import torch.distributed as dist\n\ndist.init_process_group('gloo', ALONE)\nprint('trained')\n")
    before = {path: path.read_bytes() for path in project.rglob("*")}
    code, out = told(capfd, ".")
    assert code == 0
    assert "trained" in out
    assert "train.py:3: agrees" in out
    assert {path: path.read_bytes() for path in project.rglob("*")} == before


@pytest.mark.parametrize(("platform", "expected"), [("single-gpu", 0), ("rocm", 1)])
def test_a_run_without_a_group_is_as_intended_where_one_process_needs_none(
    project: Path, capfd: pytest.CaptureFixture[str], platform: str, expected: int
) -> None:
    code = "import os\nimport torch.distributed as dist\n\nif int(os.environ.get('WORLD_SIZE', '1')) > 1:\n    dist.init_process_group('gloo')\n"
    write(project, train=code)
    assert main(["verify", ".", "--platform", platform, "--run", f"{sys.executable} train.py"]) == expected
    assert ("as intended" in capfd.readouterr().err) == (expected == 0)


def test_a_run_that_fails_before_its_group_is_not_as_intended(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(project, train="raise SystemExit(3)\n")
    assert main(["verify", ".", "--platform", "single-gpu", "--run", f"{sys.executable} train.py"]) == 1
