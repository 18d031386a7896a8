"""What the READMEs show is what the tool does."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path

import click
import pytest

from ddp_codemod.cli import main
from ddp_codemod.cli.app import app
from ddp_codemod.rules.load import load

TOP = Path(__file__).parents[1]
READMES = {"en": TOP / "README.md", "zh": TOP / "README.zh-CN.md"}
each_readme = pytest.mark.parametrize("lang", READMES)


def commands(lang: str) -> list[str]:
    said = re.sub(r"<!-- begin matrix -->.*?<!-- end matrix -->", "", READMES[lang].read_text("utf-8"), flags=re.S)
    return re.findall(r"ddp-codemod ([a-z]+[^`\n#|;]*)", said)


@each_readme
def test_every_platform_is_named(lang: str) -> None:
    said = READMES[lang].read_text("utf-8")
    assert [ident for ident in load().platforms if f"`{ident}`" not in said] == []


@each_readme
def test_every_command_and_option_exists(lang: str) -> None:
    assert len(commands(lang)) > 10
    for line in commands(lang):
        name, *words = line.split()
        command = app.get_command(click.Context(app), name)
        assert command is not None, line
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, line
        for flag, value in pairwise(words):
            assert flag != "--platform" or value in load().platforms, line
            assert flag != "--rule" or value in load().fixes, line


@each_readme
def test_every_command_is_named(lang: str) -> None:
    said = READMES[lang].read_text("utf-8")
    assert [name for name in app.list_commands(click.Context(app)) if not re.search(rf"`{name}\b", said)] == []


def test_both_show_the_same_commands() -> None:
    def typed(lang: str) -> list[str]:
        return [line for line in commands(lang) if "--" in line and "FILE" not in line and "--lang" not in line]

    assert [line.strip() for line in typed("en")] == [line.strip() for line in typed("zh")]


@each_readme
def test_the_output_shown_is_real(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(TOP / "fixtures/tts-spawn/project", tmp_path / "TTS")
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    block = READMES[lang].read_text("utf-8").split("    $ ddp-codemod ", 1)[1].split("\n\n（" if lang == "zh" else "\n\n(", 1)[0]
    typed, *shown = [line.removeprefix("    ") for line in block.splitlines()]
    assert main([*typed.split(), "--lang", lang]) == 0
    out, err = capfd.readouterr()
    real = (err + out).splitlines()
    at = 0
    for line in shown:
        if line != "...":
            at = real.index(line, at) + 1
