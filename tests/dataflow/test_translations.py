"""What arrives where a call changes a name on its way in, also where a machine decides whether it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dataflow.test_values import evaluated, said

START = "import os, sys, torch\nimport torch.distributed as dist\n\n"


def arriving(root: Path, expression: str, platform: str) -> list[str]:
    text = f'{START}backend = "nccl"\ntable = {{"backend": backend, "other": "nccl"}}\nASK({expression})\n'
    return sorted(said(leaf) for leaf in evaluated(root, {"a.py": text}, platform))


@pytest.mark.parametrize(
    ("platform", "arrives"),
    [
        ("rocm", ["'gloo'"]),  # torch.version.hip is set
        ("cuda", ["'nccl'"]),  # it is None
        ("windows", ["'gloo'", "'nccl'"]),  # any build of torch runs there
    ],
)
def test_a_name_arrives_as_the_machine_decides(tmp_path: Path, platform: str, arrives: list[str]) -> None:
    assert arriving(tmp_path, '"gloo" if torch.version.hip and backend == "nccl" else backend', platform) == arrives


def test_a_condition_of_the_program_decides_nothing(tmp_path: Path) -> None:
    expression = '"gloo" if os.environ.get("SLOW") and backend == "nccl" else backend'
    assert arriving(tmp_path, expression, "rocm") == ["'gloo'", "'nccl'"]


def test_one_of_two_machines_is_enough(tmp_path: Path) -> None:
    expression = '"gloo" if (torch.version.hip or not dist.is_nccl_available()) and backend == "nccl" else backend'
    assert arriving(tmp_path, expression, "windows") == ["'gloo'"]
    assert arriving(tmp_path, expression, "rocm") == ["'gloo'"]
    assert arriving(tmp_path, expression, "cuda") == ["'nccl'"]


@pytest.mark.parametrize(("key", "arrives"), [("backend", ["'gloo'"]), ("other", ["'nccl'"])])
def test_an_entry_is_changed_and_no_other(tmp_path: Path, key: str, arrives: list[str]) -> None:
    changed = '{key: "gloo" if key == "backend" and value == "nccl" else value for key, value in table.items()}'
    assert arriving(tmp_path, f'{changed}["{key}"]', "rocm") == arrives


def test_an_entry_is_changed_on_one_machine(tmp_path: Path) -> None:
    test = 'torch.version.hip and key == "backend" and value == "nccl"'
    changed = f'{{key: "gloo" if {test} else value for key, value in table.items()}}["backend"]'
    assert arriving(tmp_path, changed, "rocm") == ["'gloo'"]
    assert arriving(tmp_path, changed, "cuda") == ["'nccl'"]
    assert arriving(tmp_path, changed, "windows") == ["'gloo'", "'nccl'"]
