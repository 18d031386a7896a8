"""Ways to hand a value to the call that makes a group: what is built before the call, and what stands in its parentheses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.soundness.code import Code, Use


@dataclass(frozen=True)
class Given:
    """``text`` is what stands between the parentheses, where ``{v}`` is what ``built`` gives for a value."""

    text: str
    built: tuple[str, ...] = ()
    value: str = "{e}"
    top: tuple[str, ...] = ()

    @property
    def by_name(self) -> bool:
        """Whether no argument is given by its position."""
        return not self.text or self.text.startswith(("**", "backend", "rank"))

    def before(self, n: int, use: Use) -> Use:
        """Build what is given, then use it."""

        def built(e: str) -> Code:
            code = use(self.value.format(n=n, e=e)).under(*(line.format(n=n, e=e) for line in self.top))
            return code.after(*(line.format(n=n, e=e) for line in self.built))

        return built


def table(*built: str, text: str = "**{v}", top: tuple[str, ...] = ()) -> Given:
    return Given(text, built, "options_{n}", top)


GPU = "torch.cuda.is_available()"

GROUP: dict[str, Given] = {
    "keyword": Given("backend={v}"),
    "position": Given("{v}"),
    "keyword among others": Given('rank=0, backend={v}, init_method="env://"'),
    "position among others": Given('{v}, "env://", world_size=1, rank=0'),
    "all positions": Given('{v}, "env://", None, 1, 0'),
    "left out": Given("rank=0, world_size=1"),
    "nothing": Given(""),
    "none": Given("backend=None, rank=0"),
    "left out, url given": Given('None, "env://"'),
    "star": Given("*[{v}]"),
    "star tuple": Given("*{v}", ("given_{n} = ({e}, 'env://')",), "given_{n}"),
    "table": table('options_{n} = {{"backend": {e}, "rank": 0}}'),
    "table and more": table('options_{n} = {{"backend": {e}}}', text="rank=0, **{v}"),
    "table in place": Given('**{{"backend": {v}}}'),
    "table without it": table('options_{n} = {{"rank": 0}}', text="**{v}"),
    "table beside it": table('options_{n} = {{"backend": {e}}}', text='backend={v}["backend"]'),
    "dict call": table("options_{n} = dict(backend={e}, rank=0)"),
    "dict call of pairs": table('options_{n} = dict([("backend", {e})])'),
    "dict call with a base": table('base_{n} = {{"backend": {e}}}', "options_{n} = dict(base_{n}, rank=0)"),
    "dict call that overrides": table('base_{n} = {{"backend": "gloo"}}', "options_{n} = dict(base_{n}, backend={e})"),
    "unpacked base": table('base_{n} = {{"backend": {e}}}', 'options_{n} = {{**base_{n}, "rank": 0}}'),
    "only a base": table('base_{n} = {{"backend": {e}}}', "options_{n} = {{**base_{n}}}"),
    "base without it": table('base_{n} = {{"rank": 0}}', "options_{n} = {{**base_{n}}}"),
    "unpacked base, overridden": table('base_{n} = {{"backend": "gloo"}}', 'options_{n} = {{**base_{n}, "backend": {e}}}'),
    "base that overrides": table('base_{n} = {{"backend": {e}}}', 'options_{n} = {{"backend": "gloo", **base_{n}}}'),
    "base at the top": table(
        "options_{n} = {{**BASE_{n}, 'backend': {e}}}", top=('BASE_{n} = {{"backend": "gloo", "rank": 0}}',)
    ),
    "copy of a base": table('base_{n} = {{"backend": {e}}}', "options_{n} = base_{n}.copy()", 'options_{n}["rank"] = 0'),
    "deep copy": table('options_{n} = copy.deepcopy({{"backend": {e}}})'),
    "update with a keyword": table("options_{n} = {{'rank': 0}}", "options_{n}.update(backend={e})"),
    "update with a table": table("options_{n} = {{'rank': 0}}", 'options_{n}.update({{"backend": {e}}})'),
    "update that overrides": table('options_{n} = {{"backend": "gloo"}}', 'options_{n}.update({{"backend": {e}}})'),
    "setdefault": table("options_{n} = {{'rank': 0}}", 'options_{n}.setdefault("backend", {e})'),
    "setdefault that comes late": table('options_{n} = {{"backend": {e}}}', 'options_{n}.setdefault("backend", "gloo")'),
    "item": table("options_{n} = {{}}", 'options_{n}["backend"] = {e}'),
    "item that overrides": table('options_{n} = {{"backend": "gloo"}}', 'options_{n}["backend"] = {e}'),
    "item in a branch": table('options_{n} = {{"backend": "gloo"}}', f"if {GPU}:", '    options_{n}["backend"] = {e}'),
    "item in an open branch": table(
        'options_{n} = {{"rank": 0}}', 'if not os.environ.get("NOT_SET"):', '    options_{n}["backend"] = {e}'
    ),
    "joined": table('options_{n} = {{"rank": 0}} | {{"backend": {e}}}'),
    "joined in place": table('options_{n} = {{"rank": 0}}', 'options_{n} |= {{"backend": {e}}}'),
    "joined, overridden": table('options_{n} = {{"backend": "gloo"}} | {{"backend": {e}}}'),
    "comprehension": table('options_{n} = {{key: value for key, value in [("backend", {e})]}}'),
    "without nones": table(
        'given_{n} = {{"backend": {e}, "rank": None}}',
        "options_{n} = {{key: value for key, value in given_{n}.items() if value is not None}}",
    ),
    "from keys": table('options_{n} = dict.fromkeys(["backend"], {e})'),
    "zipped": table('options_{n} = dict(zip(["backend", "rank"], [{e}, 0]))'),
    "taken out": table('options_{n} = {{"backend": {e}, "rank": 0}}', 'options_{n}.pop("backend")'),
    "deleted": table('options_{n} = {{"backend": {e}, "rank": 0}}', 'del options_{n}["backend"]'),
    "taken out of": table('options_{n} = {{"backend": {e}, "rank": 0}}', text='backend={v}.pop("backend")'),
    "loop over pairs": table(
        "options_{n} = {{}}", 'for key_{n}, value_{n} in [("backend", {e})]:', "    options_{n}[key_{n}] = value_{n}"
    ),
    "ordered": table("options_{n} = collections.OrderedDict(backend={e})"),
    "made by a function": table(
        "options_{n} = made_{n}({e})", top=("def made_{n}(name):", '    return {{"backend": name, "rank": 0}}')
    ),
    "filled by a function": table(
        "options_{n} = {{}}", "fill_{n}(options_{n}, {e})", top=("def fill_{n}(table, name):", '    table["backend"] = name')
    ),
    "outside table": table("options_{n} = hub.call(dict, backend={e})"),
    "as a dict": table(
        "options_{n} = dataclasses.asdict(Options{n}(backend={e}))",
        top=("@dataclasses.dataclass", "class Options{n}:", '    backend: str = "gloo"', "    rank: int = 0"),
    ),
    "as a dict, defaults": table(
        "options_{n} = dataclasses.asdict(Options{n}())",
        top=("@dataclasses.dataclass", "class Options{n}:", '    backend: str = "nccl"', "    rank: int = 0"),
    ),
    "vars": table("options_{n} = vars(types.SimpleNamespace(backend={e}))"),
    "ternary of tables": table(f'options_{{n}} = {{{{"backend": {{e}}}}}} if {GPU} else {{{{"backend": "gloo"}}}}'),
    "or of tables": table("given_{n} = {{}}", 'options_{n} = given_{n} or {{"backend": {e}}}'),
    "two tables": Given('**{{"rank": 0}}, **{v}', ('options_{n} = {{"backend": {e}}}',), "options_{n}"),
    "ternary of arguments": Given(f"**({{{{'backend': {{v}}}}}} if {GPU} else {{{{}}}})"),
}

# for new_group, whose backend is its third parameter and which takes no rank
SUBGROUP: dict[str, Given] = {
    name: given
    for name, given in GROUP.items()
    if not given.text.startswith(("{v}", "*[", "*{v}")) and not re.search("rank|env://", repr(given))
} | {"position": Given("[0], None, {v}"), "star": Given("*[[0], None, {v}]"), "left out": Given("[0]")}
