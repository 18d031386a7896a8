"""What verify says to do: for the platform that was asked for, and no other."""

from __future__ import annotations

import io

import pytest

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.load import load
from ddp_codemod.health import Trial, TrialResult, VerifiedSite
from ddp_codemod.machine.diagnose import diagnose
from ddp_codemod.machine.trial_cures import fit_to_platform, list_machine_hints, works_on
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.trials import format_site

KNOWN = load_diagnostics()
PLATFORMS = load().platforms
NO_NCCL = "RuntimeError: Distributed package doesn't have NCCL built in"
NO_DEVICE = "RuntimeError: makeDeviceForHostname(): unsupported gloo device"


def failed(platform: str, backend: str, error: str, plugin: str | None = None) -> TrialResult:
    hints = list_machine_hints(PLATFORMS[platform], KNOWN.hints)
    (lead, *_) = diagnose(io.BytesIO(error.encode()), KNOWN, hints=hints).diagnoses
    tried = TrialResult("spawn", 2, "failed", error=error, diagnosis=lead)
    return fit_to_platform(tried, Trial(backend, None, plugin=plugin), PLATFORMS[platform], PLATFORMS)


def platforms_of(tried: TrialResult) -> list[str]:
    assert tried.diagnosis is not None
    return [cure.platform for cure in tried.diagnosis.cures if cure.platform]


@pytest.mark.parametrize("platform", ["ascend", "mlu", "rocm", "windows", "macos", "cpu", "xpu"])
def test_a_backend_that_the_platform_lacks_leads_to_its_own_port(platform: str) -> None:
    tried = failed(platform, "nccl", NO_NCCL)
    assert platforms_of(tried)[0] == platform
    assert tried.diagnosis is not None
    assert tried.diagnosis.cures[0].unsafe == (platform in ("ascend", "mlu", "xpu"))
    others = {"ascend", "mlu", "rocm", "rocm-windows", "cpu", "macos", "xpu"} - {platform}
    if platform != "windows":  # one with an AMD card is a Windows machine too
        assert others.isdisjoint(platforms_of(tried))


def test_a_backend_that_works_there_keeps_the_cures_for_the_machine() -> None:
    assert platforms_of(failed("windows", "gloo", NO_DEVICE)) == ["single-gpu"]
    assert "single-gpu" not in platforms_of(failed("ascend", "gloo", NO_DEVICE))


def test_a_composite_works_where_each_part_does() -> None:
    assert works_on("cpu:gloo,npu:hccl", PLATFORMS["ascend"])
    assert not works_on("cpu:gloo,cuda:nccl", PLATFORMS["ascend"])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_package_that_is_missing_is_named(lang: str) -> None:
    tried = failed("ascend", "hccl", "ModuleNotFoundError: No module named 'torch_npu'", "torch_npu")
    said = "\n".join(format_site(VerifiedSite("a.py", 1, "torch", None, (tried,)), "a.py:1", lang, Ink(False), lambda cure: None))
    assert "ddp-codemod doctor --platform ascend" in said
    other = failed("ascend", "hccl", "ModuleNotFoundError: No module named 'yaml'", "torch_npu")
    assert other.advice is None
