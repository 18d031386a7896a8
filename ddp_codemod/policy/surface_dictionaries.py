"""Classes that Python code names by a text, ``{"target": "lightning.pytorch.strategies.DDPStrategy"}``, for a function that makes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.model import Advisory, Reason
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.surface_calls import Finder
from ddp_codemod.sites.target_keys import TARGETS
from ddp_codemod.sites.word_search import TextMatcher

NAMED_IN_TEXT = "named-in-text"


def find_surface_dictionaries(context: Context, finder: Finder, writable: Callable[[str], bool]) -> Iterator[Advisory]:
    """The dictionaries that name a surface whose backend, omitted or passed in them, does not work on the platform."""
    project, platform = context.tracer.resolver.project, context.platform
    modules = {surface.names[0].split(".")[0] for surface in finder.surfaces if surface.names}
    written = re.compile(
        rb"[\"'](?:%s)[\"']\s*:\s*[\"'](?:%s)\." % tuple("|".join(sorted(one)).encode() for one in (TARGETS, modules))
    )
    keys = TextMatcher(f"{quote}{target}{quote}" for target in TARGETS for quote in "\"'")  # looked for first: few files have one
    for name in sorted(name for name in project.names if keys.held(project.data(name)) and writable(name)):
        if not written.search(project.data(name)):
            continue
        for module in project.programs(name):
            for node in module.nodes.get(ast.Dict, ()):
                assert isinstance(node, ast.Dict)
                entries = dict(_iterate_entries(node))
                for target in TARGETS.keys() & entries.keys():
                    text = _read_text(entries[target])
                    surface = finder.surface(text) if text.split(".")[0] in modules else None
                    for parameter in surface.parameters if surface is not None else ():
                        if parameter.role == "backend" and not _is_backend_right(context, parameter, entries, TARGETS[target]):
                            arguments = {"name": text, "parameter": parameter.name, "platform": platform.id}
                            reason = Reason.of("advise-named-in-text", wanted=platform.backend.wanted, **arguments)
                            yield Advisory(name, module.line(entries[target]), NAMED_IN_TEXT, reason)


def _is_backend_right(context: Context, parameter: Parameter, entries: dict[str, ast.expr], inside: tuple[str, ...]) -> bool:
    """Whether what the dictionary gives for a parameter, or omits, is right."""
    platform = context.platform
    for key in inside:
        held = entries.get(key)
        entries = dict(_iterate_entries(held)) if isinstance(held, ast.Dict) else {}
    given = entries.get(parameter.name)
    if given is not None:
        return assess(_read_text(given), platform.backend, context.rules.backends).wanted is None
    if platform.fits((*parameter.named_on, *parameter.open_on)):
        return False
    left = parameter.omitted != "platform-default" or parameter.ignored is not None or parameter.objects is not None
    return left or not platform.backend.default or platform.backend.default in platform.backend.works


def _iterate_entries(node: ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value, value


def _read_text(node: ast.expr) -> str:
    """The text that is written there; "" where it is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
