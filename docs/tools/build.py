"""Brings everything in docs/ up to date: ``make docs``, or python docs/tools/build.py; with --check it only tells what is stale.

Run it after a change of rule data, of options, or of what the program prints. The result is the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(DOCS), str(DOCS / "tools")]

import generated  # noqa: E402
import pages  # noqa: E402
import picture  # noqa: E402

READMES = (DOCS.parent / "README.md", DOCS.parent / "README.zh-CN.md")
COMMANDS = DOCS / "commands"


def written_by_hand() -> list[Path]:
    """The pages whose commands are run, in order; the walk-through is a script of its own."""
    apart = {path.name for path in DOCS.glob("walkthrough*.md")}
    return sorted(path for path in DOCS.rglob("*.md") if path.name not in apart)


def wanted(path: Path) -> str:
    """A page as it has to be."""
    return pages.brought(path, generated.make)[0]


def everything() -> Iterator[tuple[Path, str]]:
    """All files that are made, with their text."""
    for path in (*READMES, *written_by_hand()):
        yield path, wanted(path)
    for lang, path in picture.FILES.items():
        yield path, picture.drawn(lang)


def main(check: bool) -> int:
    """Write what is stale, or name it."""
    if not check:
        import walkthrough

        walkthrough.write()
        COMMANDS.mkdir(exist_ok=True)
        for name in generated.known():
            if not (COMMANDS / f"{name}.md").exists():
                (COMMANDS / f"{name}.md").write_text(generated.page_of(name), "utf-8")
    stale = 0
    for path, text in everything():
        if not path.exists() or path.read_text("utf-8") != text:
            stale += 1
            print(path.relative_to(DOCS.parent))
            if not check:
                path.write_text(text, "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
