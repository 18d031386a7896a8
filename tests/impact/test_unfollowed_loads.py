"""What training loads by names that only the run knows: it is said where files that use the device could be meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

NET = "import torch\n\n\ndef net():\n    return torch.nn.Linear(1, 1).cuda()\n"
TRAIN = """import argparse
import importlib
import runpy
import sys

import torch
import torch.distributed as dist


def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch")
    args = parser.parse_args()
    return {load}


def main():
    dist.init_process_group("nccl")
    model = build()
    torch.nn.Linear(1, 1)(torch.ones(1)).sum().backward()


if __name__ == "__main__":
    main()
"""
SAID = "Nothing else was found that needs to change."
DONE = ("Nothing else needs to change.", "Nothing else in training needs to change.")


def write(folder: Path, **files: str) -> None:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")


def found(folder: Path, platform: str = "cpu") -> Survey:
    rules = load()
    return survey(Options((folder,), rules.platforms[platform], rules, root=folder))


def lines(one: Survey) -> list[tuple[str, int]]:
    return [(place.name, one.sources[place.name].position(place.start)[0]) for place in one.unfollowed]


@pytest.mark.parametrize("platform", ["cpu", "ascend", "xpu", "mlu", "musa"])
@pytest.mark.parametrize(
    "load_",
    [
        "importlib.import_module(args.arch).net()",
        "__import__(args.arch).net()",
        "runpy.run_path(args.arch)",
        "exec(open(args.arch).read())",
        "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'))",
    ],
)
def test_code_by_a_name_from_the_command_line(tmp_path: Path, load_: str, platform: str) -> None:
    write(tmp_path, nets=NET, train=TRAIN.format(load=load_))
    every = found(tmp_path, platform)
    assert (lines(every), every.unreached) == ([("train.py", 14)], ("nets.py",))


@pytest.mark.parametrize(
    "load_",
    [
        "importlib.import_module('nets').net()",  # the imports hold it
        "importlib.import_module('json')",
        "importlib.import_module(f'torch.optim.{args.arch}')",
        "exec('x = 1')",
        "exec(open('nets.py').read())",
        "sys.exec(args.arch)",
        "None",
    ],
)
def test_what_is_written_out_is_followed(tmp_path: Path, load_: str) -> None:
    write(tmp_path, nets=NET, train=TRAIN.format(load=load_))
    assert lines(found(tmp_path)) == []


def test_nothing_is_open_where_every_file_that_uses_the_device_is_reached(tmp_path: Path) -> None:
    text = TRAIN.format(load="importlib.import_module(args.arch).net()")
    write(tmp_path, nets=NET, train=text.replace("import sys\n", "import sys\n\nimport nets\n"))
    assert lines(found(tmp_path)) == []


def test_a_load_that_does_not_run_leaves_nothing_open(tmp_path: Path) -> None:
    text = TRAIN.format(load="torch.nn.Linear(1, 1)") + "\n\ndef never(name):\n    return importlib.import_module(name)\n"
    write(tmp_path, nets=NET, train=text)
    assert lines(found(tmp_path)) == []


@pytest.mark.parametrize("platform", ["rocm", "windows", "cuda"])
def test_where_there_is_a_cuda_device_nothing_is_asked(tmp_path: Path, platform: str) -> None:
    write(tmp_path, nets=NET, train=TRAIN.format(load="importlib.import_module(args.arch).net()"))
    assert lines(found(tmp_path, platform)) == []


def screen(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main([*words, "--platform", "cpu", "--no-cache", "--color", "never", str(folder)])
    both = capsys.readouterr()
    return both.out + both.err


def test_the_json_report_lists_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, nets=NET, train=TRAIN.format(load="importlib.import_module(args.arch).net()"))
    main(["check", "--platform", "cpu", "--no-cache", "--format", "json", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)["unfollowed"] == [{"path": "train.py", "line": 14}]


def test_the_first_screen_says_what_was_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, nets=NET, train=TRAIN.format(load="importlib.import_module(args.arch).net()"))
    said = screen(tmp_path, capsys, "diff", "--unsafe")
    assert SAID in said
    assert "train.py:14 loads code by a name known only at run time" in said
    assert not any(done in said for done in DONE)


@pytest.mark.parametrize(
    "load_",
    [
        "getattr(nets, args.arch)()",
        "nets.__dict__[args.arch]()",
        "vars(nets).get(args.arch)()",
        "eval(args.arch)()",
        "globals()[args.arch]()",
    ],
)
def test_a_look_up_by_a_computed_name_reaches_all_that_it_can_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], load_: str
) -> None:
    text = TRAIN.format(load=load_).replace("import sys\n", "import sys\n\nimport nets\nfrom nets import *\n")
    write(tmp_path, nets=NET, train=text)
    said = screen(tmp_path, capsys, "diff", "--unsafe")
    assert '+    return torch.nn.Linear(1, 1).to("cuda" if torch.cuda.is_available() else "cpu")' in said
    assert DONE[0] in said


def test_a_look_up_by_a_name_that_is_written_out_reaches_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TRAIN.format(load="getattr(nets, 'other', None)").replace("import sys\n", "import sys\n\nimport nets\n")
    write(tmp_path, nets=NET, train=text)
    assert ".to(" not in screen(tmp_path, capsys, "diff", "--unsafe")
