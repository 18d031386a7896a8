"""The cache of rule data: never what the files do not say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ddp_codemod.catalog import load as loading
from ddp_codemod.catalog.files import RuleError
from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.toml_cache import KEPT
from ddp_codemod.user_cache import find_cache_folder

SURFACE = """framework = 'MyCorp'
[[surface]]
id = "mycorp.start"
names = ["mycorp.dist.start"]
source = ["https://mycorp.example"]
[[surface.parameters]]
name = "{name}"
role = "backend"
position = 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    (tmp_path / "own" / "surfaces").mkdir(parents=True)
    return tmp_path / "own"


def load(folder: Path) -> Rules:
    loading._load.cache_clear()  # as another process
    try:
        return loading.load((folder,))
    finally:
        loading._load.cache_clear()


def write(folder: Path, name: str) -> None:
    (folder / "surfaces" / "own.toml").write_text(SURFACE.replace("{name}", name), "utf-8")


def parameter(rules: Rules) -> str:
    return rules.surfaces["mycorp.start"].parameters[0].name


def test_the_second_reading_gives_the_same_and_reads_no_toml(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "backend")
    first = load(folder)
    monkeypatch.setattr(loading, "_read", lambda extra: pytest.fail("read again"))
    assert load(folder) == first


def test_a_changed_file_is_read_again(folder: Path) -> None:
    write(folder, "backend")
    load(folder)
    write(folder, "transport")
    assert parameter(load(folder)) == "transport"


def test_a_file_of_the_same_size_is_read_again(folder: Path) -> None:
    write(folder, "backend")
    load(folder)
    write(folder, "dnekcab")
    os.utime(folder / "surfaces" / "own.toml", ns=(1, 1))
    assert parameter(load(folder)) == "dnekcab"


def test_a_file_that_turned_bad_is_an_error_still(folder: Path) -> None:
    write(folder, "backend")
    load(folder)
    (folder / "surfaces" / "own.toml").write_text("[[surface]\n", "utf-8")
    with pytest.raises(RuleError, match=r"own\.toml:1"):
        load(folder)


@pytest.mark.parametrize("damage", [b"", b"\0", b"not msgpack", None])
def test_a_damaged_cache_is_made_again(folder: Path, damage: bytes | None) -> None:
    write(folder, "backend")
    load(folder)
    (made,) = find_cache_folder().glob("rules-*")
    whole = made.read_bytes()
    made.write_bytes(whole[:-7] if damage is None else damage)
    assert parameter(load(folder)) == "backend"
    assert made.read_bytes() == whole


def test_a_cache_that_lies_about_types_is_not_believed(folder: Path) -> None:
    write(folder, "backend")
    load(folder)
    (made,) = find_cache_folder().glob("rules-*")
    stamp, _, _ = made.read_bytes().partition(b"\0")
    made.write_bytes(stamp + b"\0\x81\xa8surfaces\x01")  # {"surfaces": 1}
    assert parameter(load(folder)) == "backend"


def test_where_nothing_can_be_kept_rules_are_read_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "file"))
    monkeypatch.setenv("LOCALAPPDATA", str(folder / "file"))
    write(folder, "backend")
    assert parameter(load(folder)) == "backend"
    assert parameter(load(folder)) == "backend"


def test_what_was_kept_of_folders_long_gone_goes(folder: Path) -> None:
    find_cache_folder().mkdir(parents=True)
    for number in range(40):
        old = find_cache_folder() / f"rules-{number}.msgpack"
        old.write_bytes(b"old")
        os.utime(old, ns=(number, number))
    write(folder, "backend")
    load(folder)
    assert len(list(find_cache_folder().iterdir())) == KEPT
    assert parameter(load(folder)) == "backend"
