"""Links that lead out of the root and that the project's code goes through: nothing behind them is opened, so a report names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.discover.listing import Listing
from ddp_codemod.model import Reason, Skipped
from ddp_codemod.sites.file_texts import FileTexts


def find_outside_links(listing: Listing, bounds: Bounds, texts: FileTexts, read: Callable[[Path], bytes]) -> Iterator[Skipped]:
    """The linked programs, and the linked folders that a program imports from or a launch script starts one from."""
    yield from (Skipped(name, Reason.of("skipped-outside"), candidate=False) for name in listing.outside)
    for link in listing.outside_folders:
        word = PurePosixPath(link).name
        if not word.isidentifier() or bounds.excludes(link):
            continue
        imported = re.compile(rb"^[ \t]*(?:from|import)[ \t]+" + word.encode() + rb"\b", re.M)
        started = re.compile(rb"(?<![\w./-])(?:\./)?" + word.encode() + rb"/[\w./-]*\.py\b|-m[ \t]+" + word.encode() + rb"[.\s]")
        programs = ((name, texts.data(name)) for name in sorted(texts.naming({word})) if bounds.admits(name))
        scripts = ((path.relative_to(listing.root).as_posix(), read(path)) for path in listing.launchers)
        users = [name for name, data in programs if imported.search(data)]
        users += [name for name, data in scripts if bounds.covers(name) and started.search(data)]
        if users:
            yield Skipped(link, Reason.of("skipped-outside-folder", user=users[0]), candidate=False)
