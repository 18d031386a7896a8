"""What is said of a program does not hang on the order in which Python keeps a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PARTS = "abcdefgh"
PROGRAM = (
    "import torch.distributed as dist\n"
    "from parts import all_of_them\n\n\n"
    "def main(model, batch):\n"
    '    dist.init_process_group("nccl")\n'
    "    all_of_them()\n"
    "    model(batch).backward()\n\n\n"
    'if __name__ == "__main__":\n'
    "    main(None, None)\n"
)


def test_the_reason_names_the_same_line_whatever_the_hash_seed(tmp_path: Path) -> None:
    calls = (f"def {name}():\n    dist.rpc.rpc_sync()\n\n\n" for name in PARTS)
    together = f"def all_of_them():\n    {'; '.join(f'{name}()' for name in PARTS)}\n"
    (tmp_path / "parts.py").write_text("import torch.distributed as dist\n\n\n" + "".join(calls) + together, "utf-8")
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    command = [sys.executable, "-m", "ddp_codemod", "check", ".", "--platform", "single-gpu", "--format", "json"]
    said = {
        subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert "rpc_sync (parts.py" in said.pop()
