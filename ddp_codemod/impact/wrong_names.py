"""Which names may arrive at a call and do not work on the platform, where not all that arrives is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.impact.user_supplied_names import is_given_without_default
from ddp_codemod.policy.default_argument import is_default_wrong
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.sites.surface_calls import Use

_LONG = 200  # characters of a text that names backends, before and behind one of them


def find_wrong_names(context: Context, finding: Finding) -> Iterator[tuple[str, str]]:
    """The names that would be wrong among what is known to arrive, else those that the project writes anywhere.

    Those that code is usually written for are among these, where the project writes them or not.
    """
    names, choice = context.rules.backends, context.platform.backend
    wanted = {name: assess(name, choice, names).wanted for name in names}
    known = [
        source.value.value
        for source in finding.possible
        if isinstance(source.value, Known) and isinstance(source.value.value, str)
    ]
    wanted |= {name: assess(name, choice, names).wanted for name in (*known, *find_composite_names(context))}
    wrong = [name for name in known if wanted[name]]
    if not wrong:
        written = [
            name for name, one in names.items() if wanted[name] and not one.specific and _is_written_anywhere(context, name)
        ]
        usual = [name for name, one in names.items() if wanted[name] and one.usual]
        wrong = written if set(written) & set(usual) else [*usual, *written]
    for name in dict.fromkeys([*wrong, *sorted(find_composite_names(context))]):
        if (instead := wanted.get(name)) is not None:
            yield name, instead


def _is_written_anywhere(context: Context, name: str) -> bool:
    """Whether any file that is read holds a backend's name: code, settings, a launch file."""
    project = context.tracer.resolver.project
    return any(files(name) for files in (project.mentioning, project.scripts, project.documents, project.manifests))


def find_composite_names(context: Context) -> frozenset[str]:
    """What the project writes of texts that name a wrong backend as that of one device among several, ``"cpu:gloo,cuda:nccl"``."""
    project, names, choice = context.tracer.resolver.project, context.rules.backends, context.platform.backend
    wrong = [name for name, one in names.items() if not one.specific and assess(name, choice, names).wanted is not None]
    known: dict[str, frozenset[str]] = context.tracer.memory
    if "several backends" not in known:
        named = "|".join(map(re.escape, wrong)).encode()
        near, whole = re.compile(rb":(?:%b)\b" % named), re.compile(rb"[\w:,]*:(?:%b)\b[\w:,]*" % named)
        found = set[bytes]()
        for data in map(project.data, project.naming(wrong)) if wrong else ():
            for one in near.finditer(data):  # to match all of the text from everywhere in a file takes long
                found.update(whole.findall(data, max(0, one.start() - _LONG), one.end() + _LONG))
        known["several backends"] = frozenset(text.decode() for text in found)
    return known["several backends"]


def list_exchanges(context: Context) -> Iterator[tuple[str, str]]:
    """What is exchanged inside of a text that names several backends: those of a device first, where they change with it, then the names."""
    names, choice = context.rules.backends, context.platform.backend
    usual = [name for name, one in names.items() if one.usual and assess(name, choice, names).wanted is not None]
    for name in usual:
        for device in names[name].devices:
            wanted = assess(f"{device}:{name}", choice, names).wanted
            if wanted is not None and wanted != f"{device}:{assess(name, choice, names).wanted}":
                yield f"{device}:{name}", wanted
    for name in usual:
        if (instead := assess(name, choice, names).wanted) is not None:
            yield name, instead


def may_be_none(context: Context, finding: Finding) -> bool:
    """Whether None may come too, for which torch would pick a wrong backend."""
    parameters = finding.use.surface.parameters if isinstance(finding.use, Use) else ()
    return any(
        one.name == finding.parameter and one.omitted == "platform-default" and is_default_wrong(context, one)
        for one in parameters
    )


def is_text(source: Value) -> bool:
    """Whether a value is surely no None: ``os.environ["BACKEND"]`` is a text, or ends the program."""
    if isinstance(source.value, Known):
        return isinstance(source.value.value, str) and source.trace.doubt is None
    return is_given_without_default(source) and isinstance(source.node, ast.Subscript)
