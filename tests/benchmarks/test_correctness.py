"""The benchmark counts what tools really make of the projects, ours and others'."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("correctness", "tools", "test_traps"):
        sys.modules.pop(name, None)


def test_a_tool_that_replaces_text_gets_some_right_and_spoils_others() -> None:
    from correctness import score
    from tools import Tool

    code = (
        "import pathlib, sys\nfor path in pathlib.Path(sys.argv[1]).rglob('*.py'):\n"
        "    path.write_bytes(path.read_bytes().replace(b'\"nccl\"', b'\"gloo\"'))\n"
    )
    made = score(Tool("replace", rewrite=lambda tree: [sys.executable, "-c", code, str(tree)]))
    assert 0 < made.right < made.places
    assert 0 < made.spoilt < made.to_stay


def test_a_tool_that_does_nothing_gets_nothing_right_and_spoils_nothing() -> None:
    from correctness import score
    from tools import Tool

    made = score(Tool("nothing", rewrite=lambda tree: [sys.executable, "-c", "pass", str(tree)]))
    assert (made.right, made.spoilt, made.wrong) == (0, 0, 0)
    assert made.places > 100
