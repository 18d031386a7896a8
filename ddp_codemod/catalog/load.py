"""Reads the rule data: TOML files under ``rules/``, and those that a user adds in the same layout."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from ddp_codemod.catalog.advisory import AdviceFile
from ddp_codemod.catalog.backend_model import BackendFile
from ddp_codemod.catalog.backends import add_library_aliases
from ddp_codemod.catalog.files import RuleError, add_entries, data_folder, decode
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.idioms import Alias, AliasFile, Idioms
from ddp_codemod.catalog.model import Platform, SurfaceFile
from ddp_codemod.catalog.packages import PackageFile
from ddp_codemod.catalog.processes import Processes
from ddp_codemod.catalog.references import check_references
from ddp_codemod.catalog.tables import Rules
from ddp_codemod.catalog.toml_cache import load_cached

__all__ = ["Rules", "load"]


def load(extra: tuple[Path, ...] = ()) -> Rules:
    """Read the shipped rules and the folders in ``extra``.

    Raises RuleError for a file that is no TOML, breaks the schema or repeats an id.
    """
    return _load(extra, Path.cwd() if extra else None)


@lru_cache(maxsize=4)
def _load(extra: tuple[Path, ...], _cwd: Path | None) -> Rules:
    """The same, once a process; the folders may be named from the working directory."""
    return load_cached("rules", Rules, (data_folder(), *extra), lambda: _read(extra))


def _read(extra: tuple[Path, ...]) -> Rules:
    rules = Rules()
    aliases: list[Alias] = []
    seen: dict[tuple[str, str], Path] = {}
    for folder in (data_folder(), *extra):
        if not folder.is_dir():
            raise RuleError(f"{folder}: no such rule folder; expected one with platforms/, surfaces/ or fixes/ in it")
        for path in sorted(folder.glob("surfaces/*.toml")):
            file = decode(path, SurfaceFile)
            add_entries(rules.surfaces, file.surface, path, "surface", seen)
            rules.frameworks.update((surface.id, file.framework) for surface in file.surface)
            for entry in file.object:
                rules.objects.setdefault(entry.table, []).append(entry)
        for path in sorted(folder.glob("platforms/*.toml")):
            add_entries(rules.platforms, [decode(path, Platform)], path, "platform", seen)
        for path in sorted(folder.glob("fixes/*.toml")):
            add_entries(rules.fixes, [decode(path, Fix)], path, "rule", seen)
        for path in sorted(folder.glob("advisories/*.toml")):
            add_entries(rules.advice, decode(path, AdviceFile).advice, path, "advice", seen)
        if (path := folder / "backends.toml").is_file():
            known = {backend.name: backend for backend in decode(path, BackendFile).backend}
            rules.backends.update(known)
        if (path := folder / "versions.toml").is_file():
            stated = decode(path, PackageFile)
            rules.packages.update({package.name: package for package in stated.package})
            rules.machines.extend(stated.machines)
        if (path := folder / "aliases.toml").is_file():
            aliases += decode(path, AliasFile).alias
        if (path := folder / "idioms.toml").is_file():
            rules.idioms.append(decode(path, Idioms))
        if (path := folder / "processes.toml").is_file():
            rules.processes.append(decode(path, Processes))
    check_references(rules, seen)
    _add_facts(rules)
    _add_aliases(rules, aliases)
    _add_kin(rules)
    return rules


def _add_facts(rules: Rules) -> None:
    """Give every platform the facts that hold everywhere; its own come first."""
    for ident, platform in rules.platforms.items():
        shared = {name: fact for idioms in rules.idioms for name, fact in idioms.facts.items()}
        rules.platforms[ident] = msgspec.structs.replace(platform, facts={**shared, **platform.facts})


def _add_aliases(rules: Rules, aliases: Iterable[Alias]) -> None:
    """Give every platform that knows a fact the fact's other names too; what the platform says itself counts more."""
    for ident, platform in rules.platforms.items():
        other = {name: platform.facts[alias.fact] for alias in aliases if alias.fact in platform.facts for name in alias.names}
        rules.platforms[ident] = msgspec.structs.replace(platform, facts={**other, **platform.facts})


def _add_kin(rules: Rules) -> None:
    """Say of every platform which other names of the libraries that work there work too, now and with earlier versions."""
    for ident, platform in rules.platforms.items():
        own = add_library_aliases(platform.backend, platform.facts, rules.backends)
        earlier = tuple(
            msgspec.structs.replace(one, backend=add_library_aliases(one.backend, platform.facts, rules.backends))
            for one in platform.earlier
        )
        rules.platforms[ident] = msgspec.structs.replace(platform, backend=own, earlier=earlier)
