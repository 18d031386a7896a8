"""Examples that stay can stay for different reasons: what needs review is listed, and nothing is silently kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Action
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()


def decided(tmp_path: Path, text: str, platform: str) -> list[tuple[Action, str]]:
    """What is decided about each backend in a file, in order."""
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    found = survey(Options((tmp_path,), RULES.platforms[platform], RULES, root=tmp_path))
    assert not found.skipped
    return [(decision.action, decision.surface) for decision in found.decisions if decision.parameter.endswith("backend")]


LIGHTNING = "from lightning.pytorch.cli import LightningCLI\n\ncli = LightningCLI(run=False, trainer_defaults={})\n"
STRATEGY = '{{"strategy": {{"class_path": "lightning.pytorch.strategies.DDPStrategy", "init_args": {}}}}}'


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('{"process_group_backend": "gloo"}', [(Action.KEEP, "lightning.process_group_backend")]),
        ('{"process_group_backend": "nccl"}', [(Action.EDIT, "lightning.process_group_backend")]),
        ('{"find_unused_parameters": True}', [(Action.REVIEW, "lightning.cli")]),
    ],
)
def test_a_dictionary_that_names_the_backend_is_no_site_beside_it(
    tmp_path: Path, arguments: str, wanted: list[tuple[Action, str]]
) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING.replace("{}", STRATEGY.format(arguments)), encoding="utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["rocm"], RULES, root=tmp_path))
    assert [(one.action, one.surface) for one in found.decisions] == wanted


RAY = 'import ray.util.collective as c\n\nc.init_collective_group(2, 0, "{}")\n'
COLOSSAL = 'import colossalai\n\ncolossalai.launch_from_torch(backend="nccl")\n'
MMENGINE = 'from mmengine.dist import init_dist\n\ninit_dist("pytorch", backend="nccl")\n'


@pytest.mark.parametrize(
    ("text", "platform", "wanted"),
    [
        (RAY.format("nccl"), "rocm", (Action.REVIEW, "ray.init_collective_group")),
        (RAY.format("gloo"), "rocm", (Action.KEEP, "ray.init_collective_group")),
        (RAY.format("nccl"), "cuda", (Action.KEEP, "ray.init_collective_group")),
        (COLOSSAL, "rocm", (Action.REVIEW, "colossalai.launch_from_torch")),
        (COLOSSAL, "ascend", (Action.KEEP, "colossalai.launch_from_torch")),
        (MMENGINE, "ascend", (Action.KEEP, "mmengine.init_dist")),
        (MMENGINE, "hpu", (Action.EDIT, "mmengine.init_dist")),
        (MMENGINE, "rocm", (Action.EDIT, "mmengine.init_dist")),
    ],
)
def test_what_is_not_edited_is_listed(tmp_path: Path, text: str, platform: str, wanted: tuple[Action, str]) -> None:
    assert decided(tmp_path, text, platform) == [wanted]


def test_a_name_that_no_rule_data_knows_is_for_a_person(tmp_path: Path) -> None:
    text = 'import torch.distributed as dist\n\ndist.init_process_group("mooncake")\n'
    assert decided(tmp_path, text, "rocm-rccl") == [(Action.REVIEW, "torch.init_process_group")]


def test_what_a_file_lacks_is_named_as_the_file_has_to_hold_it(tmp_path: Path) -> None:
    (tmp_path / "run.yml").write_text("engine: {_target_: catalyst.dl.DistributedDataParallelEngine}\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("import catalyst\n", encoding="utf-8")
    found = survey(Options((tmp_path,), RULES.platforms["rocm"], RULES, root=tmp_path))
    listed = [one.reason for one in found.decisions if one.action is Action.REVIEW]
    assert [dict(one.args)["wanted"] for one in listed] == ["{backend: gloo}"]
