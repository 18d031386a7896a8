"""Values that nobody honors: beside another argument, under an option of a launch, or under a file of settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import First, VoidSettings
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.messages import text
from ddp_codemod.model import Action, Applicability, Reason
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.shell import Launch, Option, Script
from ddp_codemod.parse.tree import Node, Tree, place_of
from ddp_codemod.policy.findings import PACKAGE, VALUE, AnyUse, Context, Finding, NewStatement
from ddp_codemod.policy.versions import format_versions
from ddp_codemod.sites.launch_commands import LaunchCommands
from ddp_codemod.sites.surface_calls import Use
from ddp_codemod.sites.word_search import has_any_text

LISTED = 5  # further places that a reason names


def describe_effective_argument(context: Context, parameter: Parameter) -> dict[str, str]:
    """What reasons say about a parameter that has no effect here, and about what does."""
    platform = context.platform
    return {
        "parameter": parameter.fields.field if parameter.fields is not None else parameter.name,
        "wanted": platform.backend.wanted, "platform": platform.id,
        "instead": parameter.instead, "instead_zh": parameter.instead_zh or parameter.instead,
    }  # fmt: skip


def _describe_ignorer(context: Context, finding: Finding, parameter: Parameter) -> dict[str, str]:
    """The same, with who ignores the parameter."""
    return {"who": context.rules.frameworks[finding.use.surface.id], **describe_effective_argument(context, parameter)}


def redirect_ignored_argument(context: Context, use: Use, parameter: Parameter, finding: Finding) -> Finding | None:
    """The finding with what does something where naming a value here does nothing; None where it does."""
    given = (one for one in use.call.keywords if one.arg in parameter.void_with and not _may_be_none(context, use, one.value))
    keyword = next(given, None)
    by = f"{keyword.arg}=" if keyword is not None else _find_common_option(context, use.module.name, parameter.void_flags)
    if by is None or finding.rule is None:
        return None
    by_hand = finding.review(finding.rule, Reason.of("review-void", by=by, **_describe_ignorer(context, finding, parameter)))
    return init_before_call(context, parameter, finding, "edit-made-first", by=by) or by_hand


def init_before_call(context: Context, parameter: Parameter, finding: Finding, why: str, **message: str) -> Finding | None:
    """The group is made ahead of the call that would not honor its backend; None where no rule says how, or there is no such call."""
    first, use = parameter.first, finding.use
    if first is None or finding.rule is None or not isinstance(use, Use) or (first.on and not context.platform.fits(first.on)):
        return None
    if context.versions.holds(first.when, use.module.name, asks=False) is False:
        return None
    call = f"{PACKAGE}.{first.call}({first.keyword}={VALUE})"
    under = f"not {PACKAGE}.{first.absent}()"
    change = NewStatement(use.module, use.call, call, f'"{context.platform.backend.wanted}"', package=first.package, under=under)
    exact = _is_exact_replacement(context, first, use)
    terms = _explain_terms(context, first, use, exact)
    reason = Reason.of(why, **{**_describe_ignorer(context, finding, parameter), **message, **terms})
    return finding.edit(finding.rule, exact and finding.applicability is Applicability.SAFE, reason, [change])


def _is_exact_replacement(context: Context, first: First, use: Use) -> bool:
    """Whether the group that is made ahead of a call differs in nothing but its backend from the one that the call would make."""
    holds = context.versions.holds(first.when, use.module.name, asks=False)
    if first.exact_unless:
        return holds is not False and not _is_mentioned(context, first.exact_unless)
    keywords = [keyword.arg for keyword in use.call.keywords]
    plain = bool(first.exact_without) and not use.call.args and None not in keywords and not {*first.exact_without}.intersection(keywords)  # fmt: skip
    return plain and holds is True


def _is_mentioned(context: Context, words: tuple[str, ...]) -> bool:
    """Whether a program, a launch file or a configuration file has one of the words; looked for once a run."""
    project, memory = context.tracer.resolver.project, context.tracer.memory
    if (key := f"mentioned: {words}") not in memory:
        texts, files = [word.encode() for word in words], (*project.launchers, *project.small_configs)
        found = bool(project.mentioned(words)) or any(has_any_text(project.data(name), texts) for name in files)
        memory[key] = found
    return bool(memory[key])


def _explain_terms(context: Context, first: First, use: Use, exact: bool) -> dict[str, str]:
    """What else a reason says of a group that is made ahead of a call: the limit that may differ, or the versions that accept it."""
    if exact and context.versions.holds(first.when, use.module.name, asks=False):
        return {"terms": "", "terms_zh": ""}
    versions = format_versions(first.when)
    key = "terms-versions" if exact else "terms-timeout"
    return {"terms": text(key, versions=versions), "terms_zh": text(key, "zh", versions=versions)}


def add_ignored_argument_items(
    context: Context, launches: LaunchCommands, parameter: Parameter, finding: Finding
) -> list[Finding]:
    """The finding; where launches or settings keep the parameter from being honored, an item for review beside it or in its place."""
    found = [
        other
        for one in _review_other_argument(context, parameter, finding)
        for other in _review_launches(context, launches, parameter, one)
    ]
    told = found != [finding]  # what files a start names, its launches say too
    settings = [one for one in parameter.void_settings if not (one.named and told)]
    return [other for one in found for other in _review_settings(context, parameter, settings, one)]


def _review_other_argument(context: Context, parameter: Parameter, finding: Finding) -> list[Finding]:
    """The finding, and an item at an argument beside which it does nothing, and that may be None as well."""
    use = finding.use
    if finding.action is Action.EDIT and isinstance(use, Use):
        for keyword in use.call.keywords:
            if keyword.arg in parameter.void_with and not _is_none(context, use, keyword.value):
                arguments = {"by": f"{keyword.arg}=", **_describe_ignorer(context, finding, parameter)}
                by_hand = _make_item(finding, use.module, keyword.value, OriginKind.ARGUMENT, "review-void", arguments)
                return [finding, init_before_call(context, parameter, finding, "edit-made-first", by=arguments["by"]) or by_hand]
    return [finding]


def _review_launches(context: Context, launches: LaunchCommands, parameter: Parameter, finding: Finding) -> list[Finding]:
    """The finding, and an item at the first of the commands that give such an option; that alone where all give one."""
    if finding.action is not Action.EDIT or not isinstance(finding.use, Use) or not parameter.void_flags:
        return [finding]
    starts = launches.of(finding.use.module)
    given = [(script, option) for script, launch in starts if (option := _find_option(script, launch, parameter.void_flags))]
    if not given:
        return [finding]
    places = [f"{script.name}:{option.line}" for script, option in given]
    arguments = {"by": f"--{given[0][1].name}", **_describe_ignorer(context, finding, parameter)}
    by_hand = _make_item(finding, *given[0], OriginKind.COMMAND_LINE, "review-void", arguments, places[1:])
    item = (
        init_before_call(context, parameter, finding, "edit-made-first-at", by=arguments["by"], places=_format_places(places))
        or by_hand
    )
    return [item] if len(given) == len(starts) else [finding, item]


def _review_settings(context: Context, parameter: Parameter, settings: Sequence[VoidSettings], finding: Finding) -> list[Finding]:
    """The finding, and an item at the first place that says so under which it does nothing; that alone where all are such.

    Where the version is open for which that is so, the finding's reason says which it needs.
    """
    for one in settings if finding.action is Action.EDIT else ():
        holds = context.versions.holds(one.when, finding.use.module.name, asks=False)
        there = list(_find_setting_entries(context, one)) if holds is not False else []
        files = [(document, entry) for document, entry in there if entry.value.upper() in one.values]
        given = [*_find_void_keywords(context, one, finding.use), *files, *_find_void_flags(context, one, finding.use)]
        if given and holds is None:
            finding = _name_versions(finding, one)
        if given and holds is True:
            module, node, by, kind = _describe_place(*given[0], one)
            places = [_format_place(*place) for place in given]
            arguments = {**_describe_ignorer(context, finding, parameter), "instead": one.instead, "instead_zh": one.instead_zh}
            arguments["by"] = by
            key = "review-void-file" if one.named else "review-void"
            by_hand = _make_item(finding, module, node, kind, key, arguments, places[1:])
            why = "edit-made-first-file" if one.named else "edit-made-first-at"
            first = init_before_call(context, parameter, finding, why, by=by, places=_format_places(places))
            item = first or by_hand
            alone = kind is OriginKind.ARGUMENT or len(files) == len(there)
            return [item] if alone and not one.named else [finding, item]
    return [finding]


def _find_void_keywords(context: Context, settings: VoidSettings, use: AnyUse) -> Iterator[tuple[Tree, Node]]:
    """The arguments of the call that say the same as the setting."""
    if isinstance(use, Use):
        for keyword in use.call.keywords:
            if keyword.arg in settings.keywords and not _is_none(context, use, keyword.value):
                yield use.module, keyword


def _find_void_flags(context: Context, settings: VoidSettings, use: AnyUse) -> Iterator[tuple[Tree, Node]]:
    """The commands with a launcher option that does, of those that start the program."""
    project = context.tracer.resolver.project
    for script in project.scripts(*settings.flags) if settings.flags else ():
        for launch in script.launches:
            words = script.source.text[launch.start : launch.end].split()
            if not set(words).isdisjoint(settings.flags) and use.module.name in project.started(launch.program):
                yield script, launch


def _describe_place(module: Tree, node: Node, settings: VoidSettings) -> tuple[Tree, Node, str, OriginKind]:
    """A place that says so, what it says, and what kind of place it is."""
    if isinstance(node, ast.keyword):
        return module, node.value, f"{node.arg}=", OriginKind.ARGUMENT
    if isinstance(node, Launch):
        return module, node, settings.flags[0], OriginKind.COMMAND_LINE
    value = node.value if isinstance(node, Entry) else ""
    return module, node, f"{settings.key}: {value}", OriginKind.CONFIG_KEY


def _format_place(module: Tree, node: Node) -> str:
    return f"{module.name}:{module.source.position(place_of(module, node).start)[0]}"


def _name_versions(finding: Finding, settings: VoidSettings) -> Finding:
    """The same, whose reason says for which versions the edit does nothing under the setting."""
    args, said = (
        dict(finding.reason.args),
        {"versions": format_versions(settings.when), "setting": f"{settings.key}: {settings.values[0]}"},
    )
    if "why" not in args:
        return finding
    told = {
        "why": text("why-void-versions", why=args["why"], **said),
        "why_zh": text("why-void-versions", "zh", why=args.get("why_zh") or args["why"], **said),
    }
    return replace(finding, reason=replace(finding.reason, args=tuple({**args, **told}.items())))


def _make_item(
    finding: Finding, module: Tree, node: Node, kind: OriginKind, key: str, arguments: dict[str, str], places: Sequence[str] = ()
) -> Finding:
    """An item for review at the first place; the reason names the further ones."""
    assert finding.rule is not None
    if places:
        key, arguments = f"{key}-also", {**arguments, "places": _format_places(places)}
    return replace(finding.review(finding.rule, Reason.of(key, **arguments)), at=(Value(module, node, kind),))


def _format_places(places: Sequence[str]) -> str:
    """The first of some places, each once."""
    places = list(dict.fromkeys(places))
    return ", ".join((*places[:LISTED], *(["..."] if len(places) > LISTED else ())))


def _find_setting_entries(context: Context, settings: VoidSettings) -> Iterator[tuple[Document, Entry]]:
    """Where the project's configuration files give the setting."""
    for document in context.tracer.resolver.project.documents(settings.key.rpartition(".")[2]):
        for entry in document.entries:
            if ".".join(entry.path) == settings.key:
                yield document, entry


def _find_common_option(context: Context, name: str, flags: tuple[str, ...]) -> str | None:
    """The one of some options that every command gives which starts a program."""
    project = context.tracer.resolver.project
    scripts = project.scripts("") if flags and project.scripts(*flags) else []
    starts = [(script, launch) for script in scripts for launch in script.launches if name in project.started(launch.program)]
    return next(
        (flag for flag in flags if starts and all(_find_option(script, launch, (flag,)) for script, launch in starts)), None
    )


def _find_option(script: Script, launch: Launch, flags: tuple[str, ...]) -> Option | None:
    """The one of some options that a command gives."""
    names = {flag.lstrip("-") for flag in flags}
    for option in script.options:
        if option.name in names and option.program == launch.program and launch.start <= option.used <= launch.end:
            return option
    return None


def _may_be_none(context: Context, use: Use, value: ast.expr) -> bool:
    """Whether an argument is omitted by some who start the program: an option without a value."""
    return any(
        isinstance(source.value, Known) and not source.value.value for source in context.tracer.evaluate(use.module, value)
    )


def _is_none(context: Context, use: Use, value: ast.expr) -> bool:
    known = context.facts.fold(use.module, value)
    return isinstance(known, Known) and not known.value
