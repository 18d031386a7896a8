"""Looks for broken promises in many programs and makes each as small as it gets.

``python -m tests.soundness.hunt [PROGRAMS [FILE]]`` from the top of the repository: every shape, every pair of shapes with the plainest
others (0 programs), then so many random ones. A kind of fault is a promise and the shapes without which it holds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from tests.soundness.callees import CALLEES
from tests.soundness.layers import DEEPEST, LAYERS
from tests.soundness.noise import NOISE
from tests.soundness.programs import FUNCTIONS, VALUES, Recipe, Site, build, single_shapes
from tests.soundness.promises import Trial
from tests.soundness.sources import SOURCES

PLAIN = Site()


def shapes(recipe: Recipe) -> tuple[str, ...]:
    """What is not plain about a program."""
    named = []
    for site in recipe.sites:
        named += [f"{key} {value}" for key, value in vars(site).items() if key != "layers" and value != getattr(PLAIN, key)]
        named += [f"layer {name}" for name in site.layers]
    return (
        *named,
        *(f"noise {name}" for name in recipe.noise),
        *(["main"] if recipe.in_main else []),
        *["site"] * (len(recipe.sites) - 1),
    )


def simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Programs with a shape less."""
    for index, site in enumerate(recipe.sites):
        rest = (recipe.sites[:index], recipe.sites[index + 1 :])
        if len(recipe.sites) > 1:
            yield replace(recipe, sites=rest[0] + rest[1])
        sites = [replace(site, layers=site.layers[:at] + site.layers[at + 1 :]) for at in range(len(site.layers))]
        sites += [replace(site, **{key: getattr(PLAIN, key)}) for key in vars(site) if getattr(site, key) != getattr(PLAIN, key)]
        yield from (replace(recipe, sites=(*rest[0], one, *rest[1])) for one in sites if one.possible)
    if recipe.noise:
        yield replace(recipe, noise=())
    if recipe.in_main:
        yield replace(recipe, in_main=False)


def broken(recipe: Recipe) -> set[str]:
    return {fault.promise for fault in Trial(build(recipe)).faults}


def smallest(recipe: Recipe, promise: str) -> Recipe:
    for one in simpler(recipe):
        if promise in broken(one):
            return smallest(one, promise)
    return recipe


def pairs() -> Iterator[Recipe]:
    """Two shapes that are not plain, in each way that they go together."""
    for one, two in combinations(single_shapes(), 2):
        first, second = one.sites[0], two.sites[0]
        changed = {
            key: second.__dict__[key] if first.__dict__[key] == plain else first.__dict__[key]
            for key, plain in vars(PLAIN).items()
            if key != "layers"
        }
        site = Site(**changed, layers=first.layers + second.layers)
        if site.possible:
            yield Recipe((site,), one.noise + two.noise)


def at_random(count: int, dice: random.Random) -> Iterator[Recipe]:
    for _ in range(count):
        sites: list[Site] = []
        while len(sites) < dice.choice((1, 1, 1, 2)):
            function = dice.choice(("init_process_group",) * 3 + ("new_group",))
            layers = tuple(dice.choices([*LAYERS], k=dice.randint(0, DEEPEST)))
            given, callee = dice.choice([*FUNCTIONS[function]]), dice.choice([*CALLEES])
            site = Site(dice.choice(VALUES), dice.choice([*SOURCES]), layers, given, callee, function)
            sites += [site] if site.possible else []
        yield Recipe(tuple(sites), tuple(dice.sample([*NOISE], dice.choice((0, 0, 1)))), dice.random() < 0.3)


def hunt(recipes: Iterator[Recipe], found: dict[tuple[str, tuple[str, ...]], Recipe]) -> int:
    """Add kinds that are not found yet."""
    tried = 0
    for recipe in recipes:
        tried += 1
        for promise in broken(recipe):
            here = set(shapes(recipe))
            if any(known == promise and here >= set(named) for known, named in found):
                continue
            least = smallest(recipe, promise)
            found.setdefault((promise, shapes(least)), least)
    return tried


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    found: dict[tuple[str, tuple[str, ...]], Recipe] = {}
    tried = hunt(iter(single_shapes()), found) + hunt(pairs(), found) + hunt(at_random(count, random.Random(1)), found)
    text = f"{tried} programs, {len(found)} kinds of faults\n"
    for (promise, named), recipe in sorted(found.items(), key=lambda item: (item[0][0], len(item[0][1]), item[0][1])):
        text += f"\n## {promise}: {', '.join(named) or 'plain'}\n{recipe}\n{Trial(build(recipe))}\n"
    Path(sys.argv[2]).write_text(text, "utf-8") if len(sys.argv) > 2 else print(text)


if __name__ == "__main__":
    main()
