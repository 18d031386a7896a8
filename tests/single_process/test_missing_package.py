"""Where torch may lack its distributed package: what is guarded, what stays because it is never looked up, and what a person is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
HEAD = "import os\n\nimport torch\nimport torch.distributed as dist\n"
END = '\n\nif int(os.environ.get("WORLD_SIZE", "1")) > 1:\n    dist.init_process_group("gloo")\ntorch.ones(1).backward()\n'


def outcome(root: Path, text: str, beside: str = "", *rules: str) -> tuple[dict[str, str], list[str]]:
    """The new texts of files that change, and the keys of what a person is told."""
    (root / "train.py").write_text(text)
    if beside:
        (root / "extra.py").write_text(beside)
    found = survey(Options((root,), RULES.platforms["single-gpu"], RULES, fixes=rules or ("without-distributed",), root=root))
    told = [one.reason.key for one in found.decisions if one.action is Action.REVIEW]
    return {change.name: change.after.decode() for change in render(found, True).changes}, told


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("say = dist.is_initialized()", "say = dist.is_available() and dist.is_initialized()"),
        ("say = not dist.is_initialized()", "say = not (dist.is_available() and dist.is_initialized())"),
        ("say = 1 if dist.is_initialized() else 0", "say = 1 if (dist.is_available() and dist.is_initialized()) else 0"),
        (
            "if torch.distributed.is_initialized(): print(1)",
            "if torch.distributed.is_available() and torch.distributed.is_initialized(): print(1)",
        ),
        ("from torch.distributed import ReduceOp", "if dist.is_available():\n    from torch.distributed import ReduceOp"),
        ("import torch.distributed.fsdp", "if dist.is_available():\n    import torch.distributed.fsdp"),
        (
            "def mean(x, op=dist.ReduceOp.SUM):\n    return x\n\n\nmean(1)",
            "def mean(x, op=dist.ReduceOp.SUM if dist.is_available() else None):\n    return x\n\n\nmean(1)",
        ),
        (
            "class Meter:\n    def sync(self, *, op=torch.distributed.ReduceOp.SUM, wait=dist.TCPStore('a', 1)):\n        pass",
            "class Meter:\n    def sync(self, *, op=torch.distributed.ReduceOp.SUM if torch.distributed.is_available() else None,"
            " wait=dist.TCPStore('a', 1) if dist.is_available() else None):\n        pass",
        ),
        (  # a default is looked up where the function is defined, wherever that is called
            "def mean(x, op=dist.ReduceOp.SUM):\n    return x\n\n\nif dist.is_available() and dist.is_initialized():\n    mean(1)",
            "def mean(x, op=dist.ReduceOp.SUM if dist.is_available() else None):\n    return x\n\n\n"
            "if dist.is_available() and dist.is_initialized():\n    mean(1)",
        ),
    ],
)
def test_what_is_guarded(tmp_path: Path, line: str, after: str) -> None:
    changed, told = outcome(tmp_path, f"{HEAD}{line}\n{END}")
    assert not told
    assert changed["train.py"] == f"{HEAD}{after}\n{END}"


@pytest.mark.parametrize(
    "lines",
    [
        "say = dist.is_available()",
        "say = dist.is_available() and dist.is_initialized()",
        "say = dist.get_rank() if dist.is_available() and dist.is_initialized() else 0",
        "if dist.is_available():\n    from torch.distributed import ReduceOp",
        "try:\n    from torch.distributed import ReduceOp\nexcept ImportError:\n    ReduceOp = None",
        "try:\n    say = dist.is_initialized()\nexcept AttributeError:\n    say = False",
        "from torch.distributed import is_available",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from torch.distributed import ReduceOp\n\n    Group = ReduceOp\n    Wrapper = torch.nn.parallel.DistributedDataParallel | None",
        "from torch.distributed.elastic.multiprocessing.errors import record",
        "from torch.nn.parallel import DistributedDataParallel",
        "from torch.utils.data import DistributedSampler",
        "def never():\n    return dist.is_initialized()",  # nothing calls it
        "def ready():\n    if not dist.is_available():\n        return False\n    return dist.is_initialized()\n\n\nready()",
        "def told(group: 'dist.ReduceOp'):\n    return group\n\n\ntold(1)",
        "def told(group: dist.ProcessGroup):\n    return group\n\n\ntold(1)",
        "say = hasattr(dist, 'is_initialized')",
        "if int(os.environ.get('WORLD_SIZE', '1')) > 1:\n    dist.barrier()",
        "if dist.is_available():\n    def mean(x, op=dist.ReduceOp.SUM):\n        return x\n\n    mean(1)",
        "def main():\n    def mean(x, op=dist.ReduceOp.SUM):\n        return x\n\n    mean(1)\n\n\n"
        "if dist.is_available():\n    main()",  # what is defined in a function waits for that function
    ],
)
def test_what_stays(tmp_path: Path, lines: str) -> None:
    assert outcome(tmp_path, f"{HEAD}{lines}\n{END}") == ({}, [])


@pytest.mark.parametrize(
    "lines",
    [
        "def mean(x, ops=[dist.ReduceOp.SUM]):\n    return x\n\n\nmean(1)",
        "class Mean:\n    op = dist.ReduceOp.SUM\n\n\nif dist.is_available():\n    Mean()",  # its body runs at once
        "@dist.ReduceOp\ndef mean(x):\n    return x\n\n\nif dist.is_available():\n    mean(1)",
        "def told(op: dist.ReduceOp):\n    return op\n\n\ntold(1)",
        "class Mine(dist.Store):\n    pass",
        "from torch.distributed import is_available, is_initialized",
        "if not dist.is_available():\n    raise RuntimeError('torch.distributed is needed')",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import json\nelse:\n    Group = dist.Store",
    ],
)
def test_what_a_person_is_told_and_nothing_is_changed(tmp_path: Path, lines: str) -> None:
    changed, told = outcome(tmp_path, f"{HEAD}{lines}\n{END}")
    assert not changed
    assert "single-bare" in told


def test_another_file_that_the_program_imports_is_looked_at_too(tmp_path: Path) -> None:
    asks = "from torch import distributed\n\n\ndef first():\n    return not distributed.is_initialized() or distributed.get_rank() == 0\n"
    changed, told = outcome(tmp_path, f"{HEAD}\nimport extra\n\nextra.first()\n{END}", asks)
    assert not told
    assert "not (distributed.is_available() and distributed.is_initialized()) or" in changed["extra.py"]


def test_a_file_that_no_program_imports_stays(tmp_path: Path) -> None:
    assert outcome(tmp_path, HEAD + END, "import torch.distributed as dist\n\nprint(dist.is_initialized())\n") == ({}, [])


def test_without_the_rule_a_torch_that_has_the_package_is_meant(tmp_path: Path) -> None:
    assert outcome(tmp_path, f"{HEAD}say = dist.is_initialized()\n{END}", "", "single-process") == ({}, [])


def test_a_program_that_cannot_do_without_a_group_is_named(tmp_path: Path) -> None:
    text = (
        "import torch\nimport torch.distributed as dist\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n\n"
        'dist.init_process_group("gloo")\nFSDP(torch.nn.Linear(4, 1).cuda())(torch.ones(1, 4)).sum().backward()\n'
    )
    assert outcome(tmp_path, text) == ({}, ["single-bare-bound"])
    assert outcome(tmp_path, text, "", "single-process") == ({}, [])


GROUPLESS = {
    "accelerate": "from accelerate import Accelerator\n\nlibrary = Accelerator()\n",
    "transformers": "from transformers import Trainer\n\nlibrary = Trainer(torch.nn.Linear(1, 1))\n",
    "lightning": "from lightning.pytorch import Trainer\n\nlibrary = Trainer(devices=1)\n",
}


@pytest.mark.parametrize("library", GROUPLESS)
@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("dist.all_reduce(loss)", "if dist.is_available() and dist.is_initialized():\n    dist.all_reduce(loss)"),
        (
            "loss /= dist.get_world_size()",
            "loss /= dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1",
        ),
        ("say = dist.is_initialized()", "say = dist.is_available() and dist.is_initialized()"),
        ("from torch.distributed import ReduceOp", "if dist.is_available():\n    from torch.distributed import ReduceOp"),
    ],
)
def test_a_library_that_makes_no_group_for_one_process_helps_no_code_that_asks_for_one(
    tmp_path: Path, library: str, lines: str, after: str
) -> None:
    text = f"import torch\nimport torch.distributed as dist\n{GROUPLESS[library]}loss = torch.ones(1)\n"
    changed, told = outcome(tmp_path, f"{text}{lines}\nloss.backward()\n")
    assert not told
    assert changed["train.py"] == f"{text}{after}\nloss.backward()\n"


@pytest.mark.parametrize("library", GROUPLESS)
@pytest.mark.parametrize(
    "lines",
    [
        "print(loss)",
        "if dist.is_available() and dist.is_initialized():\n    dist.all_reduce(loss)",
        "try:\n    from torch.distributed import ReduceOp\nexcept ImportError:\n    ReduceOp = None",
        "def never():\n    dist.barrier()",
    ],
)
def test_beside_such_a_library_what_cannot_fail_stays(tmp_path: Path, library: str, lines: str) -> None:
    text = f"import torch\nimport torch.distributed as dist\n{GROUPLESS[library]}loss = torch.ones(1)\n{lines}\nloss.backward()\n"
    assert outcome(tmp_path, text) == ({}, [])


@pytest.mark.parametrize("library", GROUPLESS)
def test_beside_such_a_library_what_cannot_be_guarded_is_named(tmp_path: Path, library: str) -> None:
    text = f"import torch\nimport torch.distributed as dist\n{GROUPLESS[library]}class Hook(dist.Work):\n    pass\n\n\ndist.barrier()\n"
    changed, told = outcome(tmp_path, text)
    assert not changed
    assert told == ["single-review", "single-bare"]


def test_a_trainer_and_its_arguments_are_one_entry(tmp_path: Path) -> None:
    text = (
        "import torch\nimport torch.distributed as dist\nfrom transformers import Trainer, TrainingArguments\n\n"
        "arguments = TrainingArguments('out')\n\n\nclass Hook(dist.Work):\n    pass\n\n\nTrainer(torch.nn.Linear(1, 1), arguments)\n"
    )
    assert outcome(tmp_path, text) == ({}, ["single-review", "single-bare"])


def test_where_torch_has_the_package_such_a_library_is_left_alone(tmp_path: Path) -> None:
    text = f"import torch\nimport torch.distributed as dist\n{GROUPLESS['accelerate']}dist.barrier()\ntorch.ones(1).backward()\n"
    assert outcome(tmp_path, text, "", "single-process") == ({}, [])


def test_beside_a_start_of_its_own_the_start_decides(tmp_path: Path) -> None:
    text = f"{HEAD}{GROUPLESS['accelerate']}say = dist.is_initialized()\n{END}"
    changed, told = outcome(tmp_path, text)
    assert not told
    assert changed["train.py"] == text.replace("= dist.is_init", "= dist.is_available() and dist.is_init")
