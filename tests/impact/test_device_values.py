"""Whether an argument is a CUDA device: followed as far as something is known, and found however the code calls what takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.impact.usage_bytes import is_about_calls, may_call, texts_of
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

HEAD = "import argparse\nimport torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
PATTERNS = [advice.pattern for advice in load().advice.values() if advice.pattern is not None and is_about_calls(advice.pattern)]
CONFIG = "class Config:\n    def __init__(self):\n        self.device = 'cuda'\n\n\n"


def lines(folder: Path, text: str) -> list[int]:
    """The lines of ``text`` where a device is used, in the program of a project for ascend."""
    (folder / "train.py").write_text(HEAD + text, "utf-8")
    rules = load()
    found = survey(Options((folder,), rules.platforms["ascend"], rules, root=folder, style="pin"))
    places = (one.place for one in found.decisions if (one.rule or "").startswith("device-") and one.place.name == "train.py")
    return sorted({found.sources["train.py"].position(place.start)[0] - HEAD.count("\n") for place in places})


@pytest.mark.parametrize(
    "text",
    [
        "torch.device('cuda')\n",
        "torch.device \\\n    ('cuda')\n",
        "torch . device('cuda')\n",
        "import torch as th\nth.device('cuda')\n",
        "from torch import device\ndevice('cuda')\n",
        "from torch import device as place\nplace('cuda')\n",
        "from torch import (\n    nn,\n    device as place,\n)\nplace('cuda')\n",
        "place = torch.device\nplace('cuda')\n",
        "import torch as th\nplace = th.device\nplace('cuda')\n",
        "from torch import (\n    nn,\n    device,\n)\nplace = device\nplace('cuda')\n",
        "torch.ones(1).to('cuda')\n",
        "torch.ones(1). to ('cuda')\n",
        "torch.ones(1).\\\n    to('cuda')\n",
        "(torch.ones(1)\n    .to(\n        'cuda'\n    ))\n",
    ],
)
def test_a_device_is_found_however_it_is_called(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, device: torch.device = None):\n    return x.device\n",
        "def f(device=None):\n    return isinstance(device, torch.device)\n",
        "TO = {'to': 'cuda', 'torch': 1}\n",
        "from torch import nn\nold = dict(device='cuda')\n",
    ],
)
def test_a_file_that_only_names_a_device_is_not_looked_into_for_calls(text: str) -> None:
    called = {"torch.device", "to"}
    about = [pattern for pattern in PATTERNS if called & {*pattern.names, *pattern.methods}]
    assert about
    assert not any(may_call(pattern, texts_of(pattern), (HEAD + text).encode()) for pattern in about)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{CONFIG}def f(c):\n    return torch.ones(1).to(c.device)\n\n\nf(Config())\n", True),
        (f"{CONFIG}def f(c: torch.Tensor):\n    return torch.ones(1).to(c.device)\n\n\nf(Config())\n", False),
        (f"{CONFIG}def f(c: 'list | None', t: torch.Tensor):\n    return torch.ones(1).to(c.device)\n\n\nf(Config(), 1)\n", True),
        ("def f(x, kind):\n    return x.to(kind)\n\n\nf(torch.ones(1), 'cuda')\n", True),
        ("def f(x, kind: torch.dtype):\n    return x.to(kind)\n\n\nf(torch.ones(1), 'cuda')\n", False),
        ("def f(x, at: 'str | None'):\n    return x.to(at)\n\n\nf(torch.ones(1), 'cuda')\n", True),
        ("def f(x, at: torch.device | str):\n    return x.to(at)\n\n\nf(torch.ones(1), 'cuda')\n", True),
        ("def f(x, at: torch.device | None):\n    return x.to(at)\n\n\nf(torch.ones(1), torch.device('cuda'))\n", False),
    ],
)
def test_what_a_parameter_is_annotated_as_is_believed(tmp_path: Path, text: str, found: bool) -> None:
    used = [line for line in lines(tmp_path, text) if ".to(" in text.splitlines()[line - 1]]
    assert bool(used) is found


def test_a_name_alone_leads_to_no_device(tmp_path: Path) -> None:
    option = "parser = argparse.ArgumentParser()\nparser.add_argument('--device', default='cuda')\nargs = parser.parse_args()\n"
    uses = "def f(batch):\n    return torch.ones(1).to(batch.device)\n\n\nf(load())\n"
    assert lines(tmp_path, option + uses) == [2]
    assert lines(tmp_path, f"{option}{uses}torch.ones(1).to(args.device)\n") == [2, 9]
    assert lines(tmp_path, f"{option}{uses}f(args)\n") == [2, 5]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(kind):\n    return torch.ones(1).to({'GPU': 'cuda', 'NPU': 'ascend'}['GPU'])\n\n\nf(1)\n", False),
        ("def f(kind, input):\n    '''For the GPU, not for an NPU.'''\n    return torch.ones(1).to('cuda')\n\n\nf(1, 2)\n", True),
        ("def f(is_npu):\n    return torch.ones(1).to('npu' if is_npu else 'cuda')\n\n\nf(False)\n", False),
    ],
)
def test_code_that_names_the_device_itself_knows_it(tmp_path: Path, text: str, found: bool) -> None:
    assert bool([line for line in lines(tmp_path, text) if line < text.count("\n")]) is found


@pytest.mark.parametrize(("platform", "said"), [("ascend", 2), ("cpu", 2), ("rocm", 0)])
@pytest.mark.parametrize("group", ["", "import torch.distributed as dist\n\n\ndef f():\n    return dist.get_rank()\n"])
def test_a_project_without_a_group_is_told_that_nothing_of_it_was_ported(
    tmp_path: Path, platform: str, said: int, group: str
) -> None:
    (tmp_path / "train.py").write_text("import torch\n\ntorch.ones(1).cuda()\n" + group, "utf-8")
    (tmp_path / "other.py").write_text("print('cuda')\n", "utf-8")
    (tmp_path / "third.py").write_text("cuda = 1  # GPU\n", "utf-8")
    rules = load()
    found = survey(Options((tmp_path,), rules.platforms[platform], rules, root=tmp_path))
    assert (found.without_entry_point, found.edits) == (said, ())
