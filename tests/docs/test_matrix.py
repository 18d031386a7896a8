"""The table of frameworks and platforms is what the tool does with the rule data."""

from __future__ import annotations

import matrix
import pytest

from ddp_codemod.catalog.load import load


def test_every_framework_and_platform_has_a_cell() -> None:
    rules = load()
    assert {framework for framework, _ in matrix.cells()} == set(rules.frameworks.values())
    assert {platform for _, platform in matrix.cells()} == set(rules.platforms)


def test_cells_say_what_happens() -> None:
    cells = {key: name for key, (name, _) in matrix.cells().items()}
    assert cells["torch.distributed", "rocm"] == "edit"
    assert cells["torch.distributed", "cuda"] == "right"
    assert cells["Colossal-AI", "rocm"] == "hand"
    assert cells["Colossal-AI", "ascend"] == "right"
    assert cells["Megatron-Core", "windows"] == "hand"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_not_possible_has_its_reason(lang: str) -> None:
    text = "\n".join(matrix.table(lang))
    numbers = {name for line in text.splitlines() if line.startswith("|") for name in line.split("(")[1:]}
    assert {name.partition(")")[0] for name in numbers if name[0].isdigit()} == {
        line[1:].partition(")")[0] for line in text.splitlines() if line.startswith("(")
    }
