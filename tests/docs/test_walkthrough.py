"""The recorded walk-through is what happens when one walks it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("git"), reason="its commands are a POSIX shell's")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("walkthrough", DOCS / "walkthrough.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_what_happens(script: ModuleType, lang: str) -> None:
    recorded = script.FILES[lang].read_text("utf-8")
    assert script.walk(lang) == recorded, "make docs writes it again"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_leads_from_the_error_to_a_pull_request_and_back(script: ModuleType, lang: str) -> None:
    recorded = script.FILES[lang].read_text("utf-8")
    places = [
        recorded.find(step) for step in ("nccl-internal-error", "1 file changed", "Ddp-Codemod-Command: ", "- [ ] ", "## main")
    ]
    assert -1 not in places
    assert places == sorted(places)


def test_both_languages_take_the_same_steps(script: ModuleType) -> None:
    typed = [re.findall(r"^    \$ (.*)$", file.read_text("utf-8"), re.M) for file in script.FILES.values()]
    assert typed[0] == [line.removesuffix(" --lang zh") for line in typed[1]]
    assert len(typed[0]) == len(script.STEPS)
