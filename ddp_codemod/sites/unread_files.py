"""The files under a root that a run could not read, or did not: each is named, and counts where it could hold what is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.discover.file_digests import MAX_BYTES
from ddp_codemod.discover.files import content
from ddp_codemod.discover.kinds import GUIDES
from ddp_codemod.discover.listing import Listing
from ddp_codemod.discover.submodules import find_absent_submodules
from ddp_codemod.model import Reason, Skipped
from ddp_codemod.parse import grammar, shell

_TEXT = (".yaml", ".yml")  # JSON, TOML and INI of that size are data as a rule, and named only for what they hold


def find_unread_files(
    listing: Listing,
    bounds: Bounds,
    lost: Mapping[str, Reason],
    unfit: Mapping[str, Skipped],
    wrong: Callable[[bytes], bool],
    mentions: Callable[[str], bool],
) -> Iterator[Skipped]:
    """What could not be read, what is too large, what is not text, and submodules that are not here.

    ``lost``: files that could be listed and not read; ``unfit``: files that a reader was asked for and that are not of their kind;
    ``wrong``: whether bytes hold a name that does not work on the platform; ``mentions``: whether Python code that is read holds a name.
    """
    for name, why in {**listing.unread, **lost}.items():
        yield Skipped(name, why, bounds.admits(name))
    for name in bounds.named:
        if _file_size(listing.root / name) > MAX_BYTES:
            yield Skipped(name, _explain_too_large(MAX_BYTES))
    for paths, limit in ((listing.configs, grammar.MAX_BYTES), (listing.launchers, shell.MAX_BYTES)):
        for path in paths:
            name = path.relative_to(listing.root).as_posix()
            if path.suffix not in GUIDES and name not in listing.unread and _file_size(path) > limit and bounds.covers(name):
                data = content(path, listing.root)
                # of what is larger than anything that is read only the size is known
                counts = name in bounds.named or (wrong(data) if isinstance(data, bytes) else path.suffix in _TEXT)
                if counts or paths is listing.launchers or path.suffix in _TEXT:
                    yield Skipped(name, _explain_too_large(limit), counts)
    for name in find_absent_submodules(listing.root):
        if bounds.covers(name) and mentions(name.rpartition("/")[2]):
            yield Skipped(name, Reason.of("skipped-submodule"))
    for name, skipped in unfit.items():
        data = content(listing.root / name, listing.root)
        if isinstance(data, bytes) and (name in bounds.named or wrong(data)):
            yield skipped


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _explain_too_large(limit: int) -> Reason:
    return Reason.of("skipped-too-large", limit=f"{limit / 1_000_000:g}")
