"""What conditions come to on a platform, as far as the advice that holds there changes it."""

from __future__ import annotations

from collections.abc import Iterable

from ddp_codemod.catalog.advisory import Advice, Pattern
from ddp_codemod.catalog.backends import assess
from ddp_codemod.catalog.load import Rules
from ddp_codemod.catalog.model import Platform
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.gates import Gates
from ddp_codemod.dataflow.opened_gates import NOTHING_OPENED, EditedConditions, OpenedGates
from ddp_codemod.dataflow.tested_counts import Counts
from ddp_codemod.sites.resolver import Resolver


def facts_on(resolver: Resolver, rules: Rules, platform: Platform) -> Facts:
    """The facts of a platform, without those that an edit for it changes."""
    names, choice = rules.backends, platform.backend
    changing = {name for name in names if assess(name, choice, names).wanted is not None}
    present = {name: fact for idioms in rules.idioms for name, fact in idioms.present.items()}
    advice = [one for one in rules.advice.values() if one.fits(platform)]
    patterns = [one.pattern for one in advice if one.pattern is not None]
    demanded, gates, counts = _demands_of(patterns), _gates_of(rules, patterns), _counts_of(advice)
    edited = EditedConditions(demanded, gates, counts, _find_opened(patterns, gates, counts))
    return Facts(resolver, platform.facts, changing, names, present, edited=edited)


def _demands_of(patterns: Iterable[Pattern]) -> frozenset[str]:
    """The functions that code demands a device by."""
    return frozenset(name for one in patterns if one.use == "required" for name in one.names)


def _gates_of(rules: Rules, patterns: Iterable[Pattern]) -> Gates:
    """The questions of the patterns that are about gates."""
    makers = {name for surface in rules.surfaces.values() if surface.default_group for name in surface.names}
    return Gates(
        frozenset(name for one in patterns if one.use == "gate" for name in one.names),
        frozenset(makers.union(*(idioms.group_needed for idioms in rules.idioms))),
        frozenset(name for idioms in rules.idioms for name in idioms.group_asked),
        frozenset(makers),
    )


def _counts_of(advice: Iterable[Advice]) -> Counts:
    """The calls that count devices, of the advice that takes the launcher's number of processes where there are none."""
    found = [
        one.pattern
        for one in advice
        if one.pattern is not None and one.rewrite is not None and one.rewrite.recipe == "launched-count"
    ]
    return Counts(
        frozenset(name for one in found for name in one.names),
        frozenset(name for one in found for name in one.holders),
        frozenset(name for one in found for name in one.takers),
        frozenset(one.tested for one in found),
    )


def _find_opened(patterns: Iterable[Pattern], gates: Gates, counts: Counts) -> OpenedGates:
    """The checks for a device that are opened where a model is wrapped or processes are counted behind them."""
    wrapping = [one for one in patterns if one.use == "apart"]
    counting = [one for one in patterns if one.use == "uncounted"]
    if not wrapping or not counting:
        return NOTHING_OPENED
    return OpenedGates(
        frozenset(one.makers[0] for one in wrapping),
        frozenset(name for one in wrapping for name in one.names),
        gates,
        counts,
        frozenset(name for one in counting for name in one.names),
        frozenset(name for one in counting for name in one.without),
    )
