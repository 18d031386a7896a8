"""Chooses the target platform when no option names one (design.md, "Platform without the option")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import Struct

from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform
from ddp_codemod.cli.errors import Failure, unknown_word
from ddp_codemod.cli.settings import Settings
from ddp_codemod.discover.config import Config
from ddp_codemod.machine.detect import Machine, find_unattended_variable, has_all_checks
from ddp_codemod.messages import in_language
from ddp_codemod.model import Reason

_WRITING = frozenset({"apply", "diff", "review"})


class Choice(Struct, frozen=True):
    """The platform, why it was chosen, and others that the same machine could be."""

    platform: Platform
    reason: Reason
    others: tuple[Platform, ...] = ()


def choose_platform(
    settings: Settings, config: Config, rules: Rules, machine: Machine, ported: Callable[[], Collection[str]] = tuple
) -> Choice:
    """The option; else the project's own word; else what the rules asked for assume; else the apply that is asked about; else this machine where it is surely known; else the only platform of the applies on record.

    Raises Failure for an unknown name, and with the commands to choose from where nothing says which platform it is.
    """
    if settings.platform is not None:
        asked = [ident for ident in _list_asked_platforms(settings) if ident in rules.platforms]
        if len(asked) > 1:
            style = ("--style", "portable") if settings.style == "pin" and settings.command in _WRITING else ()
            raise Failure(Reason.of("platform-one"), tuple(settings.same(ident, *style) for ident in asked))
        return Choice(known_platform(settings.platform, rules), Reason.of("platform-option"))
    if config.platform is not None:
        return Choice(known_platform(config.platform, rules, str(config.path)), Reason.of("platform-config", path=config.path))
    assumed = {ident: rules.fixes[ident].platform for ident in (*settings.rules, *config.rules)}
    wanted = sorted({platform for platform in assumed.values() if platform is not None})
    if len(wanted) > 1:
        candidates = [rules.platforms[ident] for ident in wanted if ident in rules.platforms]
        raise Failure(Reason.of("platform-rules-differ", rules=", ".join(assumed)), _format_commands(settings, candidates))
    if wanted:
        rule = next(ident for ident, platform in assumed.items() if platform == wanted[0])
        return Choice(known_platform(wanted[0], rules), Reason.of("platform-rule", rule=rule))
    if settings.applied is not None and settings.applied in rules.platforms:
        return Choice(rules.platforms[settings.applied], Reason.of("platform-applied"))
    return _find_own_platform(settings, rules, machine, ported)


def _list_asked_platforms(settings: Settings) -> list[str]:
    """The platforms that the command line names, each once."""
    words = settings.words
    told = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "--platform"]
    told += [word.partition("=")[2] for word in words if word.startswith("--platform=")]
    named = (ident.strip() for text in told or [settings.platform or ""] for ident in text.split(","))
    return [*dict.fromkeys(named)]


def known_platform(ident: str, rules: Rules, where: str = "--platform") -> Platform:
    """The platform with this id. Raises Failure that names the nearest one."""
    if ident not in rules.platforms:
        raise unknown_word("platform-unknown", ident, rules.platforms, rules.other_names, where=where)
    return rules.platforms[ident]


def _find_own_platform(settings: Settings, rules: Rules, machine: Machine, ported: Callable[[], Collection[str]]) -> Choice:
    if variable := find_unattended_variable(machine.environ):
        raise Failure(Reason.of("platform-unattended", variable=variable), _format_commands(settings, rules.platforms.values()))
    holding = (
        (one, detection)
        for one in rules.platforms.values()
        for detection in one.detection
        if has_all_checks(detection.checks, machine, detection.gpus)
    )
    found = sorted(holding, key=lambda pair: (pair[1].order, pair[0].id))
    if not found:
        known = ported()
        if len(known) == 1 and (last := next(iter(known))) in rules.platforms:
            return Choice(rules.platforms[last], Reason.of("platform-last"))
        raise Failure(Reason.of("platform-unsure"), _format_commands(settings, rules.platforms.values()))
    chosen, detection = found[0]
    rivals = {one.id: one for one, _ in found if not _may_be_same_machine(chosen, one)}
    if rivals:
        raise Failure(Reason.of("platform-several"), _format_commands(settings, [chosen, *rivals.values()]))
    reason = Reason.of("platform-machine", why=detection.reason, why_zh=detection.reason_zh)
    return Choice(chosen, reason, tuple(_find_others(chosen, rules, machine)))


def _find_others(chosen: Platform, rules: Rules, machine: Machine) -> Iterator[Platform]:
    """What else the same machine could be; a platform that is offered says itself where."""
    for other in rules.platforms.values():
        if other.offered:
            if any(has_all_checks(offer.checks, machine, offer.gpus) for offer in other.offered):
                yield other
        elif other is not chosen and _may_be_same_machine(chosen, other):
            yield other


def _may_be_same_machine(one: Platform, other: Platform) -> bool:
    """Whether neither the accelerator nor a fact tells the two apart: then one machine can be either, and a user may prefer the other."""
    if not set(one.machine.accelerators) & set(other.machine.accelerators):
        return False
    return all(one.facts[name] == other.facts[name] for name in one.facts.keys() & other.facts.keys())


def _format_commands(settings: Settings, platforms: Iterable[Platform]) -> tuple[str, ...]:
    ordered = sorted(platforms, key=lambda platform: platform.id)
    commands = [settings.same(platform.id) for platform in ordered]
    width = max(map(len, commands), default=0)
    titles = [in_language(platform, "title", settings.lang) for platform in ordered]
    return tuple(f"{command:<{width}}  {title}" for command, title in zip(commands, titles, strict=True))
