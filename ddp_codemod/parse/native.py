"""C, C++ and CUDA as far as a survey looks at them: where functions are called or looked up by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ddp_codemod.model import Source

# a text is skipped so that what it holds begins no comment
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.S)
_CALLED = r"(?:[=(,;{{}}!?:&|]|\breturn)\s*(?:\w+::)*({names})\s*\(|\"({names})\""  # what a type is before is declared


def find_native_calls(source: Source, names: Collection[str]) -> Iterator[tuple[str, int, int]]:
    """The names that are called, or that a text is, and where they are."""
    text = _COMMENT.sub(lambda found: found[1] or " " * len(found[0]), source.text)
    for found in re.finditer(_CALLED.format(names="|".join(map(re.escape, names))), text):
        part = 1 if found[1] else 2
        yield found[part], found.start(part), found.end(part)
