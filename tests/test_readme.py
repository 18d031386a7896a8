"""What the READMEs show is what the tool does."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import click
import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli.app import app

TOP = Path(__file__).parents[1]
READMES = {"en": TOP / "README.md", "zh": TOP / "README.zh-CN.md"}
each_readme = pytest.mark.parametrize("lang", READMES)


def commands(lang: str) -> list[str]:
    return re.findall(r"ddp-codemod ([a-z]+[^`\n#|;]*)", READMES[lang].read_text("utf-8"))


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
def test_it_is_short(lang: str) -> None:
    assert len(READMES[lang].read_text("utf-8").splitlines()) <= 100
