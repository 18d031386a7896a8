"""A clone holds every file that a survey of it would read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from ddp_codemod.discover.kinds import LAUNCHERS, PROGRAMS
from ddp_codemod.fleet.keys import PATTERNS
from ddp_codemod.parse.requirements import may_state_versions

SPEC = GitIgnoreSpec.from_lines(PATTERNS)
WORDS = st.sampled_from(
    ["requirements", "requirement", "dev", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "setup.cfg", "setup.py",
     "pyproject.toml", "environment", "conda", "env", ".txt", ".in", ".yml", ".yaml", "-", "/", "a"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5).map("".join))
def test_files_that_state_versions_are_checked_out(name: str) -> None:
    if may_state_versions(name.strip("/")):
        assert SPEC.match_file(name.strip("/"))


@pytest.mark.parametrize("suffix", [*PROGRAMS, *LAUNCHERS])
def test_files_that_are_read_are_checked_out(suffix: str) -> None:
    assert SPEC.match_file(f"a/b{suffix}")


@pytest.mark.parametrize("name", ["weights.bin", "page.html", "a/b.txt", "data/x.in", "image.png", "model.safetensors"])
def test_other_files_are_not(name: str) -> None:
    assert not SPEC.match_file(name)
