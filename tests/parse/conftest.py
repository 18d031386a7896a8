from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.model import Source
from ddp_codemod.parse.config import Document, parse_config


@pytest.fixture(scope="session")
def document() -> Callable[[str, str], Document]:
    """A parsed document from a file name and its text."""

    def parse(name: str, text: str) -> Document:
        parsed = parse_config(Source(Path(name), name, text.encode("utf-8"), text, "utf-8"))
        assert isinstance(parsed, Document)
        for entry in parsed.entries:
            assert parsed.text(entry) == text[entry.start : entry.end] != ""
        return parsed

    return parse
