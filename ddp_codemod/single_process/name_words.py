"""The words that names are made of."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=20_000)
def split_words(name: str) -> frozenset[str]:
    """``use_ddp``, ``DistributedItemSampler``: the words of a name, in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(name))
