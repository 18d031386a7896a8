"""What stops a command: a sentence with what to type next, an exit code, nothing written, and never a traceback."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
COMMANDS = ["apply", "diff", "check", "scan"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_is_not_there(project, run, command: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run(command, "trian.py", "--platform", "rocm")
    assert (done.code, done.out) == (2, "")
    assert "trian.py" in done.err
    assert "did you mean train.py?" in done.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", ["-", "nowhere-at-all"])
def test_the_example_in_a_failure_writes_nothing(project, run, command: str, path: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run(command, path, "--platform", "rocm")
    assert (done.code, done.out) == (2, "")
    assert "ddp-codemod check ." in done.err
    assert "apply ." not in done.err
    assert ("git apply" in done.err and "--diff-base REF" in done.err) == (path == "-")


def test_a_file_that_is_called_so_is_read(project, run) -> None:  # type: ignore[no-untyped-def]
    (project(train=TRAIN) / "-").mkdir()
    assert run("check", "-", "--platform", "rocm").code == 0


def test_a_link_that_leads_nowhere_is_not_suggested_in_its_own_place(project, run) -> None:  # type: ignore[no-untyped-def]
    (project(train=TRAIN) / "dang.py").symlink_to("gone.py")
    done = run("check", "dang.py", "--platform", "rocm")
    assert done.code == 2
    assert "dang.py" in done.err
    assert "did you mean dang.py" not in done.err


def test_a_path_that_is_like_nothing(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("apply", "/nowhere/at/all", "--platform", "rocm")
    assert done.code == 2
    assert "ddp-codemod check ." in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_path(run, command: str) -> None:  # type: ignore[no-untyped-def]
    done = run(command)
    assert done.code == 2
    assert "PATH" in done.err
    assert f"ddp-codemod {command} --help" in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_rule_file_with_an_unknown_key(project, run, command: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "mine/platforms").mkdir(parents=True)
    (root / "mine/platforms/p.toml").write_text('id = "p"\ntitle = "p"\ntitel_zh = "p"\n')
    done = run(command, ".", "--platform", "rocm", "--rules", "mine")
    assert (done.code, done.out) == (2, "")
    assert f"p.toml{':3'}" in done.err
    assert "titel_zh" in done.err
    assert "title_zh" in done.err
    assert (root / "train.py").read_text() == TRAIN


def test_rules_of_the_project_are_read(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "rocm"\nrule-folders = ["nowhere"]\n')
    done = run("check", ".")
    assert done.code == 2
    assert "nowhere" in done.err
    (root / "nowhere").mkdir()
    assert run("check", ".").code == 1


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ('platfrom = "rocm"', "platfrom"),
        ("platform = 1", "platform"),
        ('rules = "mine"', "rules"),
        ('platform = "rocm', "TOML"),
        ('platform = "rcm"', "rocm"),
    ],
)
def test_a_bad_configuration(project, run, table: str, word: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "pyproject.toml").write_text(f"[tool.ddp-codemod]\n{table}\n")
    done = run("check", ".")
    assert done.code == 2
    assert "pyproject.toml" in done.err
    assert word in done.err


def test_somebody_else_s_broken_configuration_is_no_concern(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (root / "pyproject.toml").write_bytes(b"[tool.other\n\xff")
    assert run("check", ".", "--platform", "rocm").code == 1


def test_unknown_words_name_the_nearest(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    for words, near in [
        (("check", ".", "--platform", "rcm"), "rocm"),
        (("check", ".", "--platform", "rocm", "--rule", "no-libvu"), "no-libuv"),
        (("rules", "show", "no-libvu"), "no-libuv"),
        (("chek", "."), "check"),
        (("check", ".", "--platfrom", "rocm"), "--platform"),
    ]:
        done = run(*words)
        assert (done.code, done.out) == (2, ""), words
        assert near in done.err
        zh = run(*words, "--lang", "zh")
        assert near in zh.err
        assert "错误" in zh.err


def test_a_platform_given_as_a_rule(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("check", ".", "--rule", "rocm")
    assert done.code == 2
    assert "--platform rocm" in done.err


@pytest.mark.parametrize("place", ["train.py", "train.py:", "train.py:x", ":3", "train.py:-1", "nowhere.py:1", "train.py:²"])
def test_explain_wants_a_line(project, run, place: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("explain", place, "--platform", "rocm")
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_paths_of_two_projects(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/pyproject.toml").touch()
    done = run("diff", ".", str(tmp_path / "other"), "--platform", "rocm")  # one patch is about one project
    assert done.code == 2
    assert "once for each" in done.err
    assert run("check", ".", str(tmp_path / "other"), "--platform", "rocm").code == 1


def test_the_machine_is_not_asked_where_nobody_is(project, run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    monkeypatch.setenv("PRE_COMMIT", "1")
    done = run("check", ".")
    assert (done.code, done.out) == (2, "")
    assert "  ddp-codemod check . --platform rocm " in done.err
    dry = run("apply", ".", "--dry-run", "--rule", "no-libuv", "--rule", "nccl-shm", "-v")
    assert "  ddp-codemod apply . --dry-run --rule no-libuv --rule nccl-shm -v --platform windows " in dry.err
    assert "  ddp-codemod explain train.py:3 --platform rocm " in run("explain", "train.py:3").err


@pytest.mark.parametrize("error", [KeyboardInterrupt])
def test_an_interrupt(project, run, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:  # type: ignore[no-untyped-def]
    import ddp_codemod.run.survey

    def interrupted(_: object) -> None:
        raise error

    project(train=TRAIN)
    monkeypatch.setattr(ddp_codemod.run.survey, "survey", interrupted)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 130
    assert "Traceback" not in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_goes_away(project) -> None:  # type: ignore[no-untyped-def]
    project(**{f"train{number}": TRAIN for number in range(200)})
    command = [sys.executable, "-m", "ddp_codemod", "apply", ".", "--platform", "rocm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pipesize=4096) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read()
    assert child.returncode == 141
    assert b"Traceback" not in err
    assert b"Exception" not in err
    assert "gloo" in Path("train0.py").read_text()


def test_an_error_of_the_system(project, run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    import ddp_codemod.run.survey

    def refused(_: object) -> None:
        raise PermissionError(13, "Permission denied", "x.py")

    project(train=TRAIN)
    monkeypatch.setattr(ddp_codemod.run.survey, "survey", refused)
    done = run("scan", ".", "--platform", "rocm")
    assert done.code == 2
    assert "x.py" in done.err


def test_codes_of_check(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    assert run("check", ".", "--platform", "rocm").code == 1
    assert run("check", ".", "--platform", "cuda").code == 0
    assert (root / "train.py").read_text() == TRAIN


@pytest.mark.parametrize("words", [("scan", "."), ("diff", "."), ("explain", "train.py:3"), ("apply", ".", "--dry-run")])
def test_edits_alone_are_no_failure_elsewhere(project, run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    assert run(*words, "--platform", "rocm").code == 0


@pytest.mark.parametrize("words", [("rules", "list"), ("rules", "show", "rocm"), ("platforms",), ("--version",), ("--help",)])
def test_telling_is_no_failure(run, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    done = run(*words)
    assert done.code == 0
    assert "error" not in done.err
    assert done.out.strip()


def test_streams_of_another_kind_do_not_disturb(project, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    buffer = io.StringIO()
    monkeypatch.setattr(sys, "stdout", buffer)
    assert main(["check", ".", "--platform", "rocm"]) == 1
    assert "train.py:3" in buffer.getvalue()


def test_the_exit_codes_are_in_the_help(run) -> None:  # type: ignore[no-untyped-def]
    for lang, words in {"en": ("0 success", "1 something", "2 the command"), "zh": ("0 完成", "1 还有", "2 任务")}.items():
        said = run("--lang", lang, "--help").out
        assert all(word in said for word in words)


def test_an_older_click_is_enough(process) -> None:  # type: ignore[no-untyped-def]
    """The oldest release that pyproject.toml admits has neither of these."""
    code = (
        "import sys, click\n"
        "for name in ('NoArgsIsHelpError', 'NoSuchCommand'):\n"
        "    vars(click.exceptions).pop(name, None)\n"
        "from ddp_codemod.cli import main\n"
        "print(main(['check', '--help']), main(['chekc']), main([]), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "0 2 2"
    assert "no such command: chekc; did you mean check?" in done.stderr
