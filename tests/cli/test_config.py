"""What a project says about itself in pyproject.toml holds for every command that surveys it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod import plan
from ddp_codemod.catalog.load import load
from ddp_codemod.model import NOTES
from tests.outside import FIXTURES

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
PYTHON2 = "import torch.distributed as dist\nclass A: pass\nprint dist.init_process_group('nccl')\n"


@pytest.fixture
def configured(project):  # type: ignore[no-untyped-def]
    def write(*lines: str, **files: str) -> Path:
        root: Path = project(**files)
        (root / "pyproject.toml").write_text("\n".join(["[project]", 'name = "x"', "", "[tool.ddp-codemod]", *lines, ""]))
        return root

    return write


def edited(document: str) -> set[str]:
    return {edit["path"] for edit in json.loads(document)["edits"]}


def seen(document: str) -> set[str]:
    return {site["path"] for site in json.loads(document)["sites"]}


def three() -> dict[str, str]:
    return {"train": TRAIN, "tests__test_train": TRAIN, "vendor__deep__copy": TRAIN}


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ((), {"train.py", "tests/test_train.py", "vendor/deep/copy.py"}),
        (('exclude = ["tests/**"]',), {"train.py", "vendor/deep/copy.py"}),
        (('exclude = ["vendor/"]',), {"train.py", "tests/test_train.py"}),
        (('exclude = ["deep"]',), {"train.py", "tests/test_train.py"}),
        (('exclude = ["/deep"]',), {"train.py", "tests/test_train.py", "vendor/deep/copy.py"}),
        (('exclude = ["*.py", "!train.py"]',), {"train.py"}),
        (('exclude = ["test_*.py"]',), {"train.py", "vendor/deep/copy.py"}),
        (('include = ["tests", "vendor"]',), {"tests/test_train.py", "vendor/deep/copy.py"}),
        (('include = ["tests", "vendor"]', 'exclude = ["copy.py"]'), {"tests/test_train.py"}),
        (('include = ["/*.py"]',), {"train.py"}),
    ],
)
def test_include_and_exclude_are_patterns_of_gitignore(configured, run, lines: Iterable[str], left: set[str]) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "rocm"', *lines, **three())
    assert seen(run("scan", ".", "--format", "json").out) == left
    assert edited(run("check", ".", "--format", "json").out) == left


@pytest.mark.parametrize("command", ["apply", "diff", "check", "scan"])
def test_every_survey_heeds_it_and_counts_what_is_left_out(configured, run, command: str) -> None:  # type: ignore[no-untyped-def]
    root = configured('platform = "rocm"', 'exclude = ["tests", "vendor"]', **three())
    done = run(command, ".")
    assert "2 files excluded by include or exclude in pyproject.toml, or" in done.said
    assert "1 Python file read, 1 call site checked" in done.said
    assert "tests/" not in done.said
    assert (root / "tests/test_train.py").read_text() == TRAIN
    assert "排除" in run(command, ".", "--lang", "zh").said


def test_review_heeds_it(configured, run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    import io

    root = configured('platform = "rocm"', 'exclude = ["tests", "vendor"]', **three())
    monkeypatch.setattr("sys.stdin", io.StringIO("a\n"))
    assert run("review", ".", "--answers").code == 0
    assert [path.name for path in root.rglob("*.py") if "gloo" in path.read_text()] == ["train.py"]


def test_a_file_that_is_named_is_taken_though_it_is_excluded(configured, run) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "rocm"', 'exclude = ["tests", "vendor"]', **three())
    assert edited(run("check", "tests/test_train.py", "--format", "json").out) == {"tests/test_train.py"}
    assert edited(run("check", "tests", "--format", "json").out) == set()


def test_values_that_start_in_an_excluded_file_are_told_not_edited(configured, run) -> None:  # type: ignore[no-untyped-def]
    constants = 'BACKEND = "nccl"\n'
    train = "import torch.distributed as dist\nfrom settings import BACKEND\n\ndist.init_process_group(BACKEND)\n"
    root = configured('platform = "rocm"', 'exclude = ["settings.py"]', settings=constants, train=train)
    done = run("apply", ".")
    assert "settings.py:1, a file that include or exclude in pyproject.toml excludes" in done.out
    assert (root / "settings.py").read_text() == constants


def test_an_excluded_file_that_cannot_be_read_is_no_concern(configured, run) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "rocm"', old=PYTHON2, train=TRAIN.replace("nccl", "gloo"))
    assert run("check", ".").code == 1
    configured('platform = "rocm"', 'exclude = ["old.py"]')
    done = run("check", ".")
    assert (done.code, "old.py" in done.said) == (0, False)


@pytest.mark.parametrize("ident", ["unsupported-backend", "torch.init_process_group"])
@pytest.mark.parametrize(
    "table", ['per-file-ignores = {{ "tests/**" = ["{}"] }}', '[tool.ddp-codemod.per-file-ignores]\n"tests/**" = ["{}"]']
)
def test_rules_and_surfaces_are_ignored_in_files(configured, run, table: str, ident: str) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "rocm"', table.format(ident), **three())
    assert edited(run("check", ".", "--format", "json").out) == {"train.py", "vendor/deep/copy.py"}
    assert "1 call site ignored because of" in run("check", ".").err


def test_another_rule_still_counts_there(configured, run) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "windows"', 'per-file-ignores = { "*.py" = ["unsupported-backend"] }', train=TRAIN)
    document = json.loads(run("check", ".", "--format", "json").out)
    assert {edit["rule"] for edit in document["edits"]} == {"no-libuv"}


def test_a_value_that_starts_where_its_rule_is_ignored_is_for_review(configured, run) -> None:  # type: ignore[no-untyped-def]
    train = "import torch.distributed as dist\nfrom settings import BACKEND\n\ndist.init_process_group(BACKEND)\n"
    spared = 'per-file-ignores = { "settings.py" = ["unsupported-backend"] }'
    configured('platform = "rocm"', spared, settings='BACKEND = "nccl"\n', train=train)
    done = run("diff", ".")
    assert done.out == ""
    assert "settings.py:1, a file where per-file-ignores in pyproject.toml lists unsupported-backend" in done.err


def test_notes_of_the_platform_can_be_ignored(configured, run) -> None:  # type: ignore[no-untyped-def]
    train = TRAIN + "dist.send(None, 1)\n"
    configured('platform = "rocm"', train=train)
    assert json.loads(run("check", ".", "--format", "json").out)["advisories"]
    configured('platform = "rocm"', 'per-file-ignores = { "train.py" = ["gloo-point-to-point"] }')
    assert not json.loads(run("check", ".", "--format", "json").out)["advisories"]


@pytest.mark.parametrize("note", NOTES)
def test_notes_of_the_engine_are_known(configured, run, note: str) -> None:  # type: ignore[no-untyped-def]
    configured('platform = "rocm"', f'per-file-ignores = {{ "train.py" = ["{note}"] }}', train=TRAIN)
    assert run("check", ".").code == 1


def test_a_folder_of_rules_may_be_named_twice(configured, run) -> None:  # type: ignore[no-untyped-def]
    root = configured('rule-folders = ["mine"]', train=TRAIN)
    (root / "mine/platforms").mkdir(parents=True)
    (root / "mine/platforms/pod.toml").write_text(
        'id = "pod"\ntitle = "pod"\nwhy = "x"\nsource = ["x"]\nrules = ["unsupported-backend"]\nfacts = {}\n'
        'backend = { wanted = "gloo", works = ["gloo"], default = "nccl" }\n'
    )
    assert run("check", ".", "--platform", "pod").code == 1
    assert run("check", ".", "--platform", "pod", "--rules", "mine").code == 1
    assert "pod" in run("platforms").out
    assert "x" in run("check", ".", "--platform", "pod", "--lang", "zh").out


def test_rules_are_asked_for_beside_those_of_the_command_line(configured, run) -> None:  # type: ignore[no-untyped-def]
    configured('rules = ["nccl-debug"]', train=TRAIN)
    done = run("check", ".", "--rule", "nccl-shm", "--format", "json")
    assert {edit["rule"] for edit in json.loads(done.out)["edits"]} == {"nccl-debug", "nccl-shm"}
    assert json.loads(done.out)["platform"] == "cuda"  # which both rules assume


def test_diagnose_heeds_it(configured, run) -> None:  # type: ignore[no-untyped-def]
    root = configured('exclude = ["train.py"]', train=TRAIN)
    (root / "train.log").write_text(
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    dist.init_process_group("nccl")\n'
        "RuntimeError: Distributed package doesn't have NCCL built in\n"
    )
    assert "train.py:3" not in run("diagnose", "train.log").out.split("What to do")[1]
    (root / "pyproject.toml").write_text("")
    assert "train.py:3" in run("diagnose", "train.log").out.split("What to do")[1]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["platfrom = 'rocm'"], ["pyproject.toml:5", "platfrom", "did you mean platform?", "per-file-ignores"]),
        (["# platfrom", "", "platfrom = 'rocm'"], ["pyproject.toml:7"]),
        (["platform = 'rcm'"], ["pyproject.toml:5", "did you mean rocm?"]),
        (["rules = [", "  'no-libuv',", "  'no-libvu',", "]"], ["pyproject.toml:7", "no-libvu", "did you mean no-libuv?"]),
        (["rules = ['src']"], ["pyproject.toml:5", 'rule-folders = ["src"]']),
        (["include = 'src'"], ["pyproject.toml:5", 'include = ["PATTERN", ...]']),
        (["exclude = ['./src']"], ["pyproject.toml:5", "./src", "without ./"]),
        (["exclude = ['src', '#x']"], ["pyproject.toml:5", "#x"]),
        (["exclude = ['']"], ["pyproject.toml:5", "exclude"]),
        (["exclude = ['!']"], ["pyproject.toml:5", "exclude"]),
        (["per-file-ignores = { 'a/**' = 'no-libuv' }"], ["pyproject.toml:5", '{ "PATTERN" = ["ID", ...] }']),
        (
            ["[tool.ddp-codemod.per-file-ignores]", "'a' = ['no-libuv']", "'b' = ['no-libuf']"],
            ["pyproject.toml:7", '"b"', "did you mean no-libuv?"],
        ),
        (["per-file-ignores = { 'a' = ['torch.init_procss_group'] }"], ["did you mean torch.init_process_group?"]),
        (["rule-folders = ['nowhere']"], ["nowhere"]),
    ],
)  # fmt: skip
def test_a_mistake_names_file_line_key_and_the_nearest_word(configured, run, lines: list[str], said: list[str]) -> None:  # type: ignore[no-untyped-def]
    root = configured(*lines, src__train=TRAIN)
    for command in (("check", "."), ("check", ".", "--platform", "rocm")):
        done = run(*command)
        assert (done.code, done.out) == (2, "")
        assert [words for words in said if words not in done.err] == []
    assert (root / "src/train.py").read_text() == TRAIN


@pytest.mark.parametrize(
    ("fixture", "platform"),
    [
        *(("tts-spawn-before-libuv", ident) for ident in load().platforms),
        ("vocoder-accelerate", "mixed-gpu"),
        ("speaker-torchrun", "cuda"),
    ],
)
def test_no_kind_of_edit_gets_round_it(tmp_path: Path, fixture: str, platform: str) -> None:
    root = tmp_path / "project"
    shutil.copytree(FIXTURES / fixture / "project", root)
    asked = [ident for ident, fix in load().fixes.items() if fix.platform in (None, platform)]
    said: dict[str, Any] = {"rules": asked, "unsafe": True, "env_in": "shell" if (root / "run.sh").exists() else "python"}
    whole = plan(root, platform, **said)
    for name in {edit.path for edit in whole.edits}:
        (root / "pyproject.toml").write_text(f'[tool.ddp-codemod]\nexclude = ["/{name}"]\n')
        left = plan(root, platform, **said)
        assert name not in {part.path for part in (*left.edits, *left.advisories)}
        assert name not in left.files
    for rule in {edit.rule for edit in whole.edits}:
        (root / "pyproject.toml").write_text(f'[tool.ddp-codemod]\nper-file-ignores = {{ "*" = ["{rule}"] }}\n')
        left = plan(root, platform, **said)
        assert rule not in {part.rule for part in (*left.edits, *left.sites)}


def test_a_table_that_is_none(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "pyproject.toml").write_text('[tool]\nddp-codemod = "rocm"\n')
    done = run("check", ".", "--platform", "rocm")
    assert done.code == 2
    assert "pyproject.toml:2" in done.err
