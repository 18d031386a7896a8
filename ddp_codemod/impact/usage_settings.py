"""Finds in files of settings what an advice is about: a key with one of some values, beside keys that go with it."""

from __future__ import annotations

from collections.abc import Iterator

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.policy.findings import Context


def in_settings(context: Context, pattern: Pattern) -> Iterator[tuple[str, int]]:
    """The files and lines, where the project imports one of the packages."""
    project = context.tracer.resolver.project
    if pattern.argument is None or not any(project.mentioning(package) for package in pattern.names):
        return
    for document in project.documents(pattern.argument):
        for entry in document.ending(pattern.argument):
            beside = {one.path[-1] for one in document.mapping(entry.path[:-1], entry.document)}
            if entry.value.lower() in pattern.texts and not beside.isdisjoint(pattern.within):
                yield document.name, document.source.position(entry.start)[0]
