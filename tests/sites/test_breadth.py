"""What is there many times is looked at once each: the work is counted, not timed (``python -m proofs.breadth`` times it)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow.reaching_definitions import ReachingDefinitions
from ddp_codemod.policy import choice_lists, test_code
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

HEAD = "import torch.distributed as dist\n\n"
MANY = 60


@pytest.mark.parametrize(
    "text",
    [
        "def h(b):\n    dist.init_process_group(b)\n" + "h('nccl')\n" * MANY,
        "def f():\n" + "    dist.init_process_group('nccl')\n" * MANY,
        "def f(mock):\n    mock.patch('other.thing')\n" + "    dist.init_process_group('nccl')\n" * MANY,
    ],
    ids=["callers of one helper", "calls in one function", "behind a mock"],
)
def test_the_work_grows_with_the_number_and_not_with_its_square(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def counted(*args: Any) -> Any:
            counts[name] += 1
            return real(*args)

        monkeypatch.setattr(owner, name, counted)

    for owner, name in ((ReachingDefinitions, "through"), (choice_lists, "_find_lists_around"), (test_code, "_is_replacement")):
        count(owner, name)
    (tmp_path / "train.py").write_text(HEAD + text)
    rules = load()
    found = survey(Options((tmp_path,), rules.platforms["rocm"], rules, root=tmp_path))
    assert len(found.edits) == MANY
    assert counts
    assert all(number <= 5 * MANY for number in counts.values()), counts
