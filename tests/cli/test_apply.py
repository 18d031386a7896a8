"""What ``apply`` writes, what it prints, and what it exits with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EVALUATE = 'import torch.distributed as dist\n\ndist.init_process_group(backend="gloo")\n'
UNKNOWN = "import sys\n\nimport torch.distributed as dist\n\ndist.init_process_group(backend='ours')\n"
PYTHON_2 = 'import torch.distributed as dist\nprint "starting"\ndist.init_process_group("nccl")\n'
TRAIN = 'import torch.distributed as dist\n\n# 初始化进程组\ndist.init_process_group("nccl")\n'
TRAINER = """from accelerate import Accelerator


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    for batch in loader:
        model(batch).sum()
"""
Project = Callable[..., Path]


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.rglob("*.py")}


def test_writes_and_tells(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, evaluate=EVALUATE)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert files(root) == {"train.py": TRAIN.replace("nccl", "gloo").encode(), "evaluate.py": EVALUATE.encode()}
    assert "Platform rocm: " in done.err
    assert '-dist.init_process_group("nccl")\n+dist.init_process_group("gloo")\n' in done.out
    assert "train.py:4: unsupported-backend: nccl does not work on rocm" in done.out
    assert '\n      "nccl" → "gloo"\n' in done.out
    assert "1 safe fix written to 1 file for rocm: nccl becomes gloo." in done.out
    assert "2 Python files read, 2 call sites checked; 1 of them needs no change." in done.out
    assert "ddp-codemod undo ." in done.out
    assert "\x1b" not in done.said


def test_a_second_time_changes_nothing_and_says_why(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    run("apply", ".", "--platform", "rocm")
    before = files(root)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert files(root) == before
    assert "Nothing to change for rocm." in done.out
    assert "train.py:4: torch.init_process_group(backend): works on rocm: gloo" in done.out
    assert "undo" not in done.out


def test_undo_takes_it_back(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    run("apply", ".", "--platform", "rocm")
    done = run("undo")
    assert (done.code, done.out) == (0, "restored train.py\n")
    assert files(root)["train.py"] == TRAIN.encode()
    assert run("undo").code == 2


def test_dry_run_writes_nothing(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    done = run("apply", ".", "--platform", "rocm", "--dry-run")
    assert done.code == 0
    assert files(root)["train.py"] == TRAIN.encode()
    assert '+dist.init_process_group("gloo")' in done.out
    assert "1 safe fix in 1 file for rocm, nothing written: nccl becomes gloo." in done.out
    assert "ddp-codemod apply . --platform rocm\n" in done.out


def test_is_not_finished_while_something_is_for_review(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, unclear=UNKNOWN)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert "Left to do by hand: 1 place needs review." in done.out
    assert "Needs review (1):\n  unclear.py:5: torch.init_process_group(backend): " in done.out
    assert run("apply", ".", "--platform", "rocm", "--strict").code == 1


def test_unsafe_edits_are_left_with_the_command_that_makes_them(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(trainer=TRAINER)
    done = run("apply", ".", "--platform", "mixed-gpu")
    assert done.code == 0
    assert files(root)["trainer.py"] == TRAINER.encode()
    assert "Not finished: 1 unsafe fix." in done.out
    # one line for the change and its import together
    assert "Unsafe fixes, not applied (1):\n  trainer.py:5: unsupported-backend (unsafe): " in done.out
    command = "ddp-codemod apply . --platform mixed-gpu --unsafe"
    assert command in done.out
    assert run("apply", ".", "--platform", "mixed-gpu", "--strict").code == 1
    again = run(*command.split()[1:])
    assert again.code == 0
    assert b'InitProcessGroupKwargs(backend="gloo" if "LOCAL_RANK" in os.environ else "nccl")' in files(root)["trainer.py"]
    assert all(word not in again.out for word in ("Not finished", "Left to do"))


def test_a_file_that_is_not_python_3_is_named(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(old=PYTHON_2, train=TRAIN)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 1
    assert "Left to do by hand: 1 file not fully read." in done.out
    assert "  old.py: Python 2 (line 2)" in done.out
    assert files(root)["old.py"] == PYTHON_2.encode()
    assert b"gloo" in files(root)["train.py"]


def test_a_file_that_is_not_python_3_and_has_no_site_is_no_concern(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(old='print "hello"\n')
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert "old.py" not in done.said


def test_a_project_without_sites_says_so(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(hello="print('hello')\n")
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0
    assert "no code was found that sets a backend" in done.out
    assert "ddp-codemod rules list" in done.out


def test_lines_are_named_as_they_stand_after_the_change(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    both = (
        'import sys\n\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\ndist.new_group(backend=sys.argv[1])\n'
    )
    root = project(train=both)
    done = run("apply", ".", "--rule", "nccl-p2p-off", "--platform", "cuda")
    assert "train.py:8: torch.new_group(backend): " in done.out
    assert (root / "train.py").read_text().splitlines()[7].startswith("dist.new_group")
    assert "ddp-codemod explain train.py:7 " in done.out
    assert (root / "train.py").read_text().splitlines()[6].startswith("dist.init_process_group")


@pytest.mark.parametrize("words", [(), ("--format", "json")])
def test_dirty_files_are_refused(project: Project, run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    root = project(train=EVALUATE)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    project(train=TRAIN)
    done = run("apply", ".", "--platform", "rocm", *words)
    assert done.code == 2
    assert files(root)["train.py"] == TRAIN.encode()
    assert "\n  train.py\n" in done.err
    assert "--allow-dirty" in done.err
    assert done.out == ""
    assert run("apply", ".", "--platform", "rocm", "--allow-dirty").code == 0
    assert b"gloo" in files(root)["train.py"]


def test_only_the_paths_given_are_written(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(one__train=TRAIN, two__other=TRAIN)
    assert run("apply", "one", "--platform", "rocm").code == 0
    assert b"gloo" in (root / "one/train.py").read_bytes()
    assert (root / "two/other.py").read_bytes() == TRAIN.encode()


def test_quiet_prints_no_diff(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("apply", ".", "--platform", "rocm", "-q")
    assert "diff --git" not in done.out
    assert done.err == ""


def test_verbose_lists_what_stays(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, evaluate=EVALUATE)
    line = "evaluate.py:3: torch.init_process_group(backend): "
    assert line not in run("apply", ".", "--platform", "rocm", "--dry-run").out
    assert line in run("apply", ".", "--platform", "rocm", "--dry-run", "-v").out


def test_chinese(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, unclear=UNKNOWN)
    done = run("apply", ".", "--platform", "rocm", "--lang", "zh")
    for line in done.said.splitlines():
        if line and not line.startswith(("diff", "index", "---", "+++", "@@", "-", "+", " ", "train.py:4  [")):
            assert any("\u4e00" <= character <= "\u9fff" for character in line), line


def test_what_gloo_costs_is_said_where_groups_get_it(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    assert "through host memory" in run("apply", ".", "--platform", "rocm").out
    assert "through host memory" not in run("apply", ".", "--platform", "rocm").out  # nothing is edited any more


def test_the_cost_is_not_said_where_nothing_is_lost(project: Project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    assert "host memory" not in run("diff", ".", "--platform", "cpu").err
    assert "host memory" not in run("diff", ".", "--platform", "rocm", "-q").err
    assert "主机内存" in run("diff", ".", "--platform", "windows", "--lang", "zh").err


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('dist.init_process_group("nccl")  # Use NCCL backend', "# Use NCCL backend"),
        ('# NCCL is the fastest\ndist.init_process_group("nccl")', "# NCCL is the fastest"),
        ('dist.init_process_group(\n    backend="nccl",  # nccl\n)', "# nccl"),
        ('dist.init_process_group("nccl")  # start', ""),
        ('# nccl_debug is elsewhere\ndist.init_process_group("nccl")', ""),
        ('# nccl\n\ndist.init_process_group("nccl")', ""),
    ],
)
def test_a_comment_that_now_says_the_opposite_is_pointed_at(project, run, line: str, named: str) -> None:  # type: ignore[no-untyped-def]
    project(train=f"import torch.distributed as dist\n\n{line}\n")
    done = run("apply", ".", "--platform", "rocm")
    said = [text.strip() for text in done.out.splitlines() if "a comment there still mentions" in text]
    assert said == ([f"a comment there still mentions nccl: {named}"] if named else [])


def test_where_an_option_is_used_is_said_once_for_all_files_that_give_it(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(
        train="import argparse\nimport torch.distributed as dist\np = argparse.ArgumentParser()\n"
        'p.add_argument("--backend")\ndist.init_process_group(p.parse_args().backend)\n'
    )
    (root / "run.sh").write_text("python train.py --backend nccl\n")
    (root / "Makefile").write_text("run:\n\tpython train.py --backend nccl\n")
    done = run("apply", ".", "--platform", "rocm")
    assert "The value comes from" not in done.out
    used = "      nccl → gloo\n      used by torch.init_process_group(backend) at train.py:6\n"
    assert f"{used}    Makefile:2\n    run.sh:1\n" in done.out
    assert done.out.count("used by") == 1


REVIEWED = [
    "To finish:",
    '  Review 1 place: edit it, or add "# ddp-codemod: ignore" if correct. Start with:',
    "   ddp-codemod explain unclear.py:5 --platform rocm",
]


def test_what_is_missing_comes_first_then_what_was_done_and_the_steps_come_last(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, unclear=UNKNOWN)
    lines = run("apply", ".", "--platform", "rocm").out.splitlines()
    assert lines[:2] == [
        "Left to do by hand: 1 place needs review.",
        "1 safe fix written to 1 file for rocm: nccl becomes gloo.",
    ]
    patch = next(at for at, line in enumerate(lines) if line.startswith("diff --git"))
    order = ["Changes and their reasons (1):", "Needs review (1):", "Undo the last run: ddp-codemod undo .", "To finish:"]
    assert [line for line in lines[:patch] if line in order] == order
    at = lines.index("To finish:")
    assert lines[at : at + 3] == REVIEWED
    assert lines.count("To finish:") == 1  # the patch is short: what stands above it is still to be seen
    quiet = run("apply", ".", "--platform", "rocm", "-q").out.splitlines()
    assert quiet[:2] == [lines[0], "The rest of the port to rocm is by hand: ddp-codemod makes no further change."]


def test_behind_a_long_patch_what_was_done_and_the_steps_are_said_once_more(project, run) -> None:  # type: ignore[no-untyped-def]
    project(**{f"train{number}": TRAIN for number in range(9)}, unclear=UNKNOWN)
    lines = run("apply", ".", "--platform", "rocm").out.splitlines()
    done = "9 safe fixes written to 9 files for rocm: nccl becomes gloo."
    assert lines[:2] == ["Left to do by hand: 1 place needs review.", done]
    assert lines[-6:] == [done, lines[0], "Undo the last run: ddp-codemod undo .", *REVIEWED]


def test_many_places_for_a_person_are_not_all_named_at_once(project, run) -> None:  # type: ignore[no-untyped-def]
    project(**{f"unclear{number}": UNKNOWN for number in range(5)})
    said = run("check", ".", "--platform", "rocm").said
    first = "   ddp-codemod explain unclear0.py:5 --platform rocm\n"
    assert (
        f'  Review 5 places, listed under "Needs review (5)": edit them, or mark what is correct with the comment "# ddp-codemod: ignore". To see what is open at the first:\n{first}'
        in said
    )
    assert "\nNeeds review (5):\n" in said


def test_a_few_places_for_a_person_are_named(project, run) -> None:  # type: ignore[no-untyped-def]
    project(unclear0=UNKNOWN, unclear1=UNKNOWN)
    said = run("check", ".", "--platform", "rocm").said
    assert "  Review unclear0.py:5, unclear1.py:5: edit them, or mark what is correct with the comment" in said


def test_several_things_to_do_are_numbered_in_their_order(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, other=TRAINER, unclear=UNKNOWN, bad="def broken(:\n    init_process_group('nccl')\n")
    said = run("apply", ".", "--platform", "rocm").out
    todo = said[said.index("To finish, in this order:\n") :].split("\n\n")[0]
    assert [line[:8] for line in todo.splitlines() if not line.startswith(" ")][1:] == ["1. Apply", "2. Revie"]
    assert "\nFiles not fully read (1):\n" in said
    assert "1 file not fully read" in said.splitlines()[0]


def test_unsafe_changes_are_counted_where_they_are_made(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, other=TRAINER)
    lines = run("apply", ".", "--platform", "rocm", "--unsafe").out.splitlines()
    assert lines[1].startswith("The unsafe fix (other.py:6) may change more than the backend or device: run the program once")
    assert "2 Python files read, 2 call sites checked." in lines
    assert "unsafe" not in run("apply", ".", "--platform", "rocm").out


def test_a_command_that_would_be_cut_stands_below_what_it_is_for(project, run, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    long = "a_name_that_takes_half_a_line"
    project(**{f"{long}__{long}": TRAIN})
    monkeypatch.setenv("COLUMNS", "90")
    command = f"ddp-codemod explain {long}/{long}.py:4 --platform rocm"
    assert f"Why a line changes: {command}\n" not in run("check", ".", "--platform", "rocm").said
    assert f"\nWhy a line changes:\n  {command}\n" in run("check", ".", "--platform", "rocm").said
    monkeypatch.setenv("COLUMNS", "125")
    assert f"\nWhy a line changes: {command}\n" in run("check", ".", "--platform", "rocm").said


def test_a_place_is_not_said_to_use_itself(project, run) -> None:  # type: ignore[no-untyped-def]
    project(
        train=TRAINER.replace("Accelerator()", "Accelerator(\n        log_with=None,\n        kwargs_handlers=[scaler],\n    )")
    )
    said = run("apply", ".", "--platform", "rocm", "--unsafe", "--dry-run").out
    assert "train.py:5: unsupported-backend" in said
    assert "used by" not in said


OPTION = 'import argparse\nimport torch.distributed as dist\np = argparse.ArgumentParser()\np.add_argument("--backend")\nargs = p.parse_args()\n'


def test_a_value_that_can_still_come_in_is_no_end(project, run) -> None:  # type: ignore[no-untyped-def]
    settings = 'dict(dist_cfg=dict(backend="nccl" if len(args.backend) > 4 else args.pick(args.backend)))'
    project(train=f"{OPTION}from mmengine.runner import Runner\nRunner(env_cfg={settings})\n")
    done = run("apply", ".", "--platform", "rocm", "--unsafe")
    assert "1 call site may still get another one" in done.out
    assert "Nothing else needs to change" not in done.out


def test_a_call_that_takes_whatever_is_typed_is_an_end(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=f"{OPTION}dist.init_process_group(args.backend)\n")
    (root / "run.sh").write_text("python train.py --backend nccl\n")
    done = run("apply", ".", "--platform", "rocm")
    assert "may still get another one" not in done.out
    assert "Nothing else needs to change" in done.out


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"nccl" if ready() else "gloo"', True),
        ("'gloo' if ready() else \"nccl\"", True),
        ('"nccl" if ready() else "mpi"', False),
        ('"nccl"', False),
    ],
)
def test_a_condition_that_is_kept_is_explained(project, run, value: str, said: bool) -> None:  # type: ignore[no-untyped-def]
    root = project(train=f"import torch.distributed as dist\nfrom elsewhere import ready\n\ndist.init_process_group({value})\n")
    done = run("apply", ".", "--platform", "rocm")
    assert ("both branches are now the same; the condition stays" in done.out) is said
    assert "nccl" not in (root / "train.py").read_text()


def test_the_places_of_one_file_that_take_a_value_are_one_line(project, run) -> None:  # type: ignore[no-untyped-def]
    uses = 'if args.a:\n    dist.init_process_group(BACKEND)\nelse:\n    dist.init_process_group(BACKEND, "env://")\n'
    project(settings='BACKEND = "nccl"\n', train=f"import torch.distributed as dist\nfrom settings import BACKEND\n{uses}")
    said = run("apply", ".", "--platform", "rocm").out
    assert "      used by torch.init_process_group(backend) at train.py:4, 6\n" in said
    assert said.count("used by") == 1


def test_what_the_backend_costs_comes_after_what_changed(project) -> None:  # type: ignore[no-untyped-def]
    line = [sys.executable, "-m", "ddp_codemod", "apply", ".", "--platform", "rocm"]
    done = subprocess.run(line, cwd=project(train=TRAIN), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    said = [text for text in done.stdout.splitlines() if text.startswith(("1 safe fix written", "Cost:", "Changes and their"))]
    assert [text.split()[1] for text in said] == ["safe", "and", "gloo"]


def test_many_unsafe_changes_are_named_and_marked_in_the_list(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, **{f"other{number}": TRAINER for number in range(3)})
    said = run("apply", ".", "--platform", "rocm", "--unsafe").out
    assert "The unsafe fixes (other0.py:6, other1.py:6, other2.py:6) may" in said
    listed = said[said.index("Changes and their reasons") :]
    assert "unsupported-backend (safe): nccl does not work" in listed
    assert "unsupported-backend (unsafe): " in listed
    run("undo", ".")
    assert "(safe)" not in run("apply", ".", "--platform", "rocm").out


def test_that_nothing_was_written_comes_first(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train="import torch\n\ntorch.ones(1, requires_grad=True).cuda().sum().backward()\n")
    done = run("apply", ".", "--platform", "ascend")
    assert "Nothing was written: no safe fix for ascend." in done.said
    assert "Nothing was written" not in run("diff", ".", "--platform", "ascend").said
