"""The table by which people find their platform: card, system, build of torch, id. ``doctor`` and a page of docs show the same."""

from __future__ import annotations

from collections.abc import Mapping

from ddp_codemod.catalog.model import Platform
from ddp_codemod.messages import text


def column_titles(lang: str) -> tuple[str, ...]:
    """What the columns are called."""
    return tuple(text("machines-heads", lang).split(" | "))


def table_rows(platforms: Mapping[str, Platform], lang: str) -> list[tuple[str, str, str, str]]:
    """A row for each kind of machine, in the order in which people look for them."""
    found = sorted(
        ((cards.order, ident, cards) for ident, one in platforms.items() for cards in one.machine.cards), key=lambda row: row[:2]
    )
    comma = text("machines-comma", lang)
    return [
        (
            comma.join(cards.names_zh if lang == "zh" else cards.names),
            comma.join(text(f"machines-on-{name}", lang) for name in platforms[ident].machine.systems),
            cards.torch_zh if lang == "zh" else cards.torch,
            ident,
        )
        for _, ident, cards in found
    ]
