"""What docs/ shows is what happens: every command is typed again, every generated part is made again."""

from __future__ import annotations

import os
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import build
import click
import generated
import pages
import pytest
import reference

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.load import load
from ddp_codemod.discover.config import KEYS

COMMANDS = generated.known()
DOCS, TOP = build.DOCS, build.DOCS.parent
STALE = "stale: run make docs"
posix = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("git"), reason="the commands are a POSIX shell's")
# on these a process group is made for real
NEED_TORCH = {"agents.md", "agents.zh-CN.md", "commands/verify.md"}
ALL = sorted({*build.READMES, *build.written_by_hand(), *DOCS.glob("*.md")})


def name(path: Path) -> str:
    return os.path.relpath(path, DOCS).replace(os.sep, "/")


def run_for_real(path: Path) -> object:
    marks = [pytest.mark.torch] if name(path) in NEED_TORCH else []
    return pytest.param(path, id=name(path), marks=marks)


@posix
@pytest.mark.parametrize("path", [run_for_real(path) for path in (*build.READMES, *build.written_by_hand())])
def test_every_command_gives_what_is_shown(path: Path) -> None:
    assert build.wanted(path) == path.read_text("utf-8"), STALE


def test_the_reference_names_every_entry() -> None:
    said = {path.stem: text for path, text in reference.files(Path()).items()}
    rules, known = load(), load_diagnostics()
    for kind, entries in (
        ("platforms", rules.platforms),
        ("surfaces", rules.surfaces),
        ("rules", rules.fixes),
        ("diagnostics", known.signatures),
    ):
        for page in (kind, f"{kind}.zh-CN"):
            assert [ident for ident in entries if f"\n## {ident}\n" not in said[page]] == []
            assert len(re.findall(r"^## ", said[page], re.M)) == len(entries)


SERVERS = {"mcp", "lsp"}  # a program speaks with them; what a person types stands on the pages for agents and editors


def test_a_page_a_command() -> None:
    assert {path.stem for path in build.COMMANDS.glob("*.md")} == set(COMMANDS), STALE
    for command in COMMANDS.values():
        parts = command.commands.values() if isinstance(command, click.Group) else [command]
        said = (build.COMMANDS / f"{command.name}.md").read_text("utf-8")
        assert "```console\n$ " in said or command.name in SERVERS
        for parameter in (parameter for part in parts for parameter in part.params if isinstance(parameter, click.Option)):
            assert f"{parameter.opts[-1]}" in said


def anchors(page: Path) -> set[str]:
    """What a link can name on a page: its headings, as GitHub and mkdocs write them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads} | set(heads)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    said = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", said):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            to = path.parent / file if file else path
            assert to.exists(), target
            assert not anchor or anchor in anchors(to), target


@pytest.mark.parametrize("path", build.written_by_hand(), ids=name)
def test_commands_in_the_text_exist(path: Path) -> None:
    """They are not run, for they hang on a machine or a file of the reader's."""
    for line in re.findall(r"`ddp-codemod ([a-z][^`]*)`", path.read_text("utf-8")):
        first, *words = line.split()
        command = COMMANDS[first]
        if isinstance(command, click.Group):
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} - {"--steps"} <= known, line
        for flag, value in pairwise(words):
            assert flag != "--platform" or value in {*load().platforms, "ID"}, line


@pytest.mark.parametrize("path", build.written_by_hand(), ids=name)
def test_commands_in_blocks_are_run(path: Path) -> None:
    said = path.read_text("utf-8")
    hand = re.sub(r"<!-- begin .*?<!-- end -->", "", re.sub(r"(`{3,})console\n.*?\n\1\n", "", said, flags=re.S), flags=re.S)
    assert re.findall(r"^(?:    )?(?:\$ )?ddp-codemod .*$", hand, re.M) == []


def test_the_readmes_lead_here() -> None:
    for readme, index in (("README.md", "docs/README.md"), ("README.zh-CN.md", "docs/README.zh-CN.md")):
        assert f"({index})" in (TOP / readme).read_text("utf-8")
    index = (DOCS / "README.md").read_text("utf-8")
    assert [path.name for path in DOCS.glob("*.md") if ".zh-CN" not in path.name and f"({path.name})" not in index] == [
        "README.md"
    ]
    assert [command for command in COMMANDS if f"(commands/{command}.md)" not in index] == []


def test_both_languages_of_a_page_type_the_same() -> None:
    for chinese in DOCS.glob("*.zh-CN.md"):
        english = chinese.with_name(chinese.name.replace(".zh-CN", ""))
        typed = [re.findall(r"^\$ (.*?)(?: --lang zh)?$", page.read_text("utf-8"), re.M) for page in (english, chinese)]
        assert typed[0] == typed[1], chinese.name


def test_every_key_of_the_configuration_is_explained() -> None:
    said = (DOCS / "configuration.md").read_text("utf-8")
    block = said.split("```toml", 1)[1].split("```", 1)[0]
    assert [key for key in KEYS if key not in block] == []


def test_the_picture_is_plain() -> None:
    tree = ElementTree.parse(DOCS / "how-it-works.svg")
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert {"title", "desc"} <= tags
    assert not tags & {"script", "image", "foreignObject", "a"}
    assert "prefers-color-scheme" in (DOCS / "how-it-works.svg").read_text("utf-8")


@pytest.fixture
def page(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(*lines: str) -> Path:
        path = tmp_path / "page.md"
        path.write_text("\n".join([*lines, ""]), "utf-8")
        return path

    return write


@posix
def test_what_is_stale_is_written_again(page) -> None:  # type: ignore[no-untyped-def]
    path = page("```text file=a.txt", "one", "two", "```", "```console", "$ cat a.txt", "old", "$ echo x", "```", "end")
    text, typed = pages.brought(path, generated.make)
    assert text.split("```console\n")[1] == "$ cat a.txt\none\ntwo\n$ echo x\nx\n```\nend\n"
    assert typed == ["cat a.txt", "echo x"]


@posix
def test_long_output_is_cut_and_the_exit_is_compared(page) -> None:  # type: ignore[no-untyped-def]
    path = page(
        "<!-- show 1 1 -->",
        "<!-- exit 3 -->",
        "```console",
        "$ seq 5; exit 3",
        "```",
        "<!-- show none -->",
        "```console",
        "$ date",
        "```",
    )
    text = pages.brought(path, generated.make)[0]
    assert "$ seq 5; exit 3\n1\n...\n5\n```\n" in text
    assert text.endswith("$ date\n```\n")
    with pytest.raises(pages.PageError, match="seq 5"):
        pages.brought(page("```console", "$ seq 5; exit 2", "```"), generated.make)


@posix
def test_a_program_of_a_page_that_fails_is_no_output(page) -> None:  # type: ignore[no-untyped-def]
    path = page("```python file=a.py", "raise SystemExit(1)", "```", "```console", "$ python a.py", "```")
    with pytest.raises(pages.PageError, match=r"python a\.py ends with 1"):
        pages.brought(path, generated.make)


@posix
def test_a_page_starts_afresh_where_it_says_so(page) -> None:  # type: ignore[no-untyped-def]
    path = page(
        "```console", "$ touch a; ls", "```", "<!-- project: fixtures/tts-spawn/project T -->", "```console", "$ ls", "```"
    )
    assert pages.brought(path, generated.make)[0].endswith("$ ls\nT\n```\n")


@pytest.mark.parametrize("lines", [("```console", "$ ls"), ("<!-- begin keys -->", "| a |")])
def test_a_block_without_end_is_named(page, lines: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(pages.PageError, match=r"page\.md:1"):
        pages.brought(page(*lines), generated.make)
