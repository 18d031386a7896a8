"""What the command says where it cannot begin; what it does is shown by test_proof.py."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from ddp_codemod.cli import main
from ddp_codemod.fleet import cluster
from ddp_codemod.fleet.run import FEW

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fleet needs process groups")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    return main(["fleet", *words, "--lang", "en"])


def test_every_wrong_line_is_named_with_what_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.txt").write_text("https://e.org/a\n\next::touch x\n{\ngone\n")
    assert run("list.txt", "--platform", "rocm", "--out", "out") == 2
    said = capsys.readouterr().err
    assert "list.txt: 2 invalid lines; nothing started" in said
    assert "list.txt:3: ext::touch x is refused" in said
    assert "list.txt:4: invalid JSON (" in said
    assert not (tmp_path / "out").exists()


def test_standard_input_is_named_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{\n")))
    assert run("-", "--platform", "rocm", "--out", "out") == 2
    assert "-:1: invalid JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the list is empty"),
        (b"# only this\n", "the list is empty"),
        (b"a\n\xff\n", "list.txt:2: not UTF-8"),
    ],
)
def test_a_list_without_anything_in_it_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, said: str
) -> None:
    (tmp_path / "list.txt").write_bytes(data)
    assert run("list.txt", "--platform", "rocm", "--out", "out") == 2
    assert said in capsys.readouterr().err


def test_a_missing_list_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("gone.txt", "--platform", "rocm", "--out", "out") == 2
    assert "gone.txt: No such file" in capsys.readouterr().err


def test_a_folder_with_other_things_in_it_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.txt").write_text("https://e.org/a\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    assert run("list.txt", "--platform", "rocm", "--out", "out") == 2
    assert "out holds other files" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--platform", "rocn"), "rocn"),
        (("--platform", "rocm", "--rule", "nccl-debugg"), "nccl-debug"),
        (("--platform", "rocm", "--torch-version", "newest"), "--torch-version: newest is not a version"),
        (("--platform", "rocm", "--style", "portabel"), "portable"),
        (("--platform", "rocm", "--memory-limit", "much"), "--memory-limit: much is not a size"),
        (("--platform", "rocm", "--memory-limit", "10M"), "the engine itself needs"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    (tmp_path / "list.txt").write_text("https://e.org/a\n")
    assert run("list.txt", "--out", "out", *words) == 2
    assert said in capsys.readouterr().err


def test_without_dask_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.txt").write_text("".join(f"{tmp_path / str(number)}\n" for number in range(FEW + 1)))
    for number in range(FEW + 1):
        (tmp_path / str(number)).mkdir()
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("list.txt", "--platform", "rocm", "--out", "out") == 2
    assert 'pip install "ddp-codemod[fleet]"' in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.txt").write_text("https://e.org/a\n")
    monkeypatch.setattr(cluster, "_WAIT", "200ms")
    assert run("list.txt", "--platform", "rocm", "--out", "out", "--scheduler", "tcp://127.0.0.1:9") == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_two_runs_do_not_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "list.txt").write_text("https://e.org/a\n")
    code = "import sys\nfrom pathlib import Path\nfrom ddp_codemod.write.lock import exclusive_lock\nwith exclusive_lock(Path('out').absolute()):\n    print()\n    sys.stdout.flush()\n    sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert run("list.txt", "--platform", "rocm", "--out", "out") == 2
        assert f"process {other.pid}" in capsys.readouterr().err
        other.communicate()
