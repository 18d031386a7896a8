"""A tree that an earlier apply ported to another platform, and half a port to another device."""

from __future__ import annotations

from pathlib import Path

import pytest

GROUP = 'import torch\nimport torch.distributed as dist\n\n\ndef main():\n    dist.init_process_group("nccl")\n'
TRAIN = GROUP + "    torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1).cuda(), device_ids=[0])\n\n\nmain()\n"
PLAIN = GROUP + "\n\nmain()\n"
EARLIER = "An earlier apply ported this tree to rocm: 2 changes in 2 files."


@pytest.fixture
def ported(project, run) -> Path:  # type: ignore[no-untyped-def]
    root: Path = project(a=TRAIN, b=PLAIN)
    assert run("apply", ".", "--platform", "rocm").code == 0
    return root


@pytest.mark.parametrize("command", ["apply", "check", "diff", "scan"])
def test_it_is_said_with_what_takes_it_back(ported: Path, run, command: str) -> None:  # type: ignore[no-untyped-def]
    said = run(command, ".", "--platform", "ascend").err
    assert EARLIER in said
    assert "\n  ddp-codemod undo .\n" in said


def test_groups_that_rocm_s_gloo_served_get_a_backend_for_the_device(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    assert 'init_process_group("cpu:gloo,npu:hccl")' in (ported / "a.py").read_text()
    assert 'init_process_group("gloo")' in (ported / "b.py").read_text()
    assert run("check", ".", "--platform", "ascend").code == 0


def test_three_ports_and_three_undos_leave_what_was_there(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    run("apply", ".", "--platform", "cuda", "--unsafe")
    for _ in range(3):
        run("undo")
    assert [(ported / name).read_text() for name in ("a.py", "b.py")] == [TRAIN, PLAIN]


@pytest.mark.parametrize("platform", ["rocm", "rocm-rccl"])
def test_nothing_is_said_of_an_apply_that_was_taken_back(ported: Path, run, platform: str) -> None:  # type: ignore[no-untyped-def]
    assert run("undo").code == 0
    assert "earlier apply" not in run("check", ".", "--platform", platform).said


def test_nothing_is_said_of_an_apply_for_the_same_platform(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "earlier apply" not in run("check", ".", "--platform", "rocm").said


def test_nothing_is_said_where_git_put_the_files_back(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    (ported / "a.py").write_text(TRAIN)
    (ported / "b.py").write_text(PLAIN)
    assert "earlier apply" not in run("check", ".", "--platform", "ascend").said


def test_nothing_is_said_of_an_apply_on_another_branch(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    (ported / "a.py").write_text(TRAIN + "print()\n")
    (ported / "b.py").write_text("import os\n" + PLAIN)
    assert "earlier apply" not in run("check", ".", "--platform", "ascend").said
    assert run("apply", ".", "--platform", "windows", "--style", "portable").code == 0
    said = run("check", ".", "--platform", "ascend").err
    assert "ported this tree to windows" in said
    assert "rocm" not in said.splitlines()[1]


def test_imports_are_no_changes_of_their_own(project, run) -> None:  # type: ignore[no-untyped-def]
    project(b='import torch.distributed as dist\n\n\ndef main(backend="nccl"):\n    dist.init_process_group(backend)\n')
    assert "2 safe fixes written" in run("apply", ".", "--platform", "windows", "--style", "portable").said
    assert "to windows: 2 changes in 1 file" in run("check", ".", "--platform", "ascend").err


def test_a_report_for_programs_has_nothing_of_it(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "earlier apply" not in run("check", ".", "--platform", "ascend", "--format", "json").said


def test_the_first_line_of_half_a_port_says_so_and_names_the_whole(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    done = run("apply", ".", "--platform", "ascend").out.splitlines()
    assert done[0].startswith("This port is incomplete and does not run: the code still uses cuda, and ascend has npu.")
    commands = [line.strip() for line in done if line.startswith("  a. ddp") or line.startswith("  b. ddp")]
    assert commands == [
        "a. ddp-codemod apply . --platform ascend --rule transfer-to-npu --unsafe",
        "b. ddp-codemod apply . --platform ascend --unsafe",
    ]


def test_half_a_port_without_a_vendors_way_names_the_one_command(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    done = run("apply", ".", "--platform", "xpu").out.splitlines()
    assert done[0].startswith("This port is incomplete and does not run: the code still uses cuda, and xpu has xpu.")
    assert "  ddp-codemod apply . --platform xpu --unsafe" in done[:3]


def test_a_tree_with_the_vendors_import_is_no_half_port(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    assert run("apply", ".", "--platform", "ascend", "--rule", "transfer-to-npu", "--unsafe").code == 0
    for words in (["apply"], ["check"]):
        done = run(*words, ".", "--platform", "ascend")
        assert "incomplete" not in done.said
        assert "--unsafe" not in done.said


@pytest.mark.parametrize("words", [("ascend", "--unsafe"), ("rocm",), ("cpu",)])
def test_a_port_that_is_whole_or_of_the_groups_alone_is_not_half(project, run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    assert "This port is incomplete" not in run("apply", ".", "--platform", *words).said


def test_code_without_a_device_is_no_half_port(project, run) -> None:  # type: ignore[no-untyped-def]
    project(b=PLAIN)
    assert "This port is incomplete" not in run("apply", ".", "--platform", "ascend").said


@pytest.mark.parametrize("platform", ["cuda", "rocm-rccl", "xpu"])
def test_a_tree_of_another_device_is_not_called_right(project, run, platform: str) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    done = run("check", ".", "--platform", platform)
    assert done.code == 1
    assert f"Not ported to {platform}: an earlier apply ported this tree to ascend only. Undo that first." in done.said
    assert "Nothing to change" not in done.said
    assert run("undo").code == 0
    assert "Not ported" not in run("check", ".", "--platform", platform).said


def test_a_tree_that_was_ported_for_both_is(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    assert run("apply", ".", "--platform", "ascend", "--unsafe", "--style", "portable").code == 0
    assert "Not ported" not in run("check", ".", "--platform", "cuda").said


def test_a_tree_of_groups_for_rocm_may_be_ported_on(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "Not ported" not in run("check", ".", "--platform", "windows").said


SETTINGS = {"options.yml": "backend: nccl\n", "base.yml": "backend: gloo\n"}
LAUNCHED = """\
import sys

import torch
import torch.distributed as dist
import yaml


def main():
    with open("options.yml") as file:
        options = yaml.safe_load(file)
    dist.init_process_group(options["backend"])
    torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1).cuda(), device_ids=[0])


main()
"""


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and modes of all files."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def whole(project, run):  # type: ignore[no-untyped-def]
    """A program whose backend stands in settings, beside others of many ends of lines, and its first state."""
    root: Path = project(launched=LAUNCHED, train=TRAIN, windows=TRAIN.replace("\n", "\r\n"))
    for name, text in SETTINGS.items():
        (root / name).write_text(text)
    (root / "run.sh").write_text("#!/bin/sh\nCUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py\n")
    (root / "run.sh").chmod(0o755)
    (root / "last.py").write_bytes(TRAIN.rstrip("\n").encode())
    return root, tree(root)


def test_a_port_for_a_device_that_the_tree_no_longer_uses_is_refused_also_where_it_would_edit(whole, run) -> None:  # type: ignore[no-untyped-def]
    root, _ = whole
    assert run("apply", ".", "--platform", "rocm", "--unsafe").code == 0
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    assert (root / "options.yml").read_text() == "backend: cpu:gloo,npu:hccl\n"
    before = tree(root)
    shown = run("diff", ".", "--platform", "cuda", "--unsafe")
    assert "Not ported to cuda: an earlier apply ported this tree to ascend only." in shown.said
    assert "+backend: cpu:gloo,cuda:nccl" in shown.out
    done = run("apply", ".", "--platform", "cuda", "--unsafe")
    assert done.code == 2
    assert "Nothing written: an earlier apply ported this tree to ascend only, whose device cuda lacks." in done.err
    assert "ddp-codemod undo ." in done.err
    assert tree(root) == before


@pytest.mark.parametrize(
    "path", [("rocm", "ascend", "cuda"), ("ascend", "rocm", "windows"), ("windows", "cpu", "ascend"), ("xpu", "cuda", "rocm")]
)
def test_undone_as_often_as_applied_each_file_is_byte_for_byte_the_first(whole, run, path: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    root, first = whole
    states = [first]
    for platform in path:
        run("apply", ".", "--platform", platform, "--unsafe")
        if tree(root) != states[-1]:
            states.append(tree(root))
    assert len(states) > 1
    for state in reversed(states[:-1]):
        assert run("undo").code == 0
        assert tree(root) == state
    assert "Nothing to undo" in run("undo").said
    assert tree(root) == first


CAPABILITY = """import torch


def describe(net, x):
    if torch.cuda.is_available():
        print(torch.cuda.get_device_capability())
    net.cuda()(x).sum().backward()


describe(torch.nn.Linear(1, 1), torch.ones(1))
"""


def test_what_needs_review_does_so_after_the_port_too(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(train=CAPABILITY)
    before = run("apply", ".", "--platform", "ascend", "--unsafe")
    assert "torch.npu.is_available()" in (root / "train.py").read_text()
    assert "Left to do by hand: 1 place needs review" in before.said
    after = run("check", ".", "--platform", "ascend").said
    assert "Left to do by hand: 1 place needs review" in after
    assert "train.py:7" in after
    again = run("apply", ".", "--platform", "ascend", "--unsafe").said
    assert "Left to do by hand: 1 place needs review" in again
    run("undo")
    own = CAPABILITY.replace("    net.cuda()", "    if hasattr(torch, 'npu'):\n        net.npu()\n    net.cuda()")
    (root / "train.py").write_text(own)  # whose authors know of the device
    assert "needs review" not in run("check", ".", "--platform", "ascend").said


def test_a_tree_that_is_rewritten_needs_no_second_way(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    words = ("--platform", "ascend", "--rule", "transfer-to-npu", "--unsafe")
    said = "This tree is ported to ascend already by rewriting each use of its device"
    assert said not in run("diff", ".", *words).err
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    assert said in run("diff", ".", *words).err
    assert said not in run("check", ".", "--platform", "ascend").err


def test_an_undo_for_each_apply_is_named(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "undo first, once for each apply" in run("check", ".", "--platform", "ascend").err.replace("\n  ", " ")


def test_a_portable_port_stays_portable(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(a=TRAIN)
    assert run("apply", ".", "--platform", "ascend", "--style", "portable", "--unsafe").code == 0
    (root / "b.py").write_text(PLAIN)
    said = run("check", ".", "--platform", "ascend").said
    assert "style portable, as in the last apply" in said
    assert "ddp-codemod apply . --platform ascend --style portable" in said
    assert "--style portable" not in run("check", ".", "--platform", "ascend", "--style", "pin").said
    assert "--style portable" not in run("check", ".", "--platform", "rocm").said


def test_a_pinned_port_stays_pinned(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(a=TRAIN)
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    (root / "b.py").write_text(PLAIN)
    assert "portable" not in run("check", ".", "--platform", "ascend").said


def test_a_tree_without_the_portable_port_has_no_style_of_it(project, run) -> None:  # type: ignore[no-untyped-def]
    root: Path = project(a=TRAIN)
    before = (root / "a.py").read_bytes()
    assert run("apply", ".", "--platform", "ascend", "--style", "portable", "--unsafe").code == 0
    assert (root / "a.py").read_bytes() != before
    (root / "a.py").write_bytes(before + b"\nprint(1)\n")  # as another branch has it
    assert "style portable" not in run("check", ".", "--platform", "ascend").said
