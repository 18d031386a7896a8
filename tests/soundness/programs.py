"""Small programs of several files that ask torch for process groups, each put together from named shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.soundness.arguments import GROUP, SUBGROUP, Given
from tests.soundness.callees import CALLEES, KEYWORDS_ONLY, ONE_VALUE
from tests.soundness.code import Code, Use, indented, module
from tests.soundness.layers import DEEPEST, LAYERS, Layer
from tests.soundness.noise import NOISE
from tests.soundness.sources import SOURCES

VALUES = ('"nccl"', '"gloo"', '"mpi"', '"cpu:gloo,cuda:nccl"', "None")
FUNCTIONS = {"init_process_group": GROUP, "new_group": SUBGROUP}


def through(layer: Layer, n: int, use: Use) -> Use:
    return lambda expression: layer(n, expression, use)


@dataclass(frozen=True)
class Site:
    """One group: the names of the shapes of which its code is made."""

    value: str = VALUES[0]
    source: str = "literal"
    layers: tuple[str, ...] = ()
    given: str = "keyword"
    callee: str = "direct"
    function: str = "init_process_group"

    @property
    def possible(self) -> bool:
        """Whether Python takes these together."""
        given = FUNCTIONS[self.function].get(self.given)
        if given is None:
            return False
        if self.callee in ONE_VALUE:
            return self.given == "position" and self.function == "init_process_group"
        return self.callee not in KEYWORDS_ONLY or given.by_name

    def code(self, n: int) -> Code:
        """Statements that make the group, whose names end in numbers of its own."""
        given: Given = FUNCTIONS[self.function][self.given]
        expression, start = SOURCES[self.source](n, self.value)

        def call(value: str) -> Code:
            return CALLEES[self.callee].code(n, self.function, value, lambda x: given.text.format(v=x))

        use: Use = given.before(n, call)
        for depth, name in reversed([*enumerate(self.layers)]):
            use = through(LAYERS[name], n * 10 + depth, use)
        return start.then(use(expression))


@dataclass(frozen=True)
class Recipe:
    """A program by the names of its shapes."""

    sites: tuple[Site, ...] = (Site(),)
    noise: tuple[str, ...] = ()
    in_main: bool = False  # the statements stand in a function "main"


@dataclass(frozen=True)
class Program:
    """Files, of which main.py is run, and what a person could type."""

    files: Mapping[str, str]
    argv: tuple[str, ...]
    environ: Mapping[str, str]

    def __str__(self) -> str:
        return "\n".join(f"-- {name} --\n{text}" for name, text in sorted(self.files.items()))


def build(recipe: Recipe) -> Program:
    code = Code()
    for number, site in enumerate(recipe.sites, 1):
        code = code.then(site.code(number))
    body = code.body
    if recipe.in_main:
        body = ("def main():", *indented(body), 'if __name__ == "__main__":', "    main()")
    noise = [line for name in recipe.noise for line in NOISE[name]]
    main = module("\n".join((*noise, *code.top, *body)))
    return Program({**code.files, "main.py": main}, code.argv, code.environ)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    function = draw(st.sampled_from([*FUNCTIONS]))
    site = Site(
        value=draw(st.sampled_from(VALUES)),
        source=draw(st.sampled_from([*SOURCES])),
        layers=tuple(draw(st.lists(st.sampled_from([*LAYERS]), max_size=DEEPEST))),
        given=draw(st.sampled_from([*FUNCTIONS[function]])),
        callee=draw(st.sampled_from([*CALLEES])),
        function=function,
    )
    return site if site.possible else replace(site, given="keyword", callee="direct")


def recipes() -> st.SearchStrategy[Recipe]:
    """Recipes of one group, seldom two; simpler shapes stand earlier in their tables."""
    noise = st.lists(st.sampled_from([*NOISE]), max_size=1).map(tuple)
    return st.builds(Recipe, st.lists(sites(), min_size=1, max_size=2).map(tuple), noise, st.booleans())


def single_shapes() -> list[Recipe]:
    """Each shape once, with the plainest others."""
    made = [Site(value=value) for value in VALUES]
    made += [Site(source=name) for name in SOURCES]
    made += [Site(layers=(name,)) for name in LAYERS]
    made += [Site(given=name, function=function) for function, table in FUNCTIONS.items() for name in table]
    made += [Site(callee=name, given="position" if name in ONE_VALUE else "keyword") for name in CALLEES]
    return [Recipe((site,)) for site in made] + [Recipe(noise=(name,)) for name in NOISE]
