"""Portable code: one condition a group, and none that a build of torch without groups cannot answer while a file is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

START = "import os\nimport torch\nimport torch.distributed as dist\n\n\n"
CALL = 'dist.init_process_group({}, init_method="file:///tmp/x", rank=0, world_size=1)\n'


def port(root: Path, text: str, platform: str, **files: str) -> str:
    (root / "train.py").write_text(text, "utf-8")
    for name, content in files.items():
        (root / f"{name}.json").write_text(content, "utf-8")
    main(["apply", str(root), "--platform", platform, "--style", "portable", "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8")


@pytest.mark.parametrize("platform", ["windows", "macos"])
@pytest.mark.parametrize(
    "text",
    [
        f'def start(backend="nccl"):\n    {CALL.format("backend")}\n\nstart()\n',
        f'class Options:\n    backend = "nccl"\n\n\ndef start():\n    {CALL.format("Options.backend")}\n\nstart()\n',
        f'BACKEND = "nccl"\n\n\ndef start():\n    {CALL.format("BACKEND")}\n\nstart()\n',
    ],
    ids=["default", "class", "module"],
)
def test_what_runs_on_import_asks_for_the_system(tmp_path: Path, platform: str, text: str) -> None:
    condition = {"windows": 'os.name == "nt"', "macos": 'sys.platform == "darwin"'}[platform]
    after = port(tmp_path, START + text, platform)
    assert f'"gloo" if {condition} else "nccl"' in after
    assert "is_nccl_available" not in after


@pytest.mark.parametrize(
    "text",
    [
        CALL.format('"nccl"'),
        f'def start():\n    backend = "nccl"\n    {CALL.format("backend")}\n\nstart()\n',
        f'def outer():\n    def start(backend="nccl"):\n        {CALL.format("backend")}\n    start()\n\n\nouter()\n',
    ],
    ids=["call", "function", "inner"],
)
def test_what_runs_later_asks_for_nccl(tmp_path: Path, text: str) -> None:
    assert '"nccl" if dist.is_nccl_available() else "gloo"' in port(tmp_path, START + text, "windows")


SETTINGS = 'def start(backend="nccl"):\n    {}\n\nimport json\nstart()\nstart(json.load(open("a.json"))["backend"])\n'


def test_a_default_is_left_alone_where_every_call_chooses(tmp_path: Path) -> None:
    after = port(tmp_path, START + SETTINGS.format(CALL.format("backend")), "windows", a='{"backend": "nccl"}')
    assert 'def start(backend="nccl"):' in after
    assert '"gloo" if not dist.is_nccl_available() and backend == "nccl" else backend' in after


def test_a_default_changes_where_another_group_takes_it_as_it_is(tmp_path: Path) -> None:
    text = 'NAME = "nccl"\n\n\n' + SETTINGS.replace('"nccl"', "NAME", 1).format(CALL.format("backend")) + CALL.format("NAME")
    after = port(tmp_path, START + text, "windows", a='{"backend": "nccl"}')
    assert 'NAME = "gloo" if os.name == "nt" else "nccl"' in after
    assert '"gloo" if not dist.is_nccl_available() and backend == "nccl" else backend' in after
