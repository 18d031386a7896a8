"""Texts in files of settings that a trainer takes for an object which makes a group (``strategy: ddp``), where no program takes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ddp_codemod.catalog.model import Surface
from ddp_codemod.catalog.objects import Objects
from ddp_codemod.discover.kinds import is_in_test_folder
from ddp_codemod.model import Action, Decision, Reason, Uncovered
from ddp_codemod.policy.findings import Context


def find_strategies(context: Context, decisions: Iterable[Decision], admits: Callable[[str], bool]) -> Iterator[Uncovered]:
    """Those that are beside a number of devices, in a project with the framework, where its default does not work.

    Where a call is for review because the settings that it unpacks are not followed, that says it.
    """
    choice, rules = context.platform.backend, context.rules
    taking = list(_find_taking_surfaces(rules.surfaces.values()))
    asked = {decision.surface for decision in decisions if decision.action is Action.REVIEW and decision.value is None}
    if choice.default in choice.works or not asked.isdisjoint(surface.id for surface, _, _ in taking):
        return
    project = context.tracer.resolver.project
    files = tuple(name for name in project.small_configs if admits(name) and not is_in_test_folder(name))
    for surface, key, objects in taking:
        texts = {one.text for one in rules.objects.get(objects.table, ())}
        written = rf"\b{re.escape(key)}\b[\"']?\s*[:=]\s*[\"']?(?:{'|'.join(map(re.escape, sorted(texts)))})"
        documents = project.documents(key, written.encode(), files)
        roots = {name.partition(".")[0] for name in surface.names}
        if not documents or not any(project.mentioning(root) for root in roots):
            continue
        for document in documents:
            for entry in document.ending(key):
                beside = {one.path[-1] for one in document.mapping(entry.path[:-1], entry.document)}
                if entry.is_text and entry.value in texts and (counts := sorted(beside.intersection(objects.several))):
                    place = document.place(entry)
                    path = ".".join(entry.path)
                    reason = Reason.of(
                        "uncovered-strategy", text=entry.value, path=path, beside=counts[0], backend=choice.default
                    )
                    yield Uncovered(place, document.source.position(place.start)[0], entry.value, reason)


def _find_taking_surfaces(surfaces: Iterable[Surface]) -> Iterator[tuple[Surface, str, Objects]]:
    """The surfaces with a parameter that takes such a text, its name and what it stands for."""
    for surface in surfaces:
        for parameter in surface.parameters:
            if parameter.objects is not None and parameter.objects.several:
                yield surface, parameter.name, parameter.objects
