"""One number for all fixes, whose parts add up to it, the same in each list and each command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.cli import main

USES = "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\nmodel = torch.nn.Linear(2, 2)\n"
TRAINS = "ddp = torch.nn.parallel.DistributedDataParallel(model)\nopt = torch.optim.SGD(ddp.parameters(), lr=0.1)\n"


def test_the_named_and_the_rest_make_up_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    twice = "a, b = torch.ones(2).cuda(), torch.ones(2).cuda()\n"
    once = "".join(f"x{at} = torch.ones(2).cuda()\n" for at in range(6))
    (tmp_path / "train.py").write_text(USES + TRAINS + once + twice + "ddp(a).sum().backward()\nopt.step()\n")
    main(["diff", ".", "--platform", "cpu", "--unsafe"])
    said = " ".join(capsys.readouterr().err.split())
    found = re.match(r".*?(\d+) fixes \((\d+) safe, (\d+) unsafe\)", said)
    assert found is not None, said
    total, safe, unsafe = map(int, found.groups())
    assert (total, safe, unsafe) == (9, 1, 8)  # two of them on one line
    assert "Changes and their reasons (9):" in said
    kinds = re.search(r"nothing written: (.*?)\. ", said)
    assert kinds is not None, said
    assert sum(map(int, re.findall(r"\((\d+)\)", kinds.group(1)))) == total
    main(["check", ".", "--platform", "cpu"])
    said = " ".join(capsys.readouterr().err.split())
    assert "1 safe fix to make" in said
    assert "Not finished: 8 unsafe fixes" in said
    assert "8 unsafe fixes; cpu has none" in said
    assert "Unsafe fixes, not applied (8):" in said
