"""The recorded walk-through is what happens when one walks it."""

from __future__ import annotations

import re
import shutil
import sys

import pytest
import walkthrough

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("git"), reason="its commands are a POSIX shell's")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_what_happens(lang: str) -> None:
    recorded = walkthrough.FILES[lang].read_text("utf-8")
    assert walkthrough.walk(lang) == recorded, "make docs writes it again"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_leads_from_the_error_to_a_pull_request_and_back(lang: str) -> None:
    recorded = walkthrough.FILES[lang].read_text("utf-8")
    places = [
        recorded.find(step) for step in ("nccl-internal-error", "1 file changed", "Ddp-Codemod-Command: ", "- [ ] ", "## main")
    ]
    assert -1 not in places
    assert places == sorted(places)


def test_both_languages_take_the_same_steps() -> None:
    typed = [re.findall(r"^    \$ (.*)$", file.read_text("utf-8"), re.M) for file in walkthrough.FILES.values()]
    assert typed[0] == [line.removesuffix(" --lang zh") for line in typed[1]]
    assert len(typed[0]) == len(walkthrough.STEPS)
