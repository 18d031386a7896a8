"""A tensor's type is followed to where it gets it: through the calls behind each other, and wherever the tensor comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

HEAD = "import torch\nimport torch_npu\nimport torch.distributed as dist\n\ndist.init_process_group('hccl')\n"


def lines(folder: Path, text: str, style: str = "pin") -> list[tuple[int, bool]]:
    """The lines that are spoken of, and whether an edit mends each."""
    (folder / "train.py").write_text(HEAD + text, "utf-8")
    rules = load()
    found = survey(Options((folder,), rules.platforms["ascend"], rules, root=folder, style=style))  # type: ignore[arg-type]
    own = [one for one in found.decisions if one.rule == "device-reduced-double"]
    edited = {edit.start for edit in found.edits if edit.rule == "device-reduced-double"}
    return [
        (found.sources["train.py"].position(one.place.start)[0], any(one.place.start <= at < one.place.end for at in edited))
        for one in own
    ]


@pytest.mark.parametrize(
    "text",
    [
        "t = torch.tensor([1], dtype=torch.float64)\ndist.all_reduce(t)\n",
        "t = torch.tensor([1], dtype=torch.double).npu()\ndist.all_reduce(t, op=dist.ReduceOp.SUM)\n",
        "t = torch.zeros(1).double().npu().detach()\ndist.all_reduce(tensor=t)\n",
        "t = torch.zeros(1).to('npu').to(torch.float64)\ndist.reduce(t, 0)\n",
        "t = torch.DoubleTensor([1]).npu()\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).to('npu', dtype=torch.float64)\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).float().double()\ndist.all_reduce(t)\n",
    ],
)
def test_a_reduction_of_float64_is_found_where_it_gets_its_type(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, text) == [(6, True)]


@pytest.mark.parametrize(
    "text",
    [
        "t = torch.tensor([1], dtype=torch.float32)\ndist.all_reduce(t)\n",
        "t = torch.tensor([1.0])\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).double().float()\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).double().to(torch.float32)\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).double().to('npu', dtype=torch.float32)\ndist.all_reduce(t)\n",
        "t = torch.zeros(1).double().sum()\ndist.all_reduce(t)\n",  # the same type, but not in this list
        "t = torch.zeros(1).double()\nt = t.float()\ndist.all_reduce(t)\n",
        "t = torch.zeros(1, dtype=torch.float64)\ndist.broadcast(t, 0)\n",
        "t = torch.zeros(1, dtype=torch.float64)\nu = torch.zeros(1)\ndist.all_reduce(u)\n",
        "def f(t):\n    dist.all_reduce(t)\n\n\nf(torch.zeros(1).double().float())\n",
        "def f(t):\n    dist.all_reduce(t.float())\n\n\nf(torch.zeros(1).double())\n",
        "def f(t):\n    dist.all_reduce(t)\n\n\ndef g(t):\n    f(t)\n\n\ng(torch.zeros(1).double())\n",  # one function is followed
        "t = torch.zeros(1).double()\nu = torch.zeros(2)\nu[0] = t\ndist.all_reduce(u)\n",
        "class C:\n    t = torch.zeros(1).double()\n    u = torch.zeros(1)\n\n\ndist.all_reduce(C().u)\n",
        "class double:\n    pass\n\n\nt = torch.zeros(1, dtype=double)\ndist.all_reduce(t)\n",
    ],
)
def test_what_is_reduced_in_another_type_is_not_spoken_of(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("t = torch.zeros(1).double() if len('a') else torch.zeros(1)\ndist.all_reduce(t)\n", 6),
        ("t = torch.zeros(1).double()\nt = t.to('npu')\ndist.all_reduce(t)\n", 6),
        ("def f(t):\n    dist.all_reduce(t)\n\n\nf(torch.zeros(1).double())\nf(torch.zeros(1))\n", 10),
        ("def f(t):\n    return t.npu()\n\n\nt = f(torch.zeros(1).double())\ndist.all_reduce(t)\n", 10),
        ("class C:\n    def __init__(self):\n        self.t = torch.zeros(1).double()\n\n\ndist.all_reduce(C().t)\n", 8),
    ],
)
def test_it_is_found_wherever_the_tensor_comes_from(tmp_path: Path, text: str, line: int) -> None:
    assert lines(tmp_path, text) == [(line, True)]


def test_a_tensor_that_is_reduced_twice_is_spoken_of_once(tmp_path: Path) -> None:
    text = "def f(t):\n    dist.all_reduce(t)\n    dist.reduce(t, 0)\n\n\nf(torch.zeros(1).double())\n"
    assert lines(tmp_path, text) == [(11, True)]


def test_code_for_other_machines_too_keeps_its_type(tmp_path: Path) -> None:
    assert lines(tmp_path, "t = torch.tensor([1], dtype=torch.float64)\ndist.all_reduce(t)\n", "portable") == [(6, False)]
