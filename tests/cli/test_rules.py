"""``rules`` and ``platforms``: what the rule data says, and whether its examples hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load

RULE = '''id = "my-variable"
recipe = "set-environment"
title = "Set my variable"
title_zh = "设置我的变量"
text = "It sets a variable."
text_zh = "设置一个变量。"
source = ["https://example.org"]
platform = "cuda"

[environment]
name = "MY_VARIABLE"
value = "1"

[[examples]]
title = "before the group"
before = """
import os

import torch.distributed as dist

dist.init_process_group("nccl")
"""
after = """
import os

import torch.distributed as dist

os.environ.setdefault("MY_VARIABLE", "{value}")
dist.init_process_group("nccl")
"""
rules = ["my-variable"]
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine/fixes").mkdir(parents=True)
    return tmp_path / "mine"


def test_every_entry_is_listed_and_can_be_shown(run) -> None:  # type: ignore[no-untyped-def]
    rules = load()
    listed = [line.split()[0] for line in run("rules", "list").out.splitlines() if line]
    assert {*rules.fixes, *rules.surfaces} <= set(listed)
    assert all("single-gpu" in run("platforms", "--lang", lang).err for lang in ("en", "zh"))  # what to take with one card
    assert [line.split()[0] for line in run("platforms").out.splitlines()] == sorted(rules.platforms)
    for lang in ("en", "zh"):
        for ident in [*rules.fixes, *rules.surfaces, *rules.platforms]:
            done = run("rules", "show", ident, "--lang", lang)
            assert (done.code, done.err) == (0, ""), ident
            assert done.out.startswith(ident)


def test_examples_are_shown_as_diffs(run) -> None:  # type: ignore[no-untyped-def]
    said = run("rules", "show", "rocm").out
    assert '  -dist.init_process_group(backend="nccl")\n  +dist.init_process_group(backend="gloo")\n' in said
    assert "(unchanged)" in said
    assert "source: https://" in said


def test_the_examples_of_a_folder_alone_are_run(run, mine: Path) -> None:  # type: ignore[no-untyped-def]
    (mine / "fixes/my-variable.toml").write_text(RULE.replace("{value}", "1"), "utf-8")
    done = run("rules", "test", str(mine))
    assert (done.code, done.out) == (0, "1 example passed, 0 failed\n")


def test_an_example_that_does_not_hold_is_shown(run, mine: Path) -> None:  # type: ignore[no-untyped-def]
    (mine / "fixes/my-variable.toml").write_text(RULE.replace("{value}", "0"), "utf-8")
    done = run("rules", "test", str(mine))
    assert done.code == 1
    assert "rule:my-variable:1: wrong: before the group" in done.out
    assert '-os.environ.setdefault("MY_VARIABLE", "0")\n+os.environ.setdefault("MY_VARIABLE", "1")' in done.out
    assert "0 examples passed, 1 failed" in done.out


def test_an_example_for_no_platform_is_an_error(run, mine: Path) -> None:  # type: ignore[no-untyped-def]
    (mine / "fixes/my-variable.toml").write_text(RULE.replace('platform = "cuda"\n', ""), "utf-8")
    done = run("rules", "test", str(mine))
    assert done.code == 2
    assert "my-variable" in done.err


def test_a_rule_of_one_s_own_is_used(project, run, mine: Path) -> None:  # type: ignore[no-untyped-def]
    (mine / "fixes/my-variable.toml").write_text(RULE.replace("{value}", "1"), "utf-8")
    root = project(train='import os\n\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    words = ("--rules", str(mine), "--rule", "my-variable")
    done = run("apply", ".", *words)
    assert done.code == 0
    assert "default of rule my-variable" in done.err
    assert 'os.environ.setdefault("MY_VARIABLE", "1")\ndist.' in (root / "train.py").read_text()
    assert run("check", ".", "--rule", "my-variable").code == 2


def test_a_folder_that_is_not_there(run) -> None:  # type: ignore[no-untyped-def]
    for words in (("rules", "test", "nowhere"), ("rules", "list", "--rules", "nowhere"), ("platforms", "--rules", "nowhere")):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert "nowhere" in done.err


SIGNATURE = """[[signature]]
id = "mine"
patterns = ["flux compensator is off"]
confidence = "sure"
title = "The flux compensator is off"
title_zh = "t"
cause = "c"
cause_zh = "c"
source = ["https://example.org/"]
hit = ["{hit}"]
miss = ["{miss}"]
[[signature.cure]]
text = "turn it on"
text_zh = "turn it on"
"""


@pytest.mark.parametrize(
    ("hit", "miss", "said"),
    [
        ("the flux compensator is off", "the flux compensator is on", "2 examples passed, 0 failed"),
        ("the flux compensator is on", "nothing", "diagnostic:mine:hit:1: missing"),
        ("the flux compensator is off", "no flux compensator is off", "diagnostic:mine:miss:1: noisy"),
        ("flux compensator is off; Distributed package doesn't have NCCL built in", "nothing", "2 examples passed"),
    ],
)
def test_the_excerpts_of_an_error_are_tried(run, tmp_path: Path, hit: str, miss: str, said: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "diagnostics").mkdir()
    (tmp_path / "diagnostics" / "mine.toml").write_text(SIGNATURE.format(hit=hit, miss=miss))
    done = run("rules", "test", str(tmp_path))
    assert said in done.out
    assert done.code == (0 if "passed, 0" in done.out else 1)
