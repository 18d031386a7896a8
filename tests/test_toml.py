"""A TOML text of a stranger's project takes neither minutes nor gigabytes, and one that is refused is refused with a reason."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ddp_codemod import toml
from ddp_codemod.discover.config import ConfigError, read

TABLE = '[tool.ddp-codemod]\nplatform = "rocm"\n[tool.other]\n'
# the second key holds what other readers take for the end of a line
BOMBS = {
    "one key": "a" + ".a" * 20_000 + " = 1\n",
    "quoted key": ".".join(['"\u2028"', "a", "a"] * 7_000) + " = 1\n",
    "inline table": "a = {b" + ".b" * 20_000 + " = 1}\n",
    "many keys": "".join(f"a{i}{'.a' * 900} = 1\n" for i in range(300)),
    "header": "[a" + ".a" * 20_000 + "]\n" + "".join(f"k{i} = 1\n" for i in range(5_000)),
    "size": "#" * 1_000_001,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_keys_of_too_many_parts_are_refused_before_they_are_read(bomb: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE + bomb, "utf-8")
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError) as refused:
            read(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000  # 20 of them to read any file
    finally:
        tracemalloc.stop()
    assert refused.value.reason.key == "config-too-much"


@pytest.mark.parametrize("text", ["a = " + "9" * 5_000, "a = " + "[" * 5_000, "a = \n"], ids=["number", "brackets", "no value"])
def test_what_the_reader_gives_up_on_is_no_traceback(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{TABLE}{text}\n", "utf-8")
    with pytest.raises(ConfigError) as refused:
        read(tmp_path)
    assert refused.value.reason.key == "config-not-toml"


@pytest.mark.parametrize(
    "text",
    [
        "dependencies = [" + ", ".join(f'"package{i}>={i}.1.2"' for i in range(300)) + "]\n",
        "".join(f"[tool.a.b.c{i}]\nd.e.f = 1.5\n" for i in range(3_000)),
        "".join(f'k{i} = "https://a.b.c/d.e"\n' for i in range(10_000)),
    ],
    ids=["one line", "tables", "addresses"],
)
def test_large_files_of_real_projects_are_read(text: str) -> None:
    assert toml.loads(text)
