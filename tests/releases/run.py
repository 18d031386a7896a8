"""Compares the rule data with published releases: the names, positions and defaults of what it speaks of, and backends.

``python tests/releases/run.py [--keep] [PIN...]`` (make releases): fetches the wheel of each release and reads it; nothing of it is
installed or run. ``--keep`` writes what was read to kept/, which the tests hold the rule data to without a network. Prints what
differs, and which releases are newer than rules/versions.toml says. Exit codes: 0 all agree, 1 something differs, 3 one is not to be had.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
from packaging.version import Version

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences, wanted
from wheels import Unfetched, facts, fetched

from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.toml import tomllib

HERE = Path(__file__).parent
KEPT = HERE / "kept"


class Explained(msgspec.Struct, forbid_unknown_fields=True):
    """A difference that is right: the sentence, from its start or behind the release, and why."""

    says: str
    why: str


class Releases(msgspec.Struct, forbid_unknown_fields=True):
    """releases.toml"""

    pins: list[str]
    explained: list[Explained] = []


def releases() -> Releases:
    """What is compared."""
    return msgspec.convert(tomllib.loads((HERE / "releases.toml").read_text("utf-8")), Releases)


def unexplained(rules: Rules, read: dict[str, Any], known: list[Explained]) -> list[str]:
    """The differences of one release that nothing explains."""
    found = differences(rules, read)
    return [said for said in found if not any(one.says in said for one in known)]


def read_release(rules: Rules, pin: str) -> dict[str, Any]:
    """What a release has of what the rule data speaks of. Raises Unfetched."""
    package = fetched(pin)
    tops = sorted({module.partition(".")[0] for module in package.sources})
    asked = {name for name in wanted(rules) if name.partition(".")[0] in tops}
    aliases = {name: one.name for one in rules.packages.values() for name in one.names}
    plain = package.name.replace("_", "-").lower()
    read = facts(package, asked)
    return {
        **read,
        "known_as": aliases.get(plain, plain),
        "tops": [top for top in tops if any(name.startswith(f"{top}.") for name in asked)],
    }


def newer(rules: Rules, read: dict[str, Any]) -> str | None:
    """What is said of a release that the rule data does not claim to know yet."""
    package = rules.packages.get(read["known_as"])
    if package is None or not package.newest or Version(read["version"]) <= Version(package.newest):
        return None
    return f"{read['package']} {read['version']} is newer than the rule data ({package.newest}): see what it changed, then set newest"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--keep", action="store_true", help="write what was read to kept/")
    parser.add_argument("pin", nargs="*")
    given = parser.parse_args()
    rules, listed = load(), releases()
    worst = 0
    for pin in given.pin or listed.pins:
        try:
            read = read_release(rules, pin)
        except Unfetched as why:
            print(f"{pin}: not to be had as a wheel: {why}")
            worst = max(worst, 3)
            continue
        if given.keep:
            KEPT.mkdir(exist_ok=True)
            (KEPT / f"{read['package']}-{read['version']}.json").write_text(json.dumps(read, indent=1, sort_keys=True) + "\n")
        said = [*unexplained(rules, read, listed.explained), *filter(None, [newer(rules, read)])]
        print("\n".join(said) or f"{read['package']} {read['version']}: {len(read['names'])} names agree")
        worst = max(worst, 1 if said else 0)
    return worst


if __name__ == "__main__":
    raise SystemExit(main())
