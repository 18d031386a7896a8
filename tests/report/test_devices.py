"""The first screen where a project uses a device that the platform lacks: what is done, what is left, what to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

PROGRAM = """import torch
import torch.distributed as dist


def main(rank, device="cuda"):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = torch.nn.Linear(1, 1).cuda()
    batch = torch.ones(1).cuda()
    torch.save(model(batch), "a", map_location="cuda")
    print(batch.is_cuda, batch.device.type == "cuda", torch.device("cuda"), batch.to("cuda"))


main(0)
"""
LINES = """import torch
import torch.distributed as dist

dist.init_process_group("nccl")
model = torch.nn.Linear(
    in_features=1,
    out_features=1,
).cuda()
"""
SCREEN = 25


def first_screen(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(PROGRAM, "utf-8")
    main(["check", str(folder), *words])
    return capsys.readouterr().err.splitlines()[:SCREEN]


def test_it_says_what_is_done_what_is_left_and_both_ways_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    screen = first_screen(tmp_path, capsys, "--platform", "ascend")
    text = "\n".join(screen)
    assert "1 safe fix to make in 1 file" in text  # the backend; the import that makes it known is a part of that
    assert "Not finished: 9 unsafe fixes that move cuda to npu." in text
    assert "Uses of cuda in this project's programs: 9 unsafe fixes; the device on ascend is npu. Not fixed:" in text
    assert "    2  moves to a CUDA device (device-method)" in screen
    at = screen.index("To finish:")
    assert screen[at + 1].startswith("  Move cuda to npu in one of two ways; both keep the changes made so far.")
    assert screen[at + 2].startswith("   a. import the vendor's module in 1 entry point: it maps CUDA to npu at run time")
    assert screen[at + 3].endswith("--rule transfer-to-npu --unsafe")
    assert screen[at + 4].startswith("   b. rewrite each use (9 unsafe fixes): the code names its device;")
    assert screen[at + 5].endswith("--platform ascend --unsafe")


def test_after_apply_it_says_what_is_fixed_and_lists_only_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("flash-attn\n", "utf-8")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    main(["apply", str(tmp_path), "--platform", "ascend", "--unsafe"])
    text = capsys.readouterr().out
    assert "Uses of cuda in this project's programs: 9 fixed, 1 note; the device on ascend is npu. Not fixed:\n" in text
    assert "    1  CUDA-only packages in requirements (device-requirement)\n" in text
    assert "(device-method)" not in text
    assert "2 Python files read" not in text
    assert "1 Python file read, 1 call site checked.\n" in text  # the uses of the device are no call sites


def test_after_apply_nothing_is_left_that_it_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    main(["apply", str(tmp_path), "--platform", "ascend", "--unsafe"])
    text = capsys.readouterr().out
    assert "Uses of cuda in this project's programs: 9 fixed; the device on ascend is npu\n" in text


def test_a_program_of_one_process_has_the_same_two_ways_and_nothing_that_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text("import torch\n\ntorch.ones(1, requires_grad=True).cuda().sum().backward()\n", "utf-8")
    assert main(["check", str(tmp_path), "--platform", "ascend"]) == 0
    screen = capsys.readouterr().err.splitlines()
    assert "No safe fix for ascend." in screen
    assert "Not finished: 1 unsafe fix that moves cuda to npu." in screen
    at = screen.index("To finish:")
    assert screen[at + 1].startswith("  Move cuda to npu in one of two ways. Both are unsafe")
    assert screen[at + 3].endswith("--rule transfer-to-npu --unsafe")


@pytest.mark.parametrize(
    ("platform", "vendor"),
    [("ascend", "npu"), ("mlu", "mlu"), ("musa", "musa"), ("gcu", "gcu"), ("sdaa", "sdaa"), ("hpu", "hpu")],
)
def test_a_type_in_a_text_is_left_by_the_vendors_way_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], platform: str, vendor: str
) -> None:
    (tmp_path / "pyproject.toml").touch()
    text = "import torch\n\ntorch.set_default_tensor_type('torch.cuda.FloatTensor')\ntorch.ones(1).backward()\n"
    (tmp_path / "train.py").write_text(text, "utf-8")
    main(["check", str(tmp_path), "--platform", platform, "--rule", f"transfer-to-{vendor}", "--unsafe"])
    said = capsys.readouterr().err
    assert "Left to do by hand: 1 place needs review." in said
    assert "train.py:3: device-tensor-text" in said


def test_the_vendors_way_is_not_offered_to_who_took_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "ascend", "--rule", "transfer-to-npu"))
    assert "import the vendor's module" not in text
    assert '1  comparisons with "cuda" (device-asked)' in text


def test_a_machine_without_an_accelerator_has_no_other_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "cpu"))
    assert "Uses of a GPU in this project's programs: 7 unsafe fixes; cpu has none. Not fixed:" in text
    assert "import the vendor's module" not in text


def test_where_cuda_is_right_nothing_is_said_of_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "rocm"))
    assert "device" not in text


def test_it_is_said_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "ascend", "--lang", "zh"))
    assert "移动到 CUDA 设备" in text
    assert "导入厂商的映射模块：运行时把 CUDA 映射到 npu" in text


def test_a_use_of_several_lines_is_not_said_to_use_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(LINES, "utf-8")
    (tmp_path / "pyproject.toml").touch()
    main(["check", str(tmp_path), "--platform", "ascend"])
    said = capsys.readouterr()
    assert "train.py:8: device-method (unsafe)" in said.err
    assert "used by" not in said.err


def test_what_is_unsafe_for_another_reason_is_no_use_of_the_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = 'import torch.distributed as dist\n\n\ndef check_nccl():\n    dist.init_process_group("nccl")\n\n\ncheck_nccl()\n'
    (tmp_path / "other.py").write_text(more, "utf-8")
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "ascend"))
    assert "Not finished: 10 unsafe fixes." in text
    assert "  Move cuda to npu in one of two ways" in text
    assert "rewrite each use (10 unsafe fixes)" in text


def test_with_all_uses_changed_no_other_way_is_left_to_finish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(first_screen(tmp_path, capsys, "--platform", "ascend", "--unsafe"))
    assert "import the vendor's module" not in text
    assert "Or, instead" not in text


TRAINER = "import lightning.pytorch as pl\n\npl.Trainer(accelerator='gpu', devices=2).fit(None)\n"
PARALLEL = "import torch\n\nmodel = torch.nn.DataParallel(torch.nn.Linear(1, 1))\nmodel(torch.ones(1)).sum().backward()\n"
MOVED = "model.cuda()\n"


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        (TRAINER, True),  # torch.cuda decides what "gpu" means
        (PARALLEL, False),  # which the vendor's module does not map
        (TRAINER + "import torch\ntorch.ones(1, requires_grad=True).cuda().sum().backward()\n", False),  # edits go the other way
        (PARALLEL + MOVED, False),
    ],
)
def test_the_vendors_module_is_offered_only_where_it_cures_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, offered: bool
) -> None:
    (tmp_path / "train.py").write_text(text, "utf-8")
    (tmp_path / "pyproject.toml").touch()
    assert main(["apply", str(tmp_path), "--platform", "ascend", "--unsafe", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "needs review" in said
    assert ("Import the vendor's module" in said) is offered


APART = """import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
device = dist.get_rank() % torch.cuda.device_count()
if device == 0:
    print("first")
