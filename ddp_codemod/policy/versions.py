"""Which versions of a package a project states, and whether a condition of the rule data holds for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from ddp_codemod.catalog.machine import MachineFacts
from ddp_codemod.catalog.model import FactValue, Platform
from ddp_codemod.catalog.packages import Machines, Package, may_concern
from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Source
from ddp_codemod.parse.sections import find_section, is_optional
from ddp_codemod.versions import LOCAL, Stated, holds, is_satisfiable

if TYPE_CHECKING:
    from ddp_codemod.parse.requirements import Requirement

# What environment markers ask, and the fact that answers it.
_MARKERS = {"os_name": "os.name", "sys_platform": "sys.platform", "platform_system": "platform.system()"}


_MOST = 100  # statements of a file about packages of interest: each is compared with each


class Statement(Struct, frozen=True):
    """What a file says about a package."""

    source: Source
    requirement: Requirement

    @property
    def stated(self) -> Stated:
        """The same, without its place."""
        line = self.source.position(self.requirement.start)[0]
        return Stated(self.requirement.package, LOCAL.sub("", self.requirement.specifier), f"{self.source.name}:{line}")


class Versions(Struct):
    """The versions that a project states. Files are read when the first condition asks for them.

    ``given`` are versions that the user named: they count more than any file.
    """

    root: Path
    packages: Mapping[str, Package]
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    given: Mapping[str, Stated] = field(default_factory=dict)
    target: MachineFacts = MachineFacts()  # the platform's: what is stated for other machines is not for it
    machines: Sequence[Machines] = ()
    named: Sequence[MachineFacts] = ()  # all platforms'
    open: set[str] = field(default_factory=set)  # packages of which a condition asked and nothing is known
    _near: dict[tuple[str, str, str], list[Statement]] = field(default_factory=dict)
    _folders: dict[str, list[Statement]] = field(default_factory=dict)
    _installed: dict[str, list[Statement]] = field(default_factory=dict)

    def holds(self, when: Mapping[str, str], file: str = "", asks: bool = True) -> bool | None:
        """Whether a condition such as ``{"torch": ">=2.8"}`` holds for the code of a file; None where that is open.

        ``asks``: the user is told where a version would have said more.
        """
        known: bool | None = True
        for package, condition in when.items():
            stated = self.alternatives(package, file)
            if not stated and asks:
                self.open.add(package)
            answers = {holds(condition, one) for one in stated}
            if answers == {False}:
                return False
            if answers != {True}:
                known = None
        return known

    def find_conflict(self, when: Mapping[str, str], file: str = "") -> Stated | None:
        """The first statement under which a condition does not hold, of several that exclude each other.

        Where no file states a package, of those that the commands in a README or a Dockerfile install.
        """
        for package, condition in when.items():
            if (
                found := next((one for one in self._collect_stated(package, file) if holds(condition, one) is False), None)
            ) is not None:
                return found
        return None

    def is_shown(self, when: Mapping[str, str], file: str = "") -> bool:
        """Whether a condition holds for a version that the project states, or, where no file does, that a README has people install."""
        return all(
            any(holds(condition, one) for one in self._collect_stated(package, file)) for package, condition in when.items()
        )

    def _collect_stated(self, package: str, file: str) -> list[Stated]:
        """What files state about a package; where none does, what the commands in a README or a Dockerfile install."""
        return self.alternatives(package, file) or [one.stated for one in self._find_nearest(package, file, self._read_commands)]

    def stated(self, package: str, file: str = "") -> Stated | None:
        """The one statement about a package that holds for a file's code; None where there is none, or several that exclude each other."""
        found = self.alternatives(package, file)
        return found[0] if len(found) == 1 else None

    def alternatives(self, package: str, file: str = "") -> list[Stated]:
        """What a file's code may meet: one statement made of all, or each of those that exclude each other."""
        if package in self.given:
            return [self.given[package]]
        stated = self.statements(package, file)
        locked = [one for one in stated if one.requirement.kind == "lock"]
        counted = [one for one in locked or stated if is_satisfiable(one.stated.specifier)]
        always = [one.stated for one in counted if not _is_extra(one)]
        extras = [one.stated for one in counted if _is_extra(one)]
        if not always and extras:
            return [*extras, Stated(package, "", extras[0].origin)]  # without the extra it may be any
        found = _merge_statements(always)
        both = (_merge_statements([base, extra]) for extra in extras for base in found)
        return [*found, *(one for result in both if len(result) == 1 for one in result)]

    def platform(self, platform: Platform) -> Platform:
        """The platform as it is at the project's versions."""
        for earlier in platform.earlier:
            if self.holds(earlier.when) is True:
                return msgspec.structs.replace(
                    platform,
                    backend=earlier.backend,
                    required_import=earlier.required_import,
                    why=earlier.why,
                    why_zh=earlier.why_zh,
                )
        return platform

    def statements(self, package: str, file: str = "") -> list[Statement]:
        """What the nearest folder around a file that says something about a package says; not what is for other machines.

        A folder whose README or Dockerfile installs one of its own is no part of what is further up.
        """
        return self._find_nearest(package, file, self._read_requirements, self._read_commands)

    def _find_nearest(self, package: str, file: str, *stating: Callable[[str], Iterable[Statement]]) -> list[Statement]:
        """What the first of the readers says of the nearest folder of which any of them says something."""
        folder = PurePosixPath(file).parent if file else PurePosixPath()
        for at in (folder, *folder.parents):
            said = [self._read_folder(package, str(at), reader) for reader in stating]
            if any(said):
                return said[0]
        return []

    def _read_folder(self, package: str, folder: str, reader: Callable[[str], Iterable[Statement]]) -> list[Statement]:
        key = (package, folder, reader.__name__)
        if key not in self._near:
            names = self.packages[package].names
            here = (one for one in reader(folder) if one.requirement.package in names and one.requirement.specifier)
            self._near[key] = [
                one for one in here if self.is_marker_met(one.requirement) and self.is_for_target(one.source, one.requirement)
            ]
        return self._near[key]

    def is_for_target(self, source: Source, requirement: Requirement) -> bool:
        """Whether a statement can be for the target platform, going by what its file and its section are called."""
        at = find_section(PurePosixPath(source.name).name, source.text, requirement.start)
        return all(may_concern(self.machines, self.named, name, self.target) for name in (PurePosixPath(source.name).name, at))

    def is_marker_met(self, requirement: Requirement) -> bool:
        """Whether a statement is for the target platform, by its marker."""
        if not requirement.marker:
            return True
        from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName

        known = {name: str(self.facts[fact]) for name, fact in _MARKERS.items() if isinstance(self.facts.get(fact), str)}
        try:
            return Marker(requirement.marker).evaluate({**known, "extra": ""})
        except (InvalidMarker, UndefinedEnvironmentName, RecursionError):
            return True

    def _read_requirements(self, folder: str) -> list[Statement]:
        """All statements of the files of one folder, and of a folder "requirements" in it."""
        if folder not in self._folders:
            at = self.root / folder
            folders = [at, *(one for one in (at / "requirements",) if not one.is_symlink())]
            from ddp_codemod.parse.requirements import find_requirements

            self._folders[folder] = [
                one for path in find_stating_files(folders) for one in self._parse_file(path, find_requirements)
            ]
        return self._folders[folder]

    def _read_commands(self, folder: str) -> list[Statement]:
        """What the commands install that a README, a Dockerfile or a script of one folder shows."""
        if folder not in self._installed:
            from ddp_codemod.parse.installs import find_installs, may_install

            paths = list_files([self.root / folder], lambda path: may_install(path.name))
            every = (one for path in paths for one in self._parse_file(path, find_installs))
            self._installed[folder] = [
                one for one in every if is_satisfiable(one.stated.specifier)
            ]  # ``torch==$VERSION`` is none
        return self._installed[folder]

    def _parse_file(self, path: Path, reader: Callable[[Source], Iterable[Requirement]]) -> list[Statement]:
        wanted = {name for package in self.packages.values() for name in package.names}
        result = read_text(path, self.root)
        if not isinstance(result, Source) or not any(name in result.text.lower() for name in wanted):
            return []
        found = (Statement(result, one) for one in reader(result) if one.package in wanted)
        return list(islice(found, _MOST))


