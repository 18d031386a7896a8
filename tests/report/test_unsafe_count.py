"""The first lines say how many unsafe changes there are, and on how many lines: those named and the rest are as many."""

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
    found = re.search(r"Of these, (\d+) are unsafe fixes, on (\d+) lines \((.*?)and (\d+) more\)", said)
    assert found is not None, said
    named = [place for place in found.group(3).split(", ") if place]
    assert len(named) + int(found.group(4)) == int(found.group(2)) < int(found.group(1))
