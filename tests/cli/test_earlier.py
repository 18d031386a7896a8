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


def test_a_report_for_programs_has_nothing_of_it(ported: Path, run) -> None:  # type: ignore[no-untyped-def]
    assert "earlier apply" not in run("check", ".", "--platform", "ascend", "--format", "json").said


def test_the_first_line_of_half_a_port_says_so_and_names_the_whole(project, run) -> None:  # type: ignore[no-untyped-def]
    project(a=TRAIN)
    done = run("apply", ".", "--platform", "ascend").out.splitlines()
    assert done[0].startswith("This port is incomplete and does not run: 1 use of cuda still needs npu.")
    assert done[1].strip() == "ddp-codemod apply . --platform ascend --unsafe"


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
