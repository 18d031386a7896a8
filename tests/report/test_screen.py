"""What ``apply`` and ``diff`` say before a patch: one screen, in the order in which it matters, with counts that add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.cli import main
from ddp_codemod.report.screen import SCREEN
from ddp_codemod.report.table import count_cells

HEAD = "import torch.distributed as dist\n"
WRONG = f'{HEAD}\ndist.init_process_group("nccl")\n'
UNKNOWN = f"import sys\n{HEAD}\ndist.init_process_group(backend='ours')\n"
UNSAFE = """from accelerate import Accelerator


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    for batch in loader:
        model(batch).sum()
"""
BROKEN = "def broken(:\n    init_process_group('nccl')\n"
DEVICES = f"""import torch
{HEAD}
torch.cuda.set_device(0)
dist.init_process_group("nccl")
model = torch.nn.Linear(1, 1).cuda()
model(torch.ones(1).to("cuda")).sum().backward()
"""
FSDP = "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\nmodel = FSDP(model)\n"
DEEP = "a_package_with_a_long_name/and_a_long_name_below_it/and_more_of_that_kind_below/"


def before_patch(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines above the first diff, as a terminal of 100 columns shows them."""
    main(words)
    caught = capsys.readouterr()
    text = caught.err + ("" if words[0] == "diff" else caught.out)  # the talk of apply is its result
    lines = text.split("\ndiff --git")[0].splitlines()
    while lines and not lines[-1]:
        lines.pop()
    return [line[at : at + 100] for line in lines for at in range(0, max(count_cells(line), 1), 100)]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()

    def files(count: int = 1, folder: str = "", **texts: str) -> None:
        for name, text in texts.items():
            for number in range(count):
                path = tmp_path / folder / f"{name}{number}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    return files


def everything(write, count: int, folder: str = "") -> None:  # type: ignore[no-untyped-def]
    write(count, folder, wrong=WRONG, unknown=UNKNOWN, unsafe=UNSAFE, broken=BROKEN, devices=DEVICES, wraps=WRONG + FSDP)


@pytest.mark.parametrize("folder", ["", DEEP])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("platform", ["rocm", "windows", "ascend", "cpu", "single-gpu"])
@pytest.mark.parametrize("command", ["diff", "apply"])
def test_it_is_one_screen_however_much_there_is(
    write,  # type: ignore[no-untyped-def]
    capsys: pytest.CaptureFixture[str],
    command: str,
    platform: str,
    lang: str,
    folder: str,
) -> None:
    everything(write, 12, folder)
    dry = ["--dry-run"] if command == "apply" else []
    lines = before_patch(capsys, command, ".", "--platform", platform, "--lang", lang, *dry)
    assert 15 < len(lines) < SCREEN  # an empty one stands below


