"""Ways to the function that makes a group. ``F`` stands for its name, ``A(x)`` for the arguments made of the expression x."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.soundness.code import Code


@dataclass(frozen=True)
class Way:
    """The statements where the group is made, what stands at the top of that file, and a file beside it."""

    body: tuple[str, ...]
    top: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def code(self, n: int, function: str, e: str, arguments: Callable[[str], str]) -> Code:
        def filled(line: str) -> str:
            line = line.replace("F", function).replace("#", str(n)).replace("VALUE", e)
            return re.sub(r"A\((.*?)\)A", lambda found: arguments(found[1]), line)

        code = Code(tuple(map(filled, self.body)), tuple(map(filled, self.top)))
        return code.beside(**{f"comm_{n}": "\n".join(map(filled, self.beside))}) if self.beside else code


def way(*body: str, top: tuple[str, ...] = (), beside: tuple[str, ...] = ()) -> Way:
    return Way(body, top, beside)


GPU = "torch.cuda.is_available()"
HERE = "A(VALUE)A"  # the arguments, of the value as it comes
SKIP = ("def skip_#(*args, **kwargs):", "    pass")
INNER = ("    def inner(*args, **kwargs):", "        return function(*args, **kwargs)", "    return inner")

CALLEES: dict[str, Way] = {
    "direct": way(f"dist.F({HERE})"),
    "full name": way(f"torch.distributed.F({HERE})"),
    "imported": way(f"F({HERE})", top=("from torch.distributed import F",)),
    "imported by another name": way(f"start_#({HERE})", top=("from torch.distributed import F as start_#",)),
    "module by another name": way(f"comm_#.F({HERE})", top=("from torch import distributed as comm_#",)),
    "star": way(f"F({HERE})", top=("from torch.distributed import *",)),
    "guarded import": way(
        f"start_#({HERE})",
        top=("try:", "    from torch.distributed import F as start_#", "except ImportError:", "    start_# = None"),
    ),
    "module variable": way(f"comm_#.F({HERE})", top=("comm_# = torch.distributed",)),
    "import_module": way(f"comm_#.F({HERE})", top=('comm_# = importlib.import_module("torch.distributed")',)),
    "alias": way(f"start_#({HERE})", top=("start_# = dist.F",)),
    "alias in place": way("start_# = dist.F", f"start_#({HERE})"),
    "alias of an alias": way("begin_# = start_#", f"begin_#({HERE})", top=("start_# = dist.F",)),
    "walrus": way(f"(start_# := dist.F)({HERE})"),
    "ternary": way(f"(dist.F if {GPU} else skip_#)({HERE})", top=SKIP),
    "ternary variable": way(f"start_# = dist.F if {GPU} else skip_#", f"start_#({HERE})", top=SKIP),
    "branch": way(f"if {GPU}:", "    start_# = dist.F", "else:", "    start_# = skip_#", f"start_#({HERE})", top=SKIP),
    "or": way(f"(None or dist.F)({HERE})"),
    "or variable": way("start_# = HOOK_# or dist.F", f"start_#({HERE})", top=("HOOK_# = None",)),
    "and": way(f"({GPU} and dist.F)({HERE})"),
    "parameter": way("launch_#(dist.F, VALUE)", top=("def launch_#(start, value):", "    start(A(value)A)")),
    "keyword parameter": way(
        "launch_#(value=VALUE, start=dist.F)", top=("def launch_#(*, start, value):", "    start(A(value)A)")
    ),
    "parameter default": way("launch_#(VALUE)", top=("def launch_#(value, start=dist.F):", "    start(A(value)A)")),
    "parameter filled in": way(
        "launch_#(VALUE)", top=("def launch_#(value, start=None):", "    start = start or dist.F", "    start(A(value)A)")
    ),
    "module as a parameter": way("launch_#(dist, VALUE)", top=("def launch_#(comm, value):", "    comm.F(A(value)A)")),
    "unpacked": way("start_#, stop_# = dist.F, dist.destroy_process_group", f"start_#({HERE})"),
    "list": way(f"starters_#[0]({HERE})", top=("starters_# = [dist.F]",)),
    "loop": way("for start_# in (dist.F,):", f"    start_#({HERE})"),
    "loop over several": way("for start_# in [skip_#, dist.F]:", f"    start_#({HERE})", top=SKIP),
    "loop over pairs": way('for name_#, start_# in {"dist": dist.F}.items():', f"    start_#({HERE})"),
    "table": way(f'STARTERS_#["dist"]({HERE})', top=('STARTERS_# = {"dist": dist.F, "none": print}',)),
    "table by get": way(f'STARTERS_#.get("dist")({HERE})', top=('STARTERS_# = {"dist": dist.F}',)),
    "table filled later": way(f'STARTERS_#["dist"]({HERE})', top=("STARTERS_# = {}", 'STARTERS_#["dist"] = dist.F')),
    "returned": way(f"starter_#()({HERE})", top=("def starter_#():", "    return dist.F")),
    "returned by a method": way(
        f"Trainer#().starter()({HERE})", top=("class Trainer#:", "    def starter(self):", "        return dist.F")
    ),
    "self": way(
        "Trainer#().run(VALUE)",
        top=(
            "class Trainer#:",
            "    def __init__(self):",
            "        self.start = dist.F",
            "    def run(self, value):",
            "        self.start(A(value)A)",
        ),
    ),
    "class attribute": way(f"Trainer#.start({HERE})", top=("class Trainer#:", "    start = dist.F")),
    "static method": way(f"Trainer#().start({HERE})", top=("class Trainer#:", "    start = staticmethod(dist.F)")),
    "attribute of an object": way(f"tools_#.start({HERE})", top=("tools_# = types.SimpleNamespace(start=dist.F)",)),
    "set on an object": way(
        f"Trainer#.start({HERE})", top=("class Trainer#:", "    start = None", "setattr(Trainer#, 'start', dist.F)")
    ),
    "dataclass field": way(
        f"Trainer#().start({HERE})",
        top=(
            "@dataclasses.dataclass",
            "class Trainer#:",
            "    start: object = dataclasses.field(default_factory=lambda: dist.F)",
        ),
    ),
    "own wrapper": way(f"start_#({HERE})", top=("def start_#(*args, **kwargs):", "    return dist.F(*args, **kwargs)")),
    "lambda": way(f"start_#({HERE})", top=("start_# = lambda *args, **kwargs: dist.F(*args, **kwargs)",)),
    "own decorator called": way(f"logged_#(dist.F)({HERE})", top=("def logged_#(function):", *INNER)),
    "own decorator kept": way("start_# = logged_#(dist.F)", f"start_#({HERE})", top=("def logged_#(function):", *INNER)),
    "outside decorator called": way(f"hub.traced(dist.F)({HERE})"),
    "outside caller": way(f"hub.call(dist.F, {HERE})"),
    "own caller": way(
        f"call_#(dist.F, {HERE})", top=("def call_#(function, *args, **kwargs):", "    return function(*args, **kwargs)")
    ),
    "partial": way(f"functools.partial(dist.F, {HERE})()"),
    "partial kept": way("start_# = functools.partial(dist.F)", f"start_#({HERE})"),
    "partial filled later": way(f'functools.partial(dist.F, **{{"timeout": None}})({HERE})'),
    "getattr": way(f'getattr(dist, "F")({HERE})'),
    "getattr variable": way(f"getattr(dist, name_#)({HERE})", top=('name_# = "F"',)),
    "vars": way(f'vars(dist)["F"]({HERE})'),
    "dunder call": way(f"dist.F.__call__({HERE})"),
    "jobs": way("for function_#, keywords_# in [(dist.F, dict(A(VALUE)A))]:", "    function_#(**keywords_#)"),
    "pool": way(f"futures.ThreadPoolExecutor(1).submit(dist.F, {HERE}).result()"),
    "map": way("list(map(dist.F, [VALUE]))"),
    "comprehension": way(f"[start_#({HERE}) for start_# in [dist.F]]"),
    "own module": way(f"comm_#.F({HERE})", top=("import comm_#",), beside=("from torch.distributed import F",)),
    "own module by a star": way(f"F({HERE})", top=("from comm_# import *",), beside=("from torch.distributed import *",)),
    "own module's alias": way(f"begin_#({HERE})", top=("from comm_# import begin_#",), beside=("begin_# = dist.F",)),
    "own module's wrapper": way(
        f"comm_#.begin({HERE})", top=("import comm_#",), beside=("def begin(**kwargs):", "    dist.F(**kwargs)")
    ),
    "closure": way(
        f"maker_#(dist.F)({HERE})",
        top=("def maker_#(start):", "    def run(*args, **kwargs):", "        start(*args, **kwargs)", "    return run"),
    ),
    "next": way(f"next(iter([dist.F]))({HERE})"),
}

# what cannot go together, for Python
KEYWORDS_ONLY = {"jobs", "own module's wrapper"}
ONE_VALUE = {"map"}
