"""What a note on a file of settings hangs on is the version that is stated nearest to that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

TRAIN = 'import deepspeed\n\ndeepspeed.init_distributed("nccl")\n'
ZERO_3 = '{"zero_optimization": {\n  "stage": 3, "overlap_comm": true}}\n'


@pytest.mark.parametrize(
    ("root", "tuning", "said"),
    [
        ("accelerate\n", "torch==2.0.0\n", {"tuning/zero.json"}),
        ("torch==2.0.0\n", "torch==2.6.0\n", {"zero.json"}),
        ("torch==2.0.0\n", "deepspeed\n", {"zero.json", "tuning/zero.json"}),
        ("accelerate\n", "deepspeed\n", set()),
    ],
)
def test_the_nearest_statement_counts(tmp_path: Path, root: str, tuning: str, said: set[str]) -> None:
    (tmp_path / "tuning").mkdir()
    for folder, stated in ((tmp_path, root), (tmp_path / "tuning", tuning)):
        (folder / "requirements.txt").write_text(stated, encoding="utf-8")
        (folder / "train.py").write_text(TRAIN, encoding="utf-8")
        (folder / "zero.json").write_text(ZERO_3, encoding="utf-8")
    rules = load()
    found = survey(Options((tmp_path,), rules.platforms["rocm"], rules, root=tmp_path))
    assert {(note.name, note.line) for note in found.advisories if note.rule == "gloo-zero-3"} == {(name, 2) for name in said}
