"""What following values costs is measured against a run that really does not follow them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "tracing.py"
PROJECT = {
    "train.py": 'import torch.distributed as dist\n\nBACKEND = "nccl"\n\n\ndef main():\n    dist.init_process_group(BACKEND)\n',
    "plain.py": 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n',
}


def test_without_following_only_what_stands_in_the_call_is_edited(tmp_path: Path) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)
    assert [_once(tmp_path, only)["edits"] for only in ("with", "without")] == [2, 2]


def _once(tree: Path, only: str) -> dict[str, float]:
    command = [sys.executable, str(SCRIPT), str(tree), "--only", only]
    made: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert made["seconds"] > 0
    return made
