"""The rule data against what was read of published releases, without a network (make releases reads them anew)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet
from packaging.version import Version

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences  # type: ignore[import-not-found]
from run import KEPT, newer, releases, unexplained  # type: ignore[import-not-found]

from ddp_codemod.catalog.load import Rules, load

RULES = load()
READ: list[dict[str, Any]] = [json.loads(path.read_text("utf-8")) for path in sorted(KEPT.glob("*.json"))]


def kept(package: str) -> list[Version]:
    """The releases of a package, by the name that conditions know it by, of which something was read."""
    return [Version(read["version"]) for read in READ if read["known_as"] == package]


def conditions(entry: Any) -> Iterator[tuple[str, str]]:
    """Every condition on versions in the rule data: package and specifier."""
    if isinstance(entry, dict):
        for key, value in entry.items():
            if isinstance(value, str) and key in RULES.packages and value[:1] in "<>=!~":
                yield key, value
            yield from conditions(value)
    elif isinstance(entry, (list, tuple)):
        for value in entry:
            yield from conditions(value)
    elif hasattr(entry, "__struct_fields__"):
        yield from conditions({name: getattr(entry, name) for name in entry.__struct_fields__})


@pytest.mark.parametrize("read", READ, ids=lambda read: f"{read['package']}-{read['version']}")
def test_a_release_agrees_with_the_rule_data(read: dict[str, Any]) -> None:
    assert unexplained(RULES, read, releases().explained) == []


def test_every_release_that_is_listed_by_its_version_was_read() -> None:
    pins = {pin for pin in releases().pins if "==" in pin}
    assert pins <= {f"{read['package'].replace('_', '-')}=={read['version']}" for read in READ}


def test_the_rule_data_is_as_new_as_it_claims() -> None:
    claims = {name: Version(package.newest) for name, package in RULES.packages.items() if package.newest}
    assert RULES.packages.keys() - claims.keys() == {
        "catalyst",
        "colossalai",
        "hydra",
    }  # without a wheel (releases.toml); of Hydra no release is read
    assert claims["torch"] >= Version("2.15.0")
    assert claims == {name: max(kept(name)) for name in claims}


def test_no_condition_speaks_of_a_release_that_nobody_compared() -> None:
    wheels = {name for name, package in RULES.packages.items() if package.newest}
    named = [(package, part) for package, text in conditions(vars_of(RULES)) for part in SpecifierSet(text) if package in wheels]
    assert len(named) > 50
    for package, part in named:
        version = Version(part.version.removesuffix(".*"))
        assert version <= Version(RULES.packages[package].newest), (package, str(part))


def vars_of(rules: Rules) -> dict[str, Any]:
    return {name: getattr(rules, name) for name in rules.__struct_fields__}


def test_a_newer_release_is_named() -> None:
    read = next(read for read in READ if read["known_as"] == "torch")
    assert newer(RULES, {**read, "version": "99.1"})
    assert newer(RULES, {**read, "version": RULES.packages["torch"].newest}) is None


def changed(read: dict[str, Any], name: str, **given: Any) -> dict[str, Any]:
    return {**read, "names": {**read["names"], name: [{**read["names"][name][0], **given}]}}


def test_what_changes_in_a_release_is_found() -> None:
    torch = max((read for read in READ if read["known_as"] == "torch"), key=lambda read: Version(read["version"]))
    name, other = "torch.distributed.new_group", "torch.distributed.distributed_c10d.new_group"
    rows = torch["names"][name][0]["position"]
    moved = changed(changed(torch, name, position=[["first", None], *rows]), other, position=[["first", None], *rows])
    assert any("backend stands at 3, not at 2" in said for said in differences(RULES, moved))
    gone = changed(changed(torch, name, position=rows[:2]), other, position=rows[:2])
    assert any("there is no backend" in said for said in differences(RULES, gone))
    names = {key: value for key, value in torch["names"].items() if not key.endswith(".new_group")}
    assert any("torch.new_group: none of" in said for said in differences(RULES, {**torch, "names": names}))
    assert any("nccl5" in said for said in differences(RULES, {**torch, "backends": [*torch["backends"], "nccl5"]}))
    fewer = [one for one in torch["backends"] if one != "nccl2"]
    assert any("the backend nccl2 is not there" in said for said in differences(RULES, {**torch, "backends": fewer}))
    assert any(
        "cuda gives gloo" in said for said in differences(RULES, {**torch, "devices": {**torch["devices"], "cuda": "gloo"}})
    )


def test_a_default_that_changes_is_found() -> None:
    engine = next(read for read in READ if read["package"] == "mmengine")
    name = "mmengine.dist.*.init_dist"
    rows = [[part, "'gloo'" if part == "backend" else value] for part, value in engine["names"][name][0]["position"]]
    assert any(
        "backend is 'gloo' where it is left out" in said for said in differences(RULES, changed(engine, name, position=rows))
    )


def test_a_name_that_an_older_release_has_too_early_is_found() -> None:
    rules = replace(RULES, backends={**RULES.backends, "nccl2": replace(RULES.backends["nccl2"], since={"torch": ">=2.10"})})
    old = next(read for read in READ if (read["known_as"], read["version"]) == ("torch", "2.13.0"))
    assert any("the backend nccl2 is not there" in said for said in differences(rules, old))