def find_stating_files(folders: Iterable[Path]) -> list[Path]:
    """The files of some folders that can state versions."""
    from ddp_codemod.parse.requirements import may_state_versions

    return list_files(folders, lambda path: may_state_versions(f"{path.parent.name}/{path.name}"))


def list_files(folders: Iterable[Path], wanted: Callable[[Path], bool]) -> list[Path]:
    """The files of some folders that are wanted; a folder that cannot be read has none."""
    found: list[Path] = []
    for folder in folders:
        try:
            found += sorted(path for path in folder.iterdir() if wanted(path) and path.is_file())
        except OSError:
            continue
    return found


def _is_extra(one: Statement) -> bool:
    return is_optional(one.source.name, one.source.text, one.requirement.start)


def _merge_statements(stated: Sequence[Stated]) -> list[Stated]:
    """One statement made of all, or each of those that exclude each other."""
    if len(stated) < 2:
        return list(stated)
    origin = ", ".join(dict.fromkeys(one.origin for one in stated))
    whole = Stated(stated[0].package, ",".join(dict.fromkeys(one.specifier for one in stated)), origin)
    return [whole] if is_satisfiable(whole.specifier) else list(stated)


def format_versions(when: Mapping[str, str]) -> str:
    """Versions as a requirement has them: "transformers>=4.29, torch<2.8"."""
    return ", ".join(f"{package}{stated}" for package, stated in when.items())