model = torch.nn.Linear(1, 1)
if torch.cuda.is_available():
    model = DDP(model.cuda())
model(torch.ones(1)).sum().backward()
"""


def test_ranks_that_would_train_apart_come_before_all_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(APART, "utf-8")
    main(["apply", str(tmp_path), "--platform", "cpu", "--unsafe", "--allow-dirty"])
    said = capsys.readouterr()
    text = said.out + said.err
    listed = text[text.index("Needs review") :]
    assert 0 < listed.index("device-apart") < listed.index("device-remainder")
    named = next(line for line in text.splitlines() if "ddp-codemod explain" in line and "Why" not in line)
    assert "train.py:10" in named or "train.py:11" in named
    assert "Nothing else needs to change" not in text
    assert "Nothing to change" not in text


def test_the_imports_that_come_with_a_fix_are_no_places_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "engine.py").write_text(
        "import torch\n\n\ndef step(model):\n    torch.cuda.synchronize()\n    model(torch.ones(1)).backward()\n    torch.cuda.synchronize()\n",
        "utf-8",
    )
    (tmp_path / "train.py").write_text("import torch\nfrom engine import step\n\nstep(torch.nn.Linear(1, 1))\n", "utf-8")
    main(["diff", str(tmp_path), "--platform", "ascend"])
    [line] = [one for one in capsys.readouterr().err.splitlines() if "(device-module)" in one]
    assert line.startswith("    2  torch.cuda calls (device-module): ")
    assert line.endswith("engine.py:5, 7")


@pytest.mark.parametrize("command", ["check", "scan"])
def test_no_command_for_half_a_port_is_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    code = "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\ntorch.cuda.set_device(0)\n"
    (tmp_path / "train.py").write_text(code, "utf-8")
    main([command, str(tmp_path), "--platform", "ascend"])
    said = capsys.readouterr().err
    assert f"ddp-codemod apply {tmp_path} --platform ascend\n" not in said
    assert f"ddp-codemod apply {tmp_path} --platform ascend --unsafe\n" in said
