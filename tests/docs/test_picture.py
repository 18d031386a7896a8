"""The terminal of the READMEs is drawn from what the tool prints, as text that can be selected."""

from __future__ import annotations

import shutil
import sys
from xml.etree import ElementTree

import picture
import pytest
from session import TOP, session

posix = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("git"), reason="the commands are a POSIX shell's")
each_language = pytest.mark.parametrize("lang", picture.FILES)


@posix
@each_language
def test_it_shows_what_is_printed(lang: str) -> None:
    kept = picture.FILES[lang].read_text("utf-8")
    assert picture.drawn(lang) == kept, "stale: run make docs"
    with session(lang) as started:
        started.bring(picture.PROJECT, "TTS")
        printed = started.run(picture.COMMAND)[1].split("\n")
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(kept).iter() if text.tag.endswith("}text")]
    assert len(texts) > 20
    assert [text for text in texts if text not in printed] == [f"$ {picture.COMMAND}", picture.CUT]


@each_language
def test_it_is_plain_and_fits_dark_pages(lang: str) -> None:
    kept = picture.FILES[lang].read_text("utf-8")
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(kept).iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "circle", "text", "tspan"}
    assert "prefers-color-scheme: dark" in kept
    assert f"]({picture.FILES[lang].relative_to(TOP).as_posix()})" in (
        TOP / ("README.md" if lang == "en" else "README.zh-CN.md")
    ).read_text("utf-8")


def test_the_head_and_the_last_patch_are_kept() -> None:
    lines = ["written", "done", "", "why", "", "steps", "", "diff --git a", "-1", "\x1b[1mdiff --git b", "+2"]
    assert list(picture.shortened(lines)) == ["written", "done", "", "why", "", "...", "\x1b[1mdiff --git b", "+2"]
