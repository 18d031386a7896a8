"""``cache``, and the answers that commands keep and take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.run import answer_cache
from tests.cli.conftest import Result

Run = Callable[..., Result]
TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'


@pytest.fixture(autouse=True)
def _worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "WORTH", 1)


def answers() -> list[Path]:
    return list(answer_cache.answers_folder().glob("*.answer"))


def test_the_folder_is_printed(run: Run) -> None:
    assert run("cache", "path").out == f"{answer_cache.answers_folder()}\n"


@pytest.mark.parametrize("command", ["check", "scan", "diff"])
def test_a_command_says_the_same_from_a_kept_answer(command: str, run: Run, project: Callable[..., Path]) -> None:
    project(train=TRAIN)
    first = run(command, ".", "--platform", "rocm")
    assert len(answers()) == 1
    assert run(command, ".", "--platform", "rocm") == first
    assert run(command, ".", "--platform", "rocm", "--no-cache") == first


def test_no_cache_keeps_nothing(run: Run, project: Callable[..., Path]) -> None:
    project(train=TRAIN)
    run("check", ".", "--platform", "rocm", "--no-cache")
    assert answers() == []


def test_what_apply_wrote_is_seen(run: Run, project: Callable[..., Path]) -> None:
    project(train=TRAIN)
    assert run("check", ".", "--platform", "rocm").code == 1
    assert run("apply", ".", "--platform", "rocm").code == 0
    assert run("check", ".", "--platform", "rocm").code == 0
    assert run("undo").code == 0
    assert run("check", ".", "--platform", "rocm").code == 1


def test_clear_deletes_every_answer_and_nothing_else(run: Run, project: Callable[..., Path]) -> None:
    project(train=TRAIN)
    for platform in ("rocm", "windows"):
        run("check", ".", "--platform", platform)
    rules = set(answer_cache.answers_folder().parent.glob("*.msgpack"))
    assert len(answers()) == 2
    assert "2" in run("cache", "clear").said
    assert answers() == []
    assert set(answer_cache.answers_folder().parent.glob("*.msgpack")) == rules
    assert run("cache", "clear").code == 0
