"""Attributes that only a launcher's branch sets: the program is run without one, before and after."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.edits.render import render
from ddp_codemod.model import Action
from tests.single_process.test_entry_survey import found

SETUP = (
    "import os\nimport torch\nimport torch.distributed as dist\n\n\n"
    "def setup(args):\n"
    '    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:\n'
    '        args.rank = int(os.environ["RANK"])\n'
    '        args.gpu = int(os.environ.get("LOCAL_RANK"))\n'
    '    elif "SLURM_PROCID" in os.environ:\n'
    '        args.rank = int(os.environ["SLURM_PROCID"])\n'
    "{last}"
    '    dist.init_process_group("gloo", rank=args.rank, world_size=2)\n'
)
LAST = '    else:\n        print("not distributed")\n        return\n'
MAIN = (
    "import argparse\nimport torch\nfrom setup_group import setup\n\n\n"
    "def main(args):\n"
    "    setup(args)\n"
    "    net = torch.nn.Linear(2, 1)\n"
    "    net(torch.ones(1, 2)).sum().backward()\n"
    "    {read}\n\n\n"
    'parser = argparse.ArgumentParser()\nparser.add_argument("--epochs", default=1)\n{more}main(parser.parse_args())\n'
)


def after(root: Path, read: str, last: str = LAST, more: str = "") -> str:
    """The setup file after the edits."""
    main = MAIN.replace("{read}", read).replace("{more}", more)
    of = found(root, setup_group=SETUP.replace("{last}", last), train=main)
    changes = {change.name: change.after.decode() for change in render(of, unsafe=True).changes}
    for name, text in changes.items():
        (root / name).write_text(text, "utf-8")
    return changes.get("setup_group.py", "")


def run(root: Path) -> subprocess.CompletedProcess[str]:
    drop = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "SLURM_PROCID", "PYTHONPATH"}
    env = {name: value for name, value in os.environ.items() if name not in drop}
    return subprocess.run([sys.executable, "train.py"], cwd=root, env=env, capture_output=True, text=True, timeout=120)


def test_what_is_read_without_a_launcher_is_given(tmp_path: Path) -> None:
    text = after(tmp_path, 'print("first", args.rank == 0)')
    assert text.count('args.rank = getattr(args, "rank", 0)\n        return\n') == 1
    assert 'getattr(args, "gpu"' not in text  # nothing else reads it
    ran = run(tmp_path)
    assert (ran.returncode, "first True" in ran.stdout) == (0, True), ran.stderr


def test_without_the_edit_it_dies(tmp_path: Path) -> None:
    (tmp_path / "setup_group.py").write_text(SETUP.replace("{last}", LAST), "utf-8")
    (tmp_path / "train.py").write_text(MAIN.replace("{read}", "print(args.rank)").replace("{more}", ""), "utf-8")
    assert "no attribute 'rank'" in run(tmp_path).stderr


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ('print("first" if args.epochs == 1 and args.rank == 0 else "last")', "first"),  # nothing sees more than its attributes
        ("print(sorted(vars(args)), args.rank)", "['epochs', 'rank'] 0"),  # it dies today, whatever else it shows
        ("print(args)\n    if args.rank == 0: print('first')", "first"),
    ],
)
def test_what_nothing_of_today_sees_is_given(tmp_path: Path, read: str, said: str) -> None:
    assert 'args.rank = getattr(args, "rank", 0)' in after(tmp_path, read)
    ran = run(tmp_path)
    assert (ran.returncode, said in ran.stdout) == (0, True), ran.stderr


def test_where_what_runs_today_shows_the_whole_object_it_is_listed(tmp_path: Path) -> None:
    of = found(
        tmp_path,
        setup_group=SETUP.replace("{last}", LAST),
        train=MAIN.replace("{more}", "").replace("{read}", "print(args)\n    if args.epochs == 2: print(args.rank)"),
    )
    assert not of.edits
    reviewed = {one.place.name: dict(one.reason.args) for one in of.decisions if one.action is Action.REVIEW}
    assert reviewed["setup_group.py"]["lines"] == "train.py:11"
    assert reviewed["train.py"]["name"] == "args.rank"


@pytest.mark.parametrize(
    ("read", "last", "more"),
    [
        ("print(args.epochs)", LAST, ""),  # nothing reads it
        ("print(args.rank)", '    else:\n        args.rank = 0\n        return\n', ""),  # given already
        ("print(args.rank)", LAST, 'parser.add_argument("--rank", default=0)\n'),  # declared
        ("print(args.rank)", LAST, "parser.set_defaults(rank=0)\n"),
        ('print(getattr(args, "rank", 0) or args.rank)', LAST, ""),  # asked for by name
        ("args.rank = 0; print(args.rank)", LAST, ""),
        ("if torch.distributed.is_initialized(): print(args.rank)", LAST, ""),  # only with a group
        ("print(net.rank)" , LAST, ""),  # another object's
        ("print(args.rank)", "", ""),  # no branch to put it in
        ('print(sorted(vars(args))); "SAVE" in os.environ and print(args.rank)', LAST, "import os\n"),  # it runs today, and shows them all
        ('print(args)\n    if "SAVE" in os.environ: print(args.rank)', LAST, "import os\n"),
        ('print(args.__dict__)\n    for _ in range(0): print(args.rank)', LAST, ""),
        ("torch.save(args, 'args.pt')\n    if args.epochs == 2: print(args.rank)", LAST, ""),
    ],
)  # fmt: skip
def test_stays(tmp_path: Path, read: str, last: str, more: str) -> None:
    assert "getattr(args" not in after(tmp_path, read, last, more)
