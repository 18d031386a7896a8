"""A project that puts a function of its own in the place of a library's: what its calls give may be used for anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.messages import render
from ddp_codemod.model import Applicability
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

CALL = 'dist.init_process_group("nccl", init_method="tcp://localhost:1", rank=0, world_size=1)\n'
REPLACED = {
    "an assignment": "dist.init_process_group = audited\n",
    "setattr": 'setattr(dist, "init_process_group", audited)\n',
}
NOT = {
    "nothing": "",
    "an attribute of another object": "class Run:\n    pass\n\n\nRun.init_process_group = audited\n",
    "a name": "init_process_group = audited\n",
}


def edits(root: Path, how: str, platform: str):  # type: ignore[no-untyped-def]
    (root / "train.py").write_text(f"import torch.distributed as dist\nfrom audit import audited\n\n{how}{CALL}")
    (root / "audit.py").write_text("def audited(*args, **kwargs):\n    print(args)\n")
    rules = load()
    found = survey(Options((root,), rules.platforms[platform], rules, root=root))
    assert found.edits
    return found.edits


@pytest.mark.parametrize("platform", ["rocm", "windows"])
@pytest.mark.parametrize("how", REPLACED)
def test_the_edits_of_its_calls_are_unsafe_and_say_where(tmp_path: Path, how: str, platform: str) -> None:
    for edit in edits(tmp_path, REPLACED[how], platform):
        assert edit.applicability is Applicability.UNSAFE
        for language in ("en", "zh"):
            assert "train.py:4" in (said := render(edit.reason, language))
            assert "{" not in said


@pytest.mark.parametrize("platform", ["rocm", "windows"])
@pytest.mark.parametrize("how", NOT)
def test_other_edits_stay_safe(tmp_path: Path, how: str, platform: str) -> None:
    assert {edit.applicability for edit in edits(tmp_path, NOT[how], platform)} == {Applicability.SAFE}
