"""What the probe reads of a machine, with stand-ins for what a machine of ours lacks; the values are those of real machines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ddp_codemod.machine import probe

H100 = {"name": "NVIDIA H100 80GB HBM3", "major": 9, "minor": 0, "total_memory": 85_017_493_504}
MI210 = {"name": "AMD Instinct MI210", "major": 9, "minor": 0, "total_memory": 68_702_699_520}


@pytest.mark.parametrize(
    ("build", "properties", "wanted"),
    [
        ({"cuda": "13.0", "hip": None}, {**H100, "gcnArchName": "NVIDIA H100 80GB HBM3"}, "9.0"),  # torch 2.11
        ({"cuda": "12.1"}, H100, "9.0"),
        ({"cuda": None, "hip": "6.2"}, {**MI210, "gcnArchName": "gfx90a:sramecc+:xnack-"}, "gfx90a"),
        ({"cuda": None, "hip": "5.0"}, MI210, "9.0"),
    ],
)
def test_the_architecture_of_a_card(build: dict[str, Any], properties: dict[str, Any], wanted: str) -> None:
    cuda = SimpleNamespace(get_device_properties=lambda at: SimpleNamespace(**properties))
    found = probe._probe_device(SimpleNamespace(version=SimpleNamespace(**build), cuda=cuda), 0)
    assert found == {"name": properties["name"], "capability": wanted, "memory": properties["total_memory"]}


def test_what_an_image_says_of_itself_overrides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_VERSION", "2.28.3-1")
    monkeypatch.setenv("NCCL_P2P_DISABLE", "1")
    found = probe.probe_environment()["variables"]
    assert found["NCCL_P2P_DISABLE"] == "1"
    assert "NCCL_VERSION" not in found
