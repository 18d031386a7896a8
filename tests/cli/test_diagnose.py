"""``diagnose`` as people call it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from ddp_codemod.report.diagnosis import SCHEMA

NO_NCCL = "RuntimeError: Distributed package doesn't have NCCL built in"
TRAIN = 'import torch.distributed as dist\n\n\ndef main():\n    dist.init_process_group("nccl")\n\n\nmain()\n'
LOG = f"""[rank1]: Traceback (most recent call last):
[rank1]:   File "/somewhere/else/project/train.py", line 5, in main
[rank1]:     dist.init_process_group("nccl")
[rank1]: {NO_NCCL}
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(LOG, encoding="utf-8")
    return path


def test_what_happened_where_and_what_to_type(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", str(log))
    assert done.code == 1
    assert f"{log}:4" in done.out
    assert "rank 1" in done.out
    assert "ddp-codemod apply . --platform cpu" in done.out
    assert "train.py:5:29: torch.init_process_group(backend)  fix" in done.out


def test_chinese(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", str(log), "--lang", "zh")
    assert "此 torch 没有编译 NCCL" in done.out
    assert "ddp-codemod apply . --platform cpu" in done.out


@pytest.mark.parametrize("encoding", ["cp936", "ascii"])
def test_consoles(project, process, log: Path, encoding: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    log.write_text("训练 \U0001f600\n" + LOG.replace("NCCL built in", "NCCL built in \U0001f600"), encoding="utf-8")
    done = process("diagnose", str(log), cwd=root, environ={"PYTHONIOENCODING": encoding, "LANG": "zh_CN"})
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert ("编译" in done.stdout.decode(encoding)) == (encoding == "cp936")


def test_standard_input(project, run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert "nccl-not-built-in" in run("diagnose", "-").out


def test_json_follows_its_schema(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    document = json.loads(run("diagnose", str(log), "--format", "json").out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    (one,) = document["diagnoses"]
    assert (one["id"], one["line"], one["ranks"]) == ("nccl-not-built-in", 4, ["1"])
    assert one["cures"][0]["command"] == "ddp-codemod apply . --platform cpu"
    assert [(site["path"], site["line"]) for site in document["sites"]] == [("train.py", 5)]


def test_json_of_a_log_without_errors(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    (tmp_path / "fine.log").write_text("epoch 1\n")
    done = run("diagnose", str(tmp_path / "fine.log"), "--format", "json")
    jsonschema.validate(json.loads(done.out), json.loads(SCHEMA.read_text("utf-8")))
    assert done.code == 0


def test_apply_goes_on_to_the_patch(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    done = run("diagnose", str(log), "--apply", ".")
    assert done.code == 0
    assert (root / "train.py").read_text() == TRAIN.replace("nccl", "gloo")


def test_apply_writes_nothing_where_no_code_is_to_blame(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    (tmp_path / "port.log").write_text(
        "The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n"
    )
    done = run("diagnose", str(tmp_path / "port.log"), "--apply", ".")
    assert done.code == 1
    assert "nothing applied" in done.err
    assert (root / "train.py").read_text() == TRAIN


def test_only_the_repository_of_the_failing_file_is_read(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    for name, text in {"one/help.py": "x = 1\n", "one/train.py": TRAIN, "two/start.py": TRAIN}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for repository in ("one", "two"):
        (tmp_path / repository / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    frames = {"start": [("two/start.py", 5), ("one/help.py", 1)], "train": [("two/start.py", 5), ("one/train.py", 5)]}
    for name, there in frames.items():
        lines = "".join(f'  File "/elsewhere/{file}", line {line}, in main\n    call()\n' for file, line in there)
        (tmp_path / f"{name}.log").write_text(f"Traceback (most recent call last):\n{lines}{NO_NCCL}\n")
    assert json.loads(run("diagnose", "start.log", "--format", "json").out)["sites"] == []
    (site,) = json.loads(run("diagnose", "train.log", "--format", "json").out)["sites"]
    assert (site["path"], site["line"]) == ("train.py", 5)


def test_a_hang_without_a_log(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", "--hang")
    assert done.code == 1
    assert "ddp-codemod apply . --rule nccl-p2p-off" in done.out
    assert "py-spy" in done.out


def test_an_empty_log_leads_to_the_hang(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    (tmp_path / "empty.log").write_text("")
    done = run("diagnose", str(tmp_path / "empty.log"))
    assert done.code == 0
    assert "ddp-codemod diagnose --hang" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "missing log"),
        (("missing.log",), "no such file"),
        ((".",), "is a folder"),
        (("train.py", "--apply", ".", "--format", "json"), "excludes --format json"),
        (("train.py", "--apply", "nowhere"), "no such file"),
    ],
)
def test_what_cannot_be_done(project, run, words: tuple[str, ...], said: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", *words)
    assert done.code == 2
    assert said in done.err


def test_a_file_that_the_project_has_twice_is_not_guessed(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(a__train=TRAIN, b__train=TRAIN)
    assert "train.py:5:" not in run("diagnose", str(log)).out


def test_a_signature_of_one_s_own(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    folder = tmp_path / "own" / "diagnostics"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(
        '[[signature]]\nid = "mine"\npatterns = ["flux compensator"]\nconfidence = "sure"\ntitle = "t"\ntitle_zh = "t"\n'
        'cause = "c"\ncause_zh = "c"\nsource = ["https://example.org/"]\nhit = []\nmiss = []\n'
        '[[signature.cure]]\ntext = "turn it on"\ntext_zh = "turn it on"\n'
    )
    (tmp_path / "own.log").write_text("no flux compensator\n")
    assert "turn it on" in run("diagnose", str(tmp_path / "own.log"), "--rules", str(tmp_path / "own")).out
    folder = tmp_path / "bad" / "diagnostics"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('[[signature]]\nid = "mine"\npatterns = ["(a+)+bcde"]\n')
    done = run("diagnose", str(tmp_path / "own.log"), "--rules", str(tmp_path / "bad"))
    assert done.code == 2
    assert "mine.toml" in done.err


@pytest.mark.parametrize(
    ("log", "code", "line"),
    [
        ("epoch 1: loss 0.3\n", 0, ""),
        ("started\n" + NO_NCCL + "\n", 1, ":2"),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: 3\nbye\n', 3, ":3"),
        ("step 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", 3, ":2"),
        ("E0501 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0\n", 3, ":1"),
    ],
    ids=["none", "known", "unknown", "outside", "handed on"],
)
def test_exit_codes_that_scripts_can_tell_apart(project, run, tmp_path: Path, log: str, code: int, line: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    path = tmp_path / "some.log"
    path.write_text(log)
    done = run("diagnose", str(path))
    assert done.code == code
    assert ("Unknown error" in done.out) == (code == 3 and "OutOfMemoryError" not in log)
    assert f"{path}{line}" in done.out or code == 0
    assert "The errors below came after it" not in done.out
    assert "ddp-codemod apply" not in done.out or code == 1
    assert json.loads(run("diagnose", str(path), "--format", "json").out)["lines"] == log.count("\n")


def test_what_is_listed_below_an_unknown_error_is_there(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    path = tmp_path / "some.log"
    path.write_text("KeyError: 'speaker'\nRuntimeError: Wait timeout\n")
    done = run("diagnose", str(path))
    assert done.code == 3
    below = done.out.partition("The errors below came after it")[2]
    assert f"{path}:2" in below


def test_an_error_that_is_known_is_not_headed_as_unknown(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log = tmp_path / "hip.log"
    log.write_text("RuntimeError: HIP error: invalid device function\n")
    done = run("diagnose", str(log))
    assert done.code == 3
    assert 'HIP "invalid device function"  [hip-wrong-architecture]' in done.out
    assert "Unknown error" not in done.out
    assert "Not a distributed training error" in done.out
    entry = json.loads(run("diagnose", str(log), "--format", "json").out)["diagnoses"][0]
    assert (entry["id"], entry["title"]) == (None, 'HIP "invalid device function"')


FOLDED = """Traceback (most recent call last):
  File "train.py", line 5, in main
    dist.init_process_group("nccl")
  File "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 9, in init_process_group
    raise RuntimeError("Distributed package doesn't have NCCL built in")
RuntimeError: Distributed package doesn't have NCCL built in
HIP error on gfx1030"""


@pytest.mark.parametrize("start", ["Traceback", "raise"])
def test_a_paste_whose_line_ends_became_spaces(project, run, tmp_path: Path, start: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log = tmp_path / "chat.log"
    log.write_text(" ".join(FOLDED[FOLDED.index(start) :].split()))
    done = json.loads(run("diagnose", str(log), "--format", "json").out)
    assert done["lines"] == 1
    assert [(one["id"], one["line"]) for one in done["diagnoses"]] == [("nccl-not-built-in", 1)]
    assert done["diagnoses"][0]["frames"] == ([{"path": "train.py", "line": 5}] if start == "Traceback" else [])
    assert "--platform rocm" in done["diagnoses"][0]["cures"][0]["command"]


def test_a_log_of_one_line_that_is_no_paste_stays_as_it_is(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log = tmp_path / "short.log"
    log.write_text("epoch 1 File train.py Error rate: 0.3")
    assert run("diagnose", str(log)).code == 0


CUDA = "AssertionError: Torch not compiled with CUDA enabled\n"


@pytest.mark.parametrize(
    ("before", "only"),
    [
        ("Warning: torch_npu/__init__.py:12: The backend of torch.distributed is hccl\n", "ascend"),
        ("Warning: /env/lib/python3.10/site-packages/torch_mlu/__init__.py:3\n", "mlu"),
        ("", ""),
        ("using mlu_utils.py and an npu_count of 0\n", ""),
    ],
)
def test_a_torch_without_cuda_may_be_for_another_accelerator(project, run, tmp_path: Path, before: str, only: str) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    (tmp_path / "log").write_text(before + CUDA, encoding="utf-8")
    told = {lang: run("diagnose", str(tmp_path / "log"), "--lang", lang).out for lang in ("en", "zh")}
    (one, *_) = json.loads(run("diagnose", str(tmp_path / "log"), "--format", "json").out)["diagnoses"]
    commands = [cure["command"] for cure in one["cures"]]
    assert one["id"] == "torch-without-cuda"
    if only:
        assert commands == [f"ddp-codemod apply . --platform {only} --unsafe"]
        assert all(commands[0] in out and "doctor" not in out for out in told.values())
    else:  # nothing says which machine it was: no command that diagnose --apply would run
        assert commands == [None] * 5
        assert all(word in out for word in ("NPU", "NVIDIA", "AMD", "ddp-codemod doctor") for out in told.values())


def test_no_nccl_on_an_npu_is_no_reason_for_gloo(project, run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    (tmp_path / "log").write_text(f"torch_npu 2.6.0\n{NO_NCCL}\n", encoding="utf-8")
    out = run("diagnose", str(tmp_path / "log")).out
    assert "--platform ascend --unsafe" in out
    assert "--platform cpu" not in out


@pytest.mark.parametrize(
    ("platform", "commands"),
    [
        ("windows", ["--platform windows"]),
        ("cpu", ["--platform cpu"]),
        ("rocm", ["--platform rocm"]),
        ("ascend", ["--platform ascend --unsafe"]),
    ],
)
def test_the_users_platform_decides_which_fixes_are_listed(project, run, log: Path, platform: str, commands: list[str]) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", str(log), "--platform", platform)
    assert [line.split("apply . ")[1].strip() for line in done.out.splitlines() if "apply . " in line] == commands
    assert done.code == 1


def test_a_project_that_is_ported_is_not_to_be_ported_again(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN)
    words = ("diagnose", str(log), "--platform", "rocm")
    assert "ddp-codemod apply . --platform rocm" in run(*words).out
    run("apply", ".", "--platform", "rocm")
    done = run(*words)
    assert "apply ." not in done.out
    assert "is ported to rocm already" in done.out
    assert "ddp-codemod check . --platform rocm" in done.out
    assert "ddp-codemod apply . --platform cpu" in run("diagnose", str(log), "--platform", "cpu").out  # to another one, it is not
    (root / "other.py").write_text(TRAIN, "utf-8")
    assert "ddp-codemod apply . --platform rocm" in run(*words).out  # something is left


def test_without_a_platform_every_fix_is_listed(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", str(log))
    assert {"--platform cpu", "--platform rocm-windows"} <= {
        line.split("apply . ")[1].strip() for line in done.out.splitlines() if "apply . " in line
    }


def test_an_unknown_platform_is_named(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", str(log), "--platform", "asend")
    assert done.code == 2
    assert "did you mean ascend?" in done.err


def test_the_text_of_an_error(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    done = run("diagnose", NO_NCCL)
    assert done.code == 1
    assert "[nccl-not-built-in]" in done.out
    assert "the text passed:1" in done.out


def test_how_to_pass_a_log_that_is_not_there(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    assert "To paste a whole log: ddp-codemod diagnose -" in run("diagnose", "missing.log").err


OTHER_COPY = "This project does not request nccl on windows: train.py:6 resolves to gloo."
WINDOWS_LOG = LOG.replace("line 5", "line 6").replace("/somewhere/else/project/", "C:\\\\project\\\\")


def test_a_project_that_does_not_ask_for_the_backend_of_the_log(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    code = TRAIN.replace('("nccl")', '("gloo" if os.name == "nt" else "nccl")')
    project(train="import os\n" + code)
    log.write_text(WINDOWS_LOG, encoding="utf-8")
    assert OTHER_COPY in run("diagnose", str(log)).out
    project(train="import os\n" + TRAIN)
    assert "does not request" not in run("diagnose", str(log)).out


NCCL_LOG = "RuntimeError: NCCL error in: x, internal error, NCCL version 2.18\nncclInternalError: Internal check failed.\n"


def test_a_log_that_the_platform_cannot_have_written(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log.write_text(NCCL_LOG, encoding="utf-8")
    said = "rocm-windows has no nccl, and nccl wrote this log"
    assert said in run("diagnose", str(log), "--platform", "rocm-windows").out
    assert "wrote this log" not in run("diagnose", str(log), "--platform", "rocm").out
    log.write_text(LOG, encoding="utf-8")
    assert "wrote this log" not in run("diagnose", str(log), "--platform", "rocm-windows").out


def test_steps_for_a_platform_keep_their_order(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log.write_text(NCCL_LOG, encoding="utf-8")
    said = run("diagnose", str(log), "--platform", "rocm").out
    assert said.index("1. run once") < said.index("2. if that does not help, use gloo") < said.index("--platform rocm")


def test_a_step_takes_the_unsafe_fixes_of_the_project(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    step = "ddp-codemod apply . --platform rocm"
    assert f"{step}\n" in run("diagnose", str(log), "--platform", "rocm").out
    project(train=TRAIN.replace("def main", "def test_nccl_worker").replace("main()", "test_nccl_worker()"))
    assert f"{step} --unsafe\n" in run("diagnose", str(log), "--platform", "rocm").out


def test_an_amd_log_of_windows_has_the_step_for_it(project, run, log: Path) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN)
    log.write_text("ROCm 6.4\n" + WINDOWS_LOG, encoding="utf-8")
    said = run("diagnose", str(log)).out
    assert "with NVIDIA GPUs or none, use gloo everywhere:" in said
    assert "--platform rocm-windows" in said
