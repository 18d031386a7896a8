"""What a reader sees of real projects holds values, and none of the names that stand for them in a message."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ddp_codemod.cli import main

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PROJECTS = sorted(path for path in FIXTURES.glob("*/project/*") if path.is_dir())
TRAINS = """import torch
import torch.distributed as dist

dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).cuda())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(3, 2).to("cuda")).sum().backward()
opt.step()
"""
PLACEHOLDER = re.compile(r"\{[a-z_]+(?:\|[^{}]*)?\}")
STAND_INS = ("a value that is not known", "an unknown value", "不确定的值", "无法追溯到的值", " ? ")


@pytest.fixture(params=[*PROJECTS, None], ids=lambda path: path.name if path else "devices")
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CI", raising=False)
    at = tmp_path / "project"
    if request.param is None:
        at.mkdir()
        (at / "train.py").write_text(TRAINS)
    else:
        shutil.copytree(request.param, at)
    (at / "pyproject.toml").touch()
    monkeypatch.chdir(at)
    return at


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("platform", ["rocm", "cpu", "single-gpu"])
def test_no_stand_in_for_a_value_reaches_a_reader(
    project: Path, platform: str, lang: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "\n".join(path.read_text("utf-8", "replace") for path in project.rglob("*") if path.is_file())
    options = ("--platform", platform, "--lang", lang, "--color", "never")
    said = _said(capfd, "scan", ".", *options)
    sites = sorted(set(re.findall(r"^(\S+\.\w+:\d+):\d+: ", said, re.M)))
    said += _said(capfd, "diff", ".", *options) + _said(capfd, "check", ".", "-v", *options)
    said += "".join(_said(capfd, "explain", site, *options) for site in sites[:12])
    unasked = {found for found in PLACEHOLDER.findall(said) if found not in code}
    assert not unasked
    open_sites = sum(
        "?" in site["resolves_to"] for site in json.loads(_said(capfd, "scan", ".", *options, "--format", "json"))["sites"]
    )
    wrong = [line for line in said.splitlines() if any(word in line for word in STAND_INS) and line.strip() not in code]
    assert not wrong or open_sites, wrong


def _said(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    capfd.readouterr()
    main(words)
    out, err = capfd.readouterr()
    return out + err
