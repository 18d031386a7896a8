"""From the sites of a survey to what is to be tried: arguments under the platform's facts, and the environment that the code sets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.catalog.model import Platform, Surface
from ddp_codemod.health import Trial, VerifiedSite
from ddp_codemod.kinds import Meaning
from ddp_codemod.machine.probe import OVERRIDES
from ddp_codemod.model import Decision, Place, Reason, Survey
from ddp_codemod.parse.python import parse_tree

UNKNOWN = "?"
UNTRIED = (Meaning.UNREACHABLE, Meaning.ELSEWHERE)  # no group forms here, or another site decides
_OWN_STORE = re.compile(r"\bstore\s*=(?!=|\s*None\b)")
_PLACES = ("MASTER_", "RANK", "LOCAL_RANK", "WORLD_SIZE")  # verify supplies its own
_LOADS = re.compile(r"PLUGIN|PATH|FILE|DIR|_LIB(?:_|$)|_LIBRARY")  # names a program or file, perhaps one of the project's


def plan_trials(survey: Survey, surfaces: dict[str, Surface], platform: Platform) -> Iterator[VerifiedSite]:
    """Each process-group site with its trial, or with the reason why there is none. A site with several outcomes comes several times."""
    for call, surface in dict.fromkeys((decision.call, decision.surface) for decision in survey.decisions):
        here = [decision for decision in survey.decisions if decision.call == call and decision.surface == surface]
        roles = {parameter.name: parameter.role for parameter in surfaces[surface].parameters} if surface in surfaces else {}
        backends = [decision for decision in here if roles.get(decision.parameter) == "backend"]
        urls = [decision for decision in here if roles.get(decision.parameter) == "init_method"]
        for backend in backends[:1]:
            yield from _plan_site(survey, backend, urls, platform)


def _plan_site(survey: Survey, site: Decision, urls: list[Decision], platform: Platform) -> Iterator[VerifiedSite]:
    source = survey.sources.get(site.call.name)
    line = source.position(site.call.start)[0] if source else 0

    def left(reason: Reason) -> VerifiedSite:
        return VerifiedSite(site.call.name, line, site.surface, None, left=reason)

    if site.reason.means in UNTRIED:
        yield left(site.reason)
    elif not site.resolves_to or UNKNOWN in site.resolves_to:
        yield left(Reason.of("verify-unknown", parameter=site.parameter))
    elif _OWN_STORE.search(_text_of(survey, site.call)):
        yield left(Reason.of("verify-own-store"))
    else:
        environment = _find_assigned_variables(source.text) if source else ()
        plugin = platform.required_import if any(name in platform.backend.works for name in site.resolves_to) else None
        for backend in site.resolves_to:
            for url in _find_urls(urls):
                yield VerifiedSite(site.call.name, line, site.surface, Trial(backend.lower(), url, environment, plugin))


def _find_urls(urls: list[Decision]) -> tuple[str | None, ...]:
    """What init_method resolves to; torch's own choice where the code leaves it out or it is known only at run time."""
    known = [url for decision in urls[:1] if decision.value is not None for url in decision.resolves_to if "://" in url]
    return tuple(known) or (None,)


def _text_of(survey: Survey, place: Place) -> str:
    source = survey.sources.get(place.name)
    return source.text[place.start : place.end] if source else ""


def _find_assigned_variables(text: str) -> tuple[tuple[str, str], ...]:
    """The variables that a file sets to a text, of those that change how ranks talk."""
    try:
        tree = parse_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        pair: tuple[ast.expr, ast.expr] | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and _is_environ(node.targets[0].value):
            pair = node.targets[0].slice, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
            if _is_environ(node.func.value) and len(node.args) == 2:
                pair = node.args[0], node.args[1]
        if pair and all(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in pair):
            name, value = (str(part.value) for part in pair if isinstance(part, ast.Constant))
            if name.startswith(OVERRIDES) and not name.startswith(_PLACES) and not _LOADS.search(name):
                found[name] = value
    return tuple(sorted(found.items()))


def _is_environ(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (isinstance(node, ast.Name) and node.id == "environ")
