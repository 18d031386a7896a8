"""Published packages, fetched and pinned as for ``make ecosystem``; nothing in them is run."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from proofs.proof import REPOSITORY, Trial
from proofs.surveyed import Changed, changed

PLATFORMS = ("rocm", "windows", "ascend")


def packages(trial: Trial) -> Iterator[tuple[str, list[Changed]]]:
    """Each package under each platform, and what changes in it; none in a slice. One that cannot be fetched is counted."""
    for name, folder in unpacked(trial):
        for platform in PLATFORMS:
            found = changes(name, folder, platform)
            trial.counts["package edits"] += sum(len(one.edits) for one in found)
            yield f"{name} {platform} ", found


_CHANGES: dict[tuple[str, str], list[Changed]] = {}  # several proofs of one run ask for the same


def changes(name: str, folder: Path, platform: str) -> list[Changed]:
    """What a run would change in a package as it was published."""
    if (name, platform) not in _CHANGES:
        _CHANGES[name, platform] = list(changed(folder, platform))
    return _CHANGES[name, platform]


def unpacked(trial: Trial) -> Iterator[tuple[str, Path]]:
    """(name, folder) of each package that could be fetched."""
    if not trial.whole:
        return
    import msgspec

    ecosystem = _ecosystem()
    for pin in sorted(msgspec.toml.decode(ecosystem.COUNTS.read_bytes())):
        try:
            archive = ecosystem.wheel(pin)
        except ecosystem.Unfetched:
            trial.counts["packages not fetched"] += 1
            continue
        folder = trial.folder / pin
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        trial.counts["packages"] += 1
        yield pin, folder


def _ecosystem() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ecosystem", REPOSITORY / "tests" / "ecosystem" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["ecosystem"] = module
    spec.loader.exec_module(module)
    return module
