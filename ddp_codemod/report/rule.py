"""The report of ``rules show``: what an entry of the rule data says, with its examples as diffs."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff

from ddp_codemod.catalog.advisory import Advice, AdviceExample
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Example, Platform, Surface
from ddp_codemod.messages import in_language, text
from ddp_codemod.report.ink import Ink
from ddp_codemod.report.table import wrap_text

WIDTH = 100


def describe_rule(ident: str, rules: Rules, lang: str, ink: Ink) -> list[str]:
    """Everything that is called ``ident``; nothing for an unknown id."""
    block: list[str] = []
    if (fix := rules.fixes.get(ident)) is not None:
        block += _describe_fix(fix, rules, lang, ink)
    if (platform := rules.platforms.get(ident)) is not None:
        block += _describe_platform(platform, lang, ink)
    if (surface := rules.surfaces.get(ident)) is not None:
        block += _describe_surface(surface, lang, ink)
    if (advice := rules.advice.get(ident)) is not None:
        block += _describe_advice(advice, rules, lang, ink)
    return block


def _describe_advice(advice: Advice, rules: Rules, lang: str, ink: Ink) -> list[str]:
    block = [*_format_title(advice, lang, ink), *_wrap_paragraphs(in_language(advice, "text", lang)), ""]
    if advice.on:
        block.append(text("advice-platforms", lang, platforms=", ".join(rules.fitting(advice.on))))
    block += [text("advice-when", lang, package=package, versions=versions) for package, versions in advice.when.items()]
    if advice.backend:
        block.append(text("advice-backend", lang, backends=", ".join(advice.backend)))
    rewrite = advice.rewrite or (advice.own.rewrite if advice.own is not None else None)
    if rewrite is None:
        block.append(text("advice-changes-nothing", lang))
    else:
        block.append(text("rule-applicability", lang, applicability=text(f"applicability-{rewrite.applicability}", lang)))
    return block + _format_sources(advice.source, lang) + _format_examples(advice.examples, lang, ink)


def _describe_fix(fix: Fix, rules: Rules, lang: str, ink: Ink) -> list[str]:
    bringing = [platform.id for platform in rules.platforms.values() if fix.id in platform.rules]
    block = [*_format_title(fix, lang, ink), *_wrap_paragraphs(in_language(fix, "text", lang).strip()), ""]
    if bringing:
        block.append(text("rule-platforms", lang, platforms=", ".join(bringing)))
    if fix.platform:
        block.append(text("rule-platform-assumed", lang, platform=fix.platform))
    block.append(text("rule-applicability", lang, applicability=text(f"applicability-{fix.applicability}", lang)))
    return block + _format_sources(fix.source, lang) + _format_examples(fix.examples, lang, ink)


def _describe_platform(platform: Platform, lang: str, ink: Ink) -> list[str]:
    backend = platform.backend
    return [
        *_format_title(platform, lang, ink),
        *_wrap_paragraphs(in_language(platform, "why", lang)),
        "",
        text("rule-backend", lang, wanted=backend.wanted, works=", ".join(backend.works)),
        text("rule-brings", lang, rules=", ".join(platform.rules)),
        *_format_sources(platform.source, lang),
        *_format_examples(platform.examples, lang, ink),
    ]


def _describe_surface(surface: Surface, lang: str, ink: Ink) -> list[str]:
    note = in_language(surface, "note", lang)
    return [
        ink(surface.id, "bold"),
        *([*_wrap_paragraphs(note), ""] if note else []),
        text("rule-names", lang, names=", ".join(surface.called)),
        text("rule-parameters", lang, parameters=", ".join(parameter.name for parameter in surface.parameters)),
        *_format_sources(surface.source, lang),
        *_format_examples(surface.examples, lang, ink),
    ]


def _format_title(entry: Fix | Platform | Advice, lang: str, ink: Ink) -> list[str]:
    return [f"{ink(entry.id, 'bold')}: {in_language(entry, 'title', lang)}", ""]


def _wrap_paragraphs(paragraphs: str) -> list[str]:
    return [line for paragraph in paragraphs.splitlines() for line in wrap_text(paragraph, WIDTH)]


def _format_sources(sources: Iterable[str], lang: str) -> list[str]:
    return [text("rule-source", lang, source=source) for source in sources]


def _format_examples(examples: Iterable[Example | AdviceExample], lang: str, ink: Ink) -> list[str]:
    block: list[str] = []
    for example in examples:
        key = "rule-example-on" if example.platform else "rule-example"
        title = text(key, lang, title=example.title, platform=example.platform)
        stays = "" if example.after else f" ({text('rule-stays', lang)})"
        block += ["", ink(title + stays, "bold")]
        block += ["  " + line for line in _format_diff(example, ink)]
    return block


def _format_diff(example: Example | AdviceExample, ink: Ink) -> list[str]:
    before = example.before.splitlines()
    if example.after is None:
        return [" " + line for line in before]
    lines = list(unified_diff(before, example.after.splitlines(), lineterm="", n=len(before)))[3:]
    return [ink.diff(line) for line in lines]
