"""The sites of a survey by the lines that a running program is at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set
from functools import cached_property

from ddp_codemod.catalog.load import Rules
from ddp_codemod.discover.scope import Scope
from ddp_codemod.health import Frame
from ddp_codemod.model import Decision, Survey
from ddp_codemod.policy.limits import IGNORE

PYTHON = (".py", ".ipynb")


class SiteIndex:
    """The sites that are calls in Python files."""

    def __init__(self, survey: Survey, rules: Rules, scope: Scope) -> None:
        self._survey, self._rules, self._scope = survey, rules, scope

    @cached_property
    def every(self) -> tuple[Decision, ...]:
        """Those about a backend, and those that have no parameter."""
        return tuple(
            one
            for one in self._survey.decisions
            if one.call.name.endswith(PYTHON) and one.call.name in self._survey.sources and self._is_about_backend(one)
        )

    def _is_about_backend(self, site: Decision) -> bool:
        surface = self._rules.surfaces.get(site.surface)
        if surface is None:
            return not site.parameter
        return bool(surface.called) and any(one.role == "backend" and one.name == site.parameter for one in surface.parameters)

    def decides(self, site: Decision) -> bool:
        """Whether the group gets what the site passes: some surfaces ignore it."""
        surface = self._rules.surfaces.get(site.surface)
        return surface is None or all(one.ignored is None for one in surface.parameters if one.name == site.parameter)

    @cached_property
    def _sites_by_file(self) -> dict[str, list[tuple[int, int, Decision]]]:
        found: dict[str, list[tuple[int, int, Decision]]] = defaultdict(list)
        for site in self.every:
            source = self._survey.sources[site.call.name]
            found[site.call.name].append((source.position(site.call.start)[0], source.position(site.call.end)[0], site))
        return found

    def at(self, frame: Frame) -> list[Decision]:
        """The sites whose call spans the line of a frame."""
        return [site for first, last, site in self._sites_by_file.get(frame.path, ()) if first <= frame.line <= last]

    def bound(self, function: str, backend: str | None) -> list[Decision]:
        """The sites that bind arguments to a function for a later call (``functools.partial``), and that can give the backend."""
        given = {"?", (backend or "").lower()}
        return [
            site
            for site in self.every
            if self._is_named(site, function)
            and given & {value.lower() for value in site.resolves_to}
            and self._is_bound_by(site, function)
        ]

    def _is_named(self, site: Decision, function: str) -> bool:
        surface = self._rules.surfaces.get(site.surface)
        return surface is not None and any(name.endswith(f".{function}") for name in surface.called)

    def _is_bound_by(self, site: Decision, function: str) -> bool:
        text = self._survey.sources[site.call.name].text[site.call.start : site.call.end]
        callee, _, arguments = text.partition("(")
        return not callee.strip().endswith(function) and function in arguments

    def of_packages(self, packages: Set[str]) -> list[Decision]:
        """The sites of surfaces that packages have: they may make the group long after the call."""
        every = self._rules.surfaces
        return [
            one
            for one in self.every
            if one.surface in every and any(name.partition(".")[0] in packages for name in every[one.surface].called)
        ]

    def in_settings(self, packages: Set[str]) -> list[Decision]:
        """The sites that are keys of settings, as packages read them: which file a run has read is not known."""
        every = self._rules.surfaces
        return [one for one in self._survey.decisions if one.surface in every and packages & {*every[one.surface].shown_by}]

    def is_ignored(self, frame: Frame) -> bool:
        """Whether the configuration, or a comment on the line, tells the tool to leave a call alone."""
        surfaces = set(self._rules.surfaces)
        if not self._scope.holds(frame.path) or self._scope.ignores_in(frame.path, surfaces):
            return True
        try:
            lines = (self._survey.root / frame.path).read_text("utf-8", "replace").splitlines()
        except OSError:
            return False
        return IGNORE.search(lines[frame.line - 1]) is not None if 0 < frame.line <= len(lines) else False
