"""What each name of a backend comes to on each platform: written out, so that a change of the rule data is made on purpose.

``=`` stays, ``?`` is listed for a person, anything else is what it becomes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.messages import render as said
from ddp_codemod.model import Action, Decision
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import parse_stated

RULES = load()
PLATFORMS = ("windows", "cpu", "macos", "mixed-gpu", "rocm", "rocm-rccl", "cuda", "ascend", "hpu", "xpu", "mlu", "musa")
ELSEWHERE = "gloo gloo gloo gloo gloo {rccl} {cuda} hccl hccl xccl cncl mccl"
COMPOSITE = (
    "cpu:gloo,cuda:gloo cpu:gloo,cuda:gloo cpu:gloo,cuda:gloo cpu:gloo,cuda:gloo cpu:gloo,cuda:gloo {rccl} {cuda} "
    "cpu:gloo,npu:hccl cpu:gloo,hpu:hccl cpu:gloo,xpu:xccl cpu:gloo,mlu:cncl cpu:gloo,musa:mccl"
)
PLAIN = "import torch.distributed as dist\n\n"
COMMS = "import torchcomms\n" + PLAIN


def table(torch: str, head: str, name: str, rccl: str, cuda: str, row: str = ELSEWHERE) -> list[tuple[str, str, str, str, str]]:
    outcomes = row.format(rccl=rccl, cuda=cuda).split()
    return [(torch, head, name, platform, outcome) for platform, outcome in zip(PLATFORMS, outcomes, strict=True)]


CASES = [
    *table("2.15.0", PLAIN, "nccl", "=", "="),
    *table("2.13.0", PLAIN, "nccl2", "nccl", "nccl"),
    *table("2.14.1", PLAIN, "nccl2", "?", "="),
    *table("2.15.0", PLAIN, "nccl2", "?", "="),
    *table("", PLAIN, "nccl2", "?", "="),
    *table("2.15.0", PLAIN, "NCCL2", "?", "="),
    *table("2.12.0", PLAIN, "nccl-lazy", "nccl", "nccl"),
    *table("2.14.1", PLAIN, "nccl-lazy", "?", "="),
    *table("2.13.0", PLAIN, "nccl-legacy", "nccl", "nccl"),
    *table("2.15.0", PLAIN, "nccl-legacy", "?", "="),
    *table("2.14.1", PLAIN, "nccl4py", "nccl", "nccl"),
    *table("2.15.0", PLAIN, "nccl4py", "nccl", "?"),
    *table("2.15.1", PLAIN, "nccl4py", "nccl", "="),
    *table("2.15.0", PLAIN, "ncclx", "nccl", "nccl"),
    *table("2.15.0", COMMS, "ncclx", "nccl", "="),
    *table("2.15.0", PLAIN, "rccl", "nccl", "nccl"),
    *table("2.15.0", COMMS, "rccl", "=", "nccl"),
    *table("2.15.0", PLAIN, "rcclx", "nccl", "nccl"),
    *table("2.15.0", COMMS, "rcclx", "=", "nccl"),
    *table("2.15.0", PLAIN, "cpu:gloo,cuda:nccl2", "?", "=", COMPOSITE),
    *table("2.13.0", PLAIN, "cpu:gloo,cuda:nccl2", "cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl", COMPOSITE),
    *table("2.15.0", COMMS, "cpu:gloo,cuda:ncclx", "cpu:gloo,cuda:nccl", "=", COMPOSITE),
    *table("2.15.0", PLAIN, "cpu:gloo,cuda:mccl", "cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl", COMPOSITE),
    *table("2.15.0", COMMS, "cpu:gloo,cuda:mccl", "cpu:gloo,cuda:nccl", "=", COMPOSITE),
    # Moore Threads' own, and Meta's of the same name
    *table("2.15.0", PLAIN, "mccl", "nccl", "nccl", ELSEWHERE.replace("mccl", "=")),
    *table("2.15.0", COMMS, "mccl", "nccl", "=", ELSEWHERE.replace("mccl", "?")),
    # no such name: the underscore, and one that somebody registers
    *table("2.15.0", PLAIN, "nccl_legacy", "?", "?", "? ? ? ? ? {rccl} {cuda} ? ? ? ? ?"),
    *table("2.15.0", PLAIN, "mooncake", "?", "?", "? ? ? ? ? {rccl} {cuda} ? ? ? ? ?"),
]


def ported(root: Path, text: str, platform: str, torch: str) -> tuple[Decision, str]:
    """What is decided about the backend, and the last line as it will be."""
    (root / "train.py").write_text(text)
    versions = {"torch": parse_stated(torch, "torch", "--torch")} if torch else {}
    found = survey(Options((root,), RULES.platforms[platform], RULES, root=root, versions=versions))
    (decision,) = (one for one in found.decisions if one.parameter == "backend")
    changed = [change.after.decode() for change in render(found, False).changes]
    return decision, (changed or [text])[0].splitlines()[-1]


@pytest.mark.parametrize(("torch", "head", "name", "platform", "outcome"), CASES)
def test_a_name_on_a_platform(tmp_path: Path, torch: str, head: str, name: str, platform: str, outcome: str) -> None:
    decision, line = ported(tmp_path, f'{head}dist.init_process_group("{name}")\n', platform, torch)
    wanted = {"=": Action.KEEP, "?": Action.REVIEW}.get(outcome, Action.EDIT)
    assert (decision.action, name in decision.resolves_to) == (wanted, True)
    assert line.startswith(f'dist.init_process_group("{outcome if wanted is Action.EDIT else name}"')


def test_a_name_that_stays_without_a_known_version_says_which_it_needs(tmp_path: Path) -> None:
    decision, _ = ported(tmp_path, PLAIN + 'dist.init_process_group("nccl2")\n', "cuda", "")
    assert ">=2.14" in said(decision.reason, "en")
    assert ">=2.14" in said(decision.reason, "zh")


def test_a_name_that_the_projects_torch_is_too_old_for_is_not_called_anothers(tmp_path: Path) -> None:
    decision, _ = ported(tmp_path, PLAIN + 'dist.init_process_group("nccl2")\n', "cuda", "2.13.0")
    reason = said(decision.reason, "en")
    assert "from 2.14 on" in reason
    assert RULES.platforms["cuda"].why not in reason


def test_a_variable_for_a_library_is_set_under_its_other_names_too(tmp_path: Path) -> None:
    text = PLAIN + 'dist.init_process_group("nccl2")\n'
    (tmp_path / "train.py").write_text(text)
    found = survey(Options((tmp_path,), RULES.platforms["cuda"], RULES, fixes=("nccl-debug",), root=tmp_path))
    (change,) = render(found, False).changes
    assert b'environ.setdefault("NCCL_DEBUG"' in change.after


def test_the_portable_condition_that_is_right_for_a_library_is_right_for_its_other_names(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PLAIN + 'dist.init_process_group("nccl2")\n')
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, root=tmp_path, style="portable"))
    (change,) = render(found, False).changes
    assert b'"nccl2" if ' in change.after
    assert b' else "gloo"' in change.after


def test_a_platform_of_ones_own_keeps_the_other_names_without_saying_so() -> None:
    names = {key for key, one in RULES.backends.items() if one.like}
    assert names
    for platform in RULES.platforms.values():
        for key in names:
            like = RULES.backends[key].like
            assert key not in platform.backend.works or like in platform.backend.works