def test_what_matters_stands_above_what_can_wait(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    everything(write, 12)
    lines = before_patch(capsys, "diff", ".", "--platform", "ascend")
    order = [
        "Platform ascend",
        "This port is incomplete",
        "Not finished",
        "36 safe fixes",
        "Needs review",
        "To finish",
        "Not shown:",
    ]
    assert not any(line.startswith("Apply:") for line in lines)  # half a port does not run: what is to finish has the commands
    at = [next(number for number, line in enumerate(lines) if line.startswith(head)) for head in order]
    assert at == sorted(at)


def test_where_there_is_room_all_is_said(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    write(wrong=WRONG)
    text = "\n".join(before_patch(capsys, "diff", ".", "--platform", "rocm"))
    assert "wrong0.py:3: unsupported-backend: nccl does not work on rocm: on ROCm, nccl means RCCL" in text
    assert '"nccl" → "gloo"' in text
    assert "Not shown" not in text
    assert "… " not in text


def test_three_places_are_named_and_the_rest_is_counted(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    write(9, wrong=WRONG)
    lines = before_patch(capsys, "diff", ".", "--platform", "rocm")
    named = [line for line in lines if re.match(r" +wrong\d\.py:3", line)]
    assert len(named) == 3
    assert "    and 6 more" in lines
    assert lines[-1] == "Not shown: 6 lines. All of them: ddp-codemod check . --platform rocm -v"


def test_the_command_names_all_that_is_left_out(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    write(9, wrong=WRONG, unknown=UNKNOWN)
    last = before_patch(capsys, "diff", ".", "--platform", "rocm")[-1]
    assert last.startswith("Not shown: 12 lines. All of them: ")
    main(last.partition("ddp-codemod ")[2].split())
    caught = capsys.readouterr()
    for number in range(9):
        assert f"wrong{number}.py:3" in caught.out
        assert f"unknown{number}.py:4" in caught.err


def test_where_only_written_changes_are_cut_no_check_is_named_that_has_none(
    write,  # type: ignore[no-untyped-def]
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = "".join(
        f"class C{n}:\n    def __init__(self, backend='nccl'):\n        dist.new_group(backend=backend)\n\n\n" for n in range(3)
    )
    write(30, wrong=WRONG, several="import torch.distributed as dist\n\n\n" + many, wraps=WRONG + FSDP, unsafe=UNSAFE)
    lines = before_patch(capsys, "apply", ".", "--platform", "rocm", "--unsafe")
    assert not [line for line in lines if line.startswith("Not shown") or "ddp-codemod check" in line]
    explained = next(line for line in lines if "ddp-codemod explain" in line)
    main(explained.partition("ddp-codemod ")[2].split())
    assert "apply changed " in capsys.readouterr().out


def test_what_needs_review_is_counted_by_kind_with_a_place(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    everything(write, 40, DEEP)
    other = UNKNOWN.replace("init_process_group", "new_group")
    write(7, "z", other=other)
    lines = before_patch(capsys, "diff", ".", "--platform", "rocm")
    text = " ".join(" ".join(lines).split())
    assert "Needs review (47): torch.init_process_group(backend) (40)" in text
    assert "torch.new_group(backend) (7)" in text
    assert f"ddp-codemod explain {DEEP}unknown0.py:4 " in "".join(lines)


def test_verbose_says_all(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    everything(write, 12)
    text = "\n".join(before_patch(capsys, "diff", ".", "--platform", "rocm", "-v"))
    for name, line in (("wrong", 3), ("unknown", 4), ("unsafe", 5), ("broken", 1)):
        for number in range(12):
            assert re.search(rf"\b{name}{number}\.py(:{line})?\b", text), (name, number)
    assert "Not shown" not in text


def test_the_uses_of_a_device_are_one_list(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """A table with their places: no second list says the same with the reasons."""
    write(2, devices=DEVICES)
    text = "\n".join(before_patch(capsys, "diff", ".", "--platform", "ascend"))
    assert "2  moves to a CUDA device (device-method): devices0.py:6, devices1.py:6" in text
    assert "2  torch.cuda calls (device-module): devices0.py:4, devices1.py:4" in text
    assert "Not applied" not in text
    assert text.count("devices0.py:6") == 1
    assert "Not shown" not in text


def test_a_note_that_stops_the_program_stands_before_what_is_to_be_decided(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    main_ = 'from fairseq_cli.train import cli_main\n\nif __name__ == "__main__":\n    cli_main()\n'
    write(train=main_, unknown=UNKNOWN)
    text = "\n".join(before_patch(capsys, "diff", ".", "--platform", "rocm"))
    assert re.search(r"Left to do by hand: 1 place needs review, 1 note to act on \(\S*train0?\.py:4\)\.", " ".join(text.split()))
    assert 0 < text.index("\nNotes to act on (1):\n") < text.index("\nNeeds review (1):\n")


def test_other_notes_stand_behind(write, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    write(wrong=WRONG, parallel="import torch\n\nmodel = torch.nn.DataParallel(torch.nn.Linear(2, 2))\n", unknown=UNKNOWN)
    text = "\n".join(before_patch(capsys, "diff", ".", "--platform", "rocm"))
    assert text.index("\nNeeds review (1):\n") < text.index("\nNotes (")


def test_lines_said_before_take_their_room(write, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    everything(write, 12)
    main(["apply", ".", "--platform", "windows"])
    capsys.readouterr()
    lines = before_patch(capsys, "diff", ".", "--platform", "rocm")
    assert any(line.startswith("An earlier apply ported this tree to windows") for line in lines)
    assert len(lines) < SCREEN


@pytest.mark.parametrize("command", ["check", "scan"])
def test_the_other_commands_are_as_long_as_they_were(write, capsys: pytest.CaptureFixture[str], command: str) -> None:  # type: ignore[no-untyped-def]
    everything(write, 12)
    main([command, ".", "--platform", "rocm"])
    caught = capsys.readouterr()
    assert (caught.out + caught.err).count("\n") > 2 * SCREEN


def test_a_file_that_was_not_read_is_no_port_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(
        'import torch.distributed as dist\nfrom lib import net\n\ndist.init_process_group("gloo")\n'
    )
    (tmp_path / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib\n')
    (tmp_path / "lib").mkdir()
    main(["diff", str(tmp_path), "--platform", "rocm", "--no-cache"])
    said = capsys.readouterr().err
    assert "1 file not fully read" in said
    assert "No change was found for rocm in the files that could be read." in said
    assert "by hand: ddp-codemod makes" not in said
