"""What a list may say, and what is said about a line that it may not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.fleet.listing import Listing, Reader
from ddp_codemod.fleet.model import Entry

PLATFORMS, FIXES = {"rocm", "windows"}, {"nccl-debug"}


def read(*lines: str, base: Path = Path("/"), platform: str | None = "rocm") -> Listing:
    return Reader(base, Entry("", platform or ""), PLATFORMS, FIXES).read(lines)


def only(line: str) -> Entry:
    listing = read(line)
    assert not listing.wrong
    (entry,) = listing.entries
    return entry


@pytest.mark.parametrize(
    "line",
    [
        "https://example.org/a/b.git",
        "http://example.org/a/b",
        "ssh://git@example.org:22/a/b",
        "git@example.org:a/b.git",
        "file:///srv/a.git",
        "/srv/a.bundle",
    ],
)
def test_a_place_stays_as_it_is(line: str) -> None:
    assert only(line).repository == line


def test_relative_paths_start_at_the_list(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert read("a", base=tmp_path).entries[0].repository == str(tmp_path / "a")


def test_a_line_of_json_says_more() -> None:
    said = '{"repository": "https://e.org/a", "platform": "windows", "ref": "v1.0", "rules": ["nccl-debug"]}'
    assert only(said) == Entry("https://e.org/a", "windows", "v1.0", ("nccl-debug",), 1)


def test_a_line_says_how_to_port_or_else_the_command_does() -> None:
    said = '{"repository": "https://e.org/b", "style": "pin", "env_in": "python", "torch_version": "2.1", "unsafe": false, "rules": []}'
    default = Entry("", "rocm", None, ("nccl-debug",), style="portable", env_in="shell", torch_version="2.4", unsafe=True)
    listing = Reader(Path("/"), default, PLATFORMS, FIXES).read(["https://e.org/a", said])
    assert listing.wrong == ()
    assert listing.entries == (
        replace(default, repository="https://e.org/a", line=1),
        Entry("https://e.org/b", "rocm", None, ("nccl-debug",), 2, torch_version="2.1"),
    )


def test_a_repository_is_done_once_for_each_way_of_porting() -> None:
    listing = read(
        "https://e.org/a",
        '{"repository": "https://e.org/a", "style": "portable"}',
        '{"repository": "https://e.org/a", "style": "pin"}',
    )
    assert [entry.style for entry in listing.entries] == ["pin", "portable"]
    assert listing.repeated == 1


def test_comments_blank_lines_and_windows_line_ends_are_passed_over() -> None:
    listing = read("\ufeff# all of ours\r\n", "\r\n", "   ", "https://e.org/a\r\n")
    assert [(entry.repository, entry.line) for entry in listing.entries] == [("https://e.org/a", 4)]


def test_a_repository_is_done_once_for_each_platform() -> None:
    listing = read("https://e.org/a", "https://e.org/a", '{"repository": "https://e.org/a", "platform": "windows"}')
    assert len(listing.entries) == 2
    assert listing.repeated == 1


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("ext::sh -c touch% /tmp/x", "fleet-list-refused"),
        ("fd::7", "fleet-list-refused"),
        ("git-remote-foo::https://e.org", "fleet-list-refused"),
        ("--upload-pack=touch x", "fleet-list-refused"),
        ("-u", "fleet-list-refused"),
        ("ssh://-oProxyCommand=touch/x", "fleet-list-refused"),
        ("ssh://a@-oProxyCommand=touch/x", "fleet-list-refused"),
        ("git://e.org/a", "fleet-list-scheme"),
        ("ftp://e.org/a", "fleet-list-scheme"),
        ("https://", "fleet-list-empty"),
        ("{", "fleet-list-json"),
        pytest.param("[" * 100_000, "fleet-list-long", id="nothing but brackets"),
        ('{"repository": 1}', "fleet-list-type"),
        ('{"repository": "https://e.org/a", "rules": "nccl-debug"}', "fleet-list-type"),
        ('{"repository": "https://e.org/a", "rules": [1]}', "fleet-list-type"),
        ('{"repo": "https://e.org/a"}', "fleet-list-key"),
        ('{"platform": "rocm"}', "fleet-list-empty"),
        ('{"repository": "https://e.org/a", "platform": "rocn"}', "fleet-list-unknown"),
        ('{"repository": "https://e.org/a", "rules": ["nccl-debugg"]}', "fleet-list-unknown"),
        ('{"repository": "https://e.org/a", "style": "portabel"}', "fleet-list-unknown"),
        ('{"repository": "https://e.org/a", "env_in": "yaml"}', "fleet-list-unknown"),
        ('{"repository": "https://e.org/a", "env-in": "shell"}', "fleet-list-key"),
        ('{"repository": "https://e.org/a", "unsafe": "yes"}', "fleet-list-type"),
        ('{"repository": "https://e.org/a", "unsafe": 1}', "fleet-list-type"),
        ('{"repository": "https://e.org/a", "torch_version": 2.4}', "fleet-list-type"),
        ('{"repository": "https://e.org/a", "torch_version": "newest"}', "fleet-list-version"),
        ('{"repository": "https://e.org/a", "ref": "-x"}', "fleet-list-ref"),
        ('{"repository": "https://e.org/a", "ref": "a b"}', "fleet-list-ref"),
        ('{"repository": "https://e.org/a", "ref": "a..b"}', "fleet-list-ref"),
        ('{"repository": "https://e.org/a", "ref": "a:b"}', "fleet-list-ref"),
    ],
)
def test_a_wrong_line_is_named(line: str, key: str) -> None:
    listing = read("https://e.org/fine", line)
    assert [(wrong.line, wrong.reason.key) for wrong in listing.wrong] == [(2, key)]


def test_a_path_that_is_not_there_is_an_entry_like_others(tmp_path: Path) -> None:
    assert read("gone", base=tmp_path).wrong == ()  # it fails by itself, and stops none of the others


def test_json_that_nests_without_end_is_a_wrong_line(tmp_path: Path) -> None:
    nested = '{"rules": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert [(one.line, one.reason.key) for one in read("a", nested, base=tmp_path).wrong] == [(2, "fleet-list-json")]


def test_a_line_without_a_platform_is_wrong_where_the_command_names_none() -> None:
    listing = read("https://e.org/a", '{"repository": "https://e.org/b", "platform": "rocm"}', platform=None)
    assert [(wrong.line, wrong.reason.key) for wrong in listing.wrong] == [(1, "fleet-list-no-platform")]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text() | st.dictionaries(st.text(), st.none() | st.text() | st.integers()).map(repr), max_size=3))
def test_no_line_breaks_the_reader_or_passes_for_an_option(lines: list[str]) -> None:
    for entry in read(*lines).entries:
        assert not entry.repository.startswith("-")
        assert entry.repository.startswith("/") or "::" not in entry.repository.split("/")[0]
        assert not (entry.ref or "").startswith("-")


@settings(max_examples=40, deadline=None)
@given(st.none() | st.integers() | st.text() | st.lists(st.text() | st.none()) | st.dictionaries(st.text(), st.booleans()))
def test_no_json_breaks_the_reader(value: object) -> None:
    listing = read(json.dumps({"repository": value}), json.dumps({"repository": "https://e.org/a", "rules": value}))
    assert len(listing.entries) + len(listing.wrong) + listing.repeated == 2
