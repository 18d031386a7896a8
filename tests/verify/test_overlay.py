"""``verify PATH --run COMMAND``: the groups that a real run makes, held against what reading says of the project."""

from __future__ import annotations

import sys

import pytest

from ddp_codemod.cli import main

HEAD = "import importlib\nimport torch.distributed as dist\n\nalone = dict(store=dist.HashStore(), rank=0, world_size=1)\n"


def run(project, capfd: pytest.CaptureFixture[str], body: str, platform: str = "cpu") -> tuple[int, str]:  # type: ignore[no-untyped-def]
    project(HEAD + body)
    capfd.readouterr()
    code = main(["verify", ".", "--platform", platform, "--run", f"{sys.executable} train.py", "--timeout", "60"])
    return code, "".join(capfd.readouterr())


def test_what_reading_has_agrees_on_its_line(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    code, out = run(project, capfd, "dist.init_process_group(\n    'gloo',\n    **alone,\n)\ndist.new_group([0])\n")
    assert code == 0, out
    assert "train.py:5: backend 'gloo': agrees" in out
    assert "not seen" not in out
    assert "not reached" not in out


def test_a_call_that_reading_does_not_know_is_located(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    body = "make = vars(importlib.import_module('torch.distri' + 'buted'))['init_' + 'process_group']\nmake('gloo', **alone)\n"
    code, out = run(project, capfd, body)
    assert code == 1, out
    assert "train.py:6: backend 'gloo': not seen by reading: this line" in out


def test_a_value_from_a_database_is_told(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    body = "import sqlite3\nrow = sqlite3.connect(':memory:').execute(\"select 'gl' || 'oo'\").fetchone()\ndist.init_process_group(row[0], **alone)\n"
    code, out = run(project, capfd, body)
    assert code == 1, out
    assert "train.py:7: backend 'gloo': not seen by reading: the value" in out


def test_a_site_that_the_run_skips_is_named(project, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    body = "dist.init_process_group('gloo', **alone)\nif len(alone) > 9:\n    dist.new_group([0], backend='gloo')\n"
    code, out = run(project, capfd, body)
    assert code == 0, out
    assert "train.py:7: not reached by this run" in out
