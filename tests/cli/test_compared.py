"""What the rule data says of how new it is comes from its own files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ddp_codemod.catalog.load import load


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_rules_list_names_the_newest_releases_that_it_was_compared_with(run: Callable[..., Any], lang: str) -> None:
    newest = load().packages["torch"].newest
    assert [line for line in run("rules", "list", "--lang", lang).out.splitlines() if f"torch {newest}" in line]
